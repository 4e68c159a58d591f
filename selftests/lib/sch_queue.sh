# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Queue a qdisc's frames behind a plug and look at its statistics; GSO frames for such tests. A test sources this file
# after link_ab.
# shellcheck disable=SC2154,SC2034 # setup_ns sets a and b; for the tests

# run COUNT FRAME...: queue FRAMEs behind the plug, then release them and check that COUNT frames follow it. $full: the
# qdisc's statistics while plugged; $empty: those afterwards. The test sets $what, which begins the test name.
run() {
	local count=$1
	shift
	check_to "$TMP/result" "$what: $((count + 1)) frames leave the qdisc" \
		send_frames -s "$a/v0" -c "in=$b/v1/in/$((count + 1))" \
		-x "tc -n $a -s -j qdisc show dev v0 >$TMP/stats; $(release)" "$PLUG" "$@"
	full=$(unwrap <"$TMP/stats")
	empty=$(sch_stats)
}

# gso_frame KIND: specify a GSO frame of 8 segments with 1000 bytes of data each
gso_frame() {
	local header
	case $1 in udp4) header=42 ;; udp6) header=62 ;; tcp4) header=54 ;; tcp6) header=74 ;; esac
	echo "$1,csum=partial,gso=1000,len=$((header + 8000))"
}

# find_kinds: set `kinds` to the frame kinds for which the kernel accepts GSO frames; the qdisc must be at v0
find_kinds() {
	local kind
	kinds=(tcp4 tcp6)
	# before 6.2, packet sockets do not support UDP GSO
	for kind in udp4 udp6; do
		if send_frames -s "$a/v0" "$(gso_frame "$kind")" 2>/dev/null; then
			kinds+=("$kind")
		else
			skip "GSO frames of $kind are queued" "packet sockets of this kernel do not support them"
		fi
	done
}

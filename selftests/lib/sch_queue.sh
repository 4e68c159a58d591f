# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What a qdisc has while a plug keeps its frames waiting, and GSO frames for it.
# A test sources this after link_ab.
# shellcheck disable=SC2154,SC2034 # setup_ns sets a and b; for the tests

# run COUNT FRAME...: COUNT frames come out behind the plug; $full is the qdisc while plugged, $empty afterwards; the test
# sets $what
run() {
	local count=$1
	shift
	check_to "$TMP/result" "$what: $((count + 1)) frames come out" \
		send_frames -s "$a/v0" -c "in=$b/v1/in/$((count + 1))" \
		-x "tc -n $a -s -j qdisc show dev v0 >$TMP/stats; $(release)" "$PLUG" "$@"
	full=$(unwrap <"$TMP/stats")
	empty=$(sch_stats)
}

# super KIND: spec of a GSO frame of 8 segments, 1000 bytes of data each
super() {
	local header
	case $1 in udp4) header=42 ;; udp6) header=62 ;; tcp4) header=54 ;; tcp6) header=74 ;; esac
	echo "$1,csum=partial,gso=1000,len=$((header + 8000))"
}

# find_kinds: sets kinds to those of which the kernel takes GSO frames; the qdisc must be at v0
find_kinds() {
	local kind
	kinds=(tcp4 tcp6)
	# before 6.2 it takes no UDP GSO from a packet socket
	for kind in udp4 udp6; do
		if send_frames -s "$a/v0" "$(super "$kind")" 2>/dev/null; then
			kinds+=("$kind")
		else
			skip "GSO of $kind" "this kernel takes none from a packet socket"
		fi
	done
}

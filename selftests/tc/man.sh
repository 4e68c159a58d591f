#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The EXAMPLES of tc-ndp(8) and tc-dcqcn(8): does the qdisc take each command, and does tc print what
# the page shows, but for the numbers? The devices are veths, eth1 and eth2, with nothing but what is
# sent here, out of eth1.
# Usage: man.sh [--show]    --show: print the output for the pages instead
# shellcheck disable=SC2317,SC2154 # functions are called through check; a, b: set by setup_ns
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/page.sh"

# what is sent at once, for each page: 400 datagrams; for dcqcn AF31 and ECT(0)
declare -A OVERLOAD=([ndp]="-p 61199 -l 1400 -c 400" [dcqcn]="-p 9 -t 106 -l 1400 -c 400")

# shape TEXT: without numbers, and without space at the ends of lines
shape() { sed -E 's/[0-9]+/N/g; s/ +$//' <<<"$1"; }

# in_a COMMAND: run it as the page has it, in namespace a
in_a() { ip netns exec "$a" bash -c "$1"; }

# shellcheck disable=SC2086 # words
overload() { traffic udp -n "$a" -d 10.0.0.2 ${OVERLOAD[$SCH]}; }

# idle: has everything left?
idle() { in_a 'tc -s -j qdisc show dev eth1' | jq -e 'all(.[]; .backlog == 0)'; }

# devices: eth1 in namespace a, whose neighbour takes everything and says nothing, and eth2
devices() {
	setup_ns a b
	ip link add eth1 netns "$a" numtxqueues 4 type veth peer name v1 netns "$b" \
		address "$MAC_B" numrxqueues 4
	ip link add eth2 netns "$a" type veth peer name v2 netns "$b"
	ip -n "$b" link set v1 up
	ip -n "$a" -batch - <<-END
		addr add 10.0.0.1/24 dev eth1
		link set eth1 up
		neigh add 10.0.0.2 lladdr "$MAC_B" nud permanent dev eth1
	END
}

# test_example COMMAND WANTED
test_example() {
	local got status=0
	if [[ $1 == "tc -s qdisc"* ]]; then
		overload >"$TMP/traffic"
		wait_for 20 idle
	fi
	got=$(in_a "$1" 2>&1) || status=$?
	if [ "$show" ]; then
		printf '# %s\n%s\n' "$1" "$got"
	elif [ $status -ne 0 ]; then
		not_ok "tc takes: $1" "$got"
	else
		check_eq "as the page shows: $1" "$(shape "$got")" "$(shape "$2")"
	fi
}

# test_page: the examples of the page about $SCH
test_page() {
	local lines line dev command='' wanted=''
	mapfile -t lines < <(examples "$LIB_TOP/Documentation/man/tc-$SCH.8")
	for line in "${lines[@]}" "# end"; do
		if [[ $line != "# "* ]]; then
			wanted+=${wanted:+$'\n'}$line
			continue
		fi
		[ -z "$command" ] || test_example "$command" "$wanted"
		command=${line#\# }
		wanted=
	done
	for dev in eth1 eth2; do
		tc -n "$a" qdisc del dev $dev root 2>"$TMP/log" || true
	done
}

show=
[ "${1:-}" != --show ] || show=1
type -P traffic >/dev/null || skip_all "needs traffic of selftests/sch"
devices
need_ndp
test_page
need_dcqcn
test_page
finish

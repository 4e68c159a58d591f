#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# EXAMPLES of tc-ndp(8), tc-dcqcn(8), tc-pcrp(8), tc-roce(8), and those of closnet(8) that need a qdisc: each command succeeds and
# prints the page's output except for the numbers. The devices are the veths eth1 and eth2; all traffic is sent by eth1.
# Usage: man.sh [--show]    --show: print the output for the pages instead
# shellcheck disable=SC2317,SC2154 # functions are called through check; a, b: set by setup_ns
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/page.sh"

# burst for each page: 400 datagrams; for dcqcn with AF31 and ECT(0)
declare -A OVERLOAD=([ndp]="-p 61199 -l 1400 -c 400" [dcqcn]="-p 9 -t 106 -l 1400 -c 400"
	[pcrp]="-p 9 -l 1400 -c 400" [roce]="-p 4791 -R 2 -l 1400 -c 400")

# shape TEXT: replace numbers and their padding; join equal lines
shape() { sed -E 's/[0-9]+/N/g; s/ +/ /g; s/ $//' <<<"$1" | uniq; }

# elided OUTPUT EXPECTED: print OUTPUT; where a line of EXPECTED ends with "...", only as much of the line
elided() {
	awk 'FILENAME == "-" { line[FNR] = $0; next }
		line[FNR] ~ /\.\.\.$/ { $0 = substr($0, 1, length(line[FNR]) - 3) "..." } { print }' - <(printf '%s\n' "$1") <<<"$2"
}

# in_a COMMAND: run the page's COMMAND in namespace a
in_a() { ip netns exec "$a" bash -c "$1"; }

# shellcheck disable=SC2086 # words
overload() { traffic udp -n "$a" -d 10.0.0.2 ${OVERLOAD[$SCH]}; }

# idle: true if all qdiscs of eth1 are empty
idle() { in_a 'tc -s -j qdisc show dev eth1' | jq -e 'all(.[]; .backlog == 0)'; }

# devices: make eth1 in namespace a, whose neighbour receives everything without answering, and eth2
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

# test_example COMMAND EXPECTED
test_example() {
	local output expected status=0
	if [[ $1 == "tc -s qdisc"* ]]; then
		overload >"$TMP/traffic"
		wait_for 20 idle
	fi
	output=$(in_a "$1" 2>&1) || status=$?
	if [ "$show" ]; then
		printf '# %s\n%s\n' "$1" "$output"
	elif [ $status -ne 0 ]; then
		not_ok "example succeeds: $1" "$output"
	else
		expected=$(shape "$2")
		check_eq "example prints the page's output: $1" "$(elided "$(shape "$output")" "$expected")" "$expected"
	fi
}

# test_page PAGE: test the page's examples, each "# COMMAND" followed by its output
test_page() {
	local lines line command='' expected=''
	mapfile -t lines < <(examples "$LIB_TOP/Documentation/man/$1")
	for line in "${lines[@]}" "# end"; do
		if [[ $line != "# "* ]]; then
			expected+=${expected:+$'\n'}$line
			continue
		fi
		[ -z "$command" ] || test_example "$command" "$expected"
		command=${line#\# }
		expected=
	done
}

# test_sch KIND: test the examples of a qdisc's page
test_sch() {
	local dev
	need_sch "$1"
	test_page "tc-$1.8"
	for dev in eth1 eth2; do
		tc -n "$a" qdisc del dev $dev root 2>"$TMP/log" || true
		tc -n "$a" qdisc del dev $dev clsact 2>"$TMP/log" || true
	done
}

show=
[ "${1:-}" != --show ] || show=1
type -P traffic >/dev/null || skip_all "needs traffic of selftests/sch"
devices
test_sch ndp
test_sch dcqcn
test_sch pcrp
test_sch roce
test_page closnet.8
finish

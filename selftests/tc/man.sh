#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The EXAMPLES of tc-ndp(8): does sch_ndp take each command, and does tc print what the page
# shows, but for the numbers? The device is a veth, eth1, with nothing but what is sent here.
# Usage: man.sh [--show]    --show: print the output for the page instead
# shellcheck disable=SC2317,SC2154 # functions are called through check; a, b: set by setup_ns
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/page.sh"

page=$LIB_TOP/Documentation/man/tc-ndp.8

# shape TEXT: without numbers, and without space at the ends of lines
shape() { sed -E 's/[0-9]+/N/g; s/ +$//' <<<"$1"; }

# in_a COMMAND: run it as the page has it, in namespace a
in_a() { ip netns exec "$a" bash -c "$1"; }

# overload: 400 datagrams of 1400 bytes at once
overload() { traffic udp -n "$a" -d 10.0.0.2 -p 61199 -c 400 -l 1400; }

# idle: has everything left?
idle() { in_a 'tc -s -j qdisc show dev eth1' | jq -e 'all(.[]; .backlog == 0)'; }

# device: eth1 in namespace a, whose neighbour takes everything and says nothing
device() {
	setup_ns a b
	ip link add eth1 netns "$a" numtxqueues 4 type veth peer name v1 netns "$b" \
		address "$MAC_B" numrxqueues 4
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

show=
[ "${1:-}" != --show ] || show=1
need_ndp
type -P traffic >/dev/null || skip_all "needs traffic of selftests/sch"
device
mapfile -t lines < <(examples "$page")
command=
wanted=
for line in "${lines[@]}" "# end"; do
	if [[ $line != "# "* ]]; then
		wanted+=${wanted:+$'\n'}$line
		continue
	fi
	[ -z "$command" ] || test_example "$command" "$wanted"
	command=${line#\# }
	wanted=
done
finish

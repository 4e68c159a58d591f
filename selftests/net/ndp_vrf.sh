#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# NDP sockets in VRFs, and bound to a device. Two tenants of a host have the same addresses and ports.
#
#	+------------------ a ------------------+     +--------- b ---------+
#	| 10.0.0.1, VRF red:   sockets -> r0    |=====| 10.0.0.2: v1        |
#	|                                       |     +---------------------+
#	|                                       |     +--------- c ---------+
#	| 10.0.0.1, VRF blue:  sockets -> r1    |=====| 10.0.0.2: v1        |
#	+---------------------------------------+     +---------------------+
# shellcheck disable=SC2154 # setup_ns sets the namespaces
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/ndp.sh"
ip link add vrf9 type vrf table 9 2>/dev/null || skip_all "no VRF"
ip link del vrf9
setup_ns a b c

# tenant NAME TABLE NS PORT: VRF NAME of a, whose device PORT has a link to namespace NS; its MTU is 1500
tenant() {
	ip link add "$4" address $MAC_A netns "$a" type veth peer name v1 address $MAC_B netns "$3"
	ip -n "$a" link add "$1" type vrf table "$2"
	ip -n "$a" link set "$1" up
	ip -n "$a" link set "$4" master "$1"
	for port in "$a/$4" "$3/v1"; do
		in_ns "${port%/*}" tee "/proc/sys/net/ipv6/conf/${port#*/}/disable_ipv6" >/dev/null <<<0
		ip -n "${port%/*}" link set "${port#*/}" up
	done
	ip -n "$a" -batch - <<-END
		addr add 10.0.0.1/24 dev $4
		addr add 2001:db8::1/64 dev $4 nodad
		neigh replace 10.0.0.2 lladdr $MAC_B nud permanent dev $4
		neigh replace 2001:db8::2 lladdr $MAC_B nud permanent dev $4
	END
	ip -n "$3" -batch - <<-END
		addr add 10.0.0.2/24 dev v1
		addr add 2001:db8::2/64 dev v1 nodad
		neigh replace 10.0.0.1 lladdr $MAC_A nud permanent dev v1
		neigh replace 2001:db8::1 lladdr $MAC_A nud permanent dev v1
	END
	wait_for 5 has_carrier "$a" "$4"
	wait_for 5 has_carrier "$3" v1
}
tenant red 10 "$b" r0
tenant blue 11 "$c" r1

# l3mdev 0|1: UDP sockets that are bound to no device receive from VRFs
l3mdev() { in_ns "$a" tee /proc/sys/net/ipv4/udp_l3mdev_accept >/dev/null <<<"$1"; }

# from NS: words of senders in NS; their port and address are the same in both tenants
from() { from=(send -n "$1" -P 5000 -p 9); }
l3mdev 1
from "$b"
red=("${from[@]}" -c 5 -l 300k)
from "$c"
blue=("${from[@]}" -c 7 -l 200k)
for prefix in 10.0.0. 2001:db8::; do
	messages "$prefix: each tenant's messages reach its socket" \
		receive -n "$a" -i red -p 9 -c 5 -l 300k -q 50 -- receive -n "$a" -i blue -p 9 -c 7 -l 200k -q 50 -- \
		"${red[@]}" -d "${prefix}1" -- "${blue[@]}" -d "${prefix}1"
	messages "$prefix: sockets that are bound to devices of VRFs receive" \
		receive -n "$a" -i r0 -p 9 -c 5 -l 300k -q 50 -- receive -n "$a" -i r1 -p 9 -c 7 -l 200k -q 50 -- \
		"${red[@]}" -d "${prefix}1" -- "${blue[@]}" -d "${prefix}1"
	messages "$prefix: each tenant's messages reach its peer" \
		receive -n "$b" -p 9 -c 5 -l 300k -q 50 -- receive -n "$c" -p 9 -c 7 -l 200k -q 50 -- \
		send -n "$a" -i red -P 5000 -p 9 -d "${prefix}2" -c 5 -l 300k -- \
		send -n "$a" -i blue -P 5000 -p 9 -d "${prefix}2" -c 7 -l 200k
	messages "$prefix: without a socket of its VRF, a message fails; the other tenant's arrives" \
		receive -n "$a" -i red -p 9 -c 5 -l 300k -q 50 -- "${red[@]}" -d "${prefix}1" -- \
		"${blue[@]}" -d "${prefix}1" -e
	check_eq "$prefix: all messages without a socket fail" "$(total failed)" 7
done
messages "a socket that is bound to no device receives from both tenants" \
	receive -n "$a" -p 9 -s 2 -c 6 -l 1000 -f -- send -n "$b" -P 5001 -p 9 -d 10.0.0.1 -c 6 -l 1000 -- \
	send -n "$c" -P 5002 -p 9 -d 10.0.0.1 -c 6 -l 1000
finish

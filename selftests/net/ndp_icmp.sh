#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# ICMP errors of routers, and of hosts without NDP: messages fail at once, or at their timeout with the ICMP error. Packets
# that are too large for a link leave as IP fragments.
#
#	+------ a ------+     +------- r -------+     +------ b ------+
#	| ndp_msg    v0 |=====| v1  x0   x1:1300 |=====| y1:1300       |
#	+---------------+     +-----------------+     +---------------+
#	    10.0.0.1           .2             10.0.1.1     10.0.1.2
# shellcheck disable=SC2154,SC2016 # setup_ns sets a, b and r; programs of awk have $
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/ndp.sh"
setup_ns a r b
# link_between NS DEV NS DEV MTU: connect two namespaces by a veth pair
link_between() {
	ip link add "$2" netns "$1" mtu "$5" type veth peer name "$4" netns "$3" mtu "$5"
	ip -n "$1" link set "$2" up
	ip -n "$3" link set "$4" up
}
link_between "$a" v0 "$r" v1 1500
link_between "$r" x0 "$b" y0 1300
in_ns "$r" tee /proc/sys/net/ipv4/conf/all/forwarding /proc/sys/net/ipv6/conf/all/forwarding >/dev/null <<<1
for dev in "$a/v0/10.0.0.1/2001:db8::1/10.0.0.2/2001:db8::2" "$b/y0/10.0.1.2/2001:db8:1::2/10.0.1.1/2001:db8:1::1" \
	"$r/v1/10.0.0.2/2001:db8::2//" "$r/x0/10.0.1.1/2001:db8:1::1//"; do
	IFS=/ read -r ns dev v4 v6 gw4 gw6 <<<"$dev"
	in_ns "$ns" tee "/proc/sys/net/ipv6/conf/$dev/disable_ipv6" /proc/sys/net/ipv6/conf/lo/disable_ipv6 >/dev/null <<<0
	ip -n "$ns" link set lo up
	ip -n "$ns" addr add "$v4/24" dev "$dev"
	ip -n "$ns" addr add "$v6/64" dev "$dev" nodad
	[ -z "$gw4" ] || ip -n "$ns" route add default via "$gw4"
	[ -z "$gw6" ] || ip -n "$ns" -6 route add default via "$gw6"
	# no rate limit of ICMP errors
	in_ns "$ns" tee /proc/sys/net/ipv4/icmp_ratelimit /proc/sys/net/ipv6/icmp/ratelimit >/dev/null <<<0
done

# fails NAME ADDRESS ERRNO SIZE ARGUMENT...: check that a message fails with ERRNO
fails() {
	messages "message $1 ends" send -n "$a" -d "$2" -p 9 -l "$4" -e "${@:5}"
	check_eq "message $1 fails with $3" "$(total "$3")" 1
}

for to in 10.0.1.2 2001:db8:1::2; do
	fails "to $to, a host without NDP," $to ECONNREFUSED 100
	# the first IPv6 neighbour discovery of other nodes takes 2 to 4 s; the timeout is 5 s
	! exact || check "message to $to, a host without NDP, fails before its timeout" test "$(total us)" -lt 4500000
done
# fragments: IP and IPv6 fragments that host a has made
fragments() {
	in_ns "$a" awk '$1 == "Ip:" && ++line == 1 { for (i = 2; i <= NF; i++) if ($i == "FragCreates") column = i }
		$1 == "Ip:" && line == 2 { sum += $column }
		$1 == "Ip6FragCreates" { sum += $2 }
		END { print sum + 0 }' /proc/net/snmp /proc/net/snmp6
}
for to in 10.0.1.2 2001:db8:1::2; do
	before=$(fragments)
	# longer than the first window, whose packets are all too large
	messages "message to $to with packets too large for a link arrives" \
		receive -n "$b" -p 9 -l 100k -- send -n "$a" -d $to -p 9 -l 100k
	! exact || check "message to $to with packets too large for a link takes less than 5 ms" test "$(total us)" -lt 5000
	between=$(fragments)
	check "packets to $to that are too large for a link leave as fragments" test "$between" -gt "$before"
	messages "next message to $to arrives" \
		receive -n "$b" -p 9 -l 100k -- send -n "$a" -d $to -p 9 -l 100k
	check_eq "next message to $to has packets that fit" "$(fragments)" "$between"
done
# transient errors are reported at the timeout
fails "to a missing host" 10.0.1.77 EHOSTUNREACH 100
fails "to an unreachable network" 10.9.9.9 ENETUNREACH 100
fails "to an unreachable IPv6 network" 2001:db8:9::9 ENETUNREACH 100
ip -n "$r" route add prohibit 10.8.0.0/16
fails "to a prohibited network" 10.8.0.1 EHOSTUNREACH 100
check "all flows are freed" wait_for 20 unused
finish

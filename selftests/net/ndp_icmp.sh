#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What routers and hosts without NDP say by ICMP: messages fail at once, or with the reason.
#
#	+------ a ------+     +------- r -------+     +------ b ------+
#	| ndp_msg    v0 |=====| v1  x0   x1:1300 |=====| y1:1300       |
#	+---------------+     +-----------------+     +---------------+
#	    10.0.0.1           .2             10.0.1.1     10.0.1.2
# shellcheck disable=SC2154 # setup_ns sets a, b and r
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/ndp.sh"
setup_ns a r b
# link_between NS DEV NS DEV MTU: a veth pair
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
	# every error is told
	in_ns "$ns" tee /proc/sys/net/ipv4/icmp_ratelimit /proc/sys/net/ipv6/icmp/ratelimit >/dev/null <<<0
done

# fails WHAT ADDRESS ERRNO SIZE ARGUMENT...: a message fails with ERRNO, and before its time is over
fails() {
	messages "$1" send -n "$a" -d "$2" -p 9 -l "$4" -e "${@:5}"
	check_eq "$1: $3" "$(said "$3")" 1
}

for to in 10.0.1.2 2001:db8:1::2; do
	fails "$to: a host without NDP" $to ECONNREFUSED 100
	# addresses of IPv6 are looked for by others, which takes 2 to 4 s at first; the timeout is 5 s
	! exact || check "$to: not by timeout" test "$(said us)" -lt 4500000
done
for to in 10.0.1.2 2001:db8:1::2; do
	# more than the first window, whose packets are all too large
	fails "$to: the first message is too large for a link" $to EMSGSIZE 100k
	messages "$to: the next is not" receive -n "$b" -p 9 -l 100k -- send -n "$a" -d $to -p 9 -l 100k
done
# what may pass is told when the time is over
fails "no such host" 10.0.1.77 EHOSTUNREACH 100
fails "no such network" 10.9.9.9 ENETUNREACH 100
fails "of IPv6" 2001:db8:9::9 ENETUNREACH 100
ip -n "$r" route add prohibit 10.8.0.0/16
fails "prohibited" 10.8.0.1 EHOSTUNREACH 100
check "nothing is left" wait_for 20 unused
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Netfilter, IPsec policies, VRFs and tunnels of routes stay effective with the action.
# shellcheck disable=SC2154,SC2317 # lb_net sets the namespaces; functions are called through check
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/lb.sh"
need_lb
lb_net

passes() { lb_stat "passed.$1" sent_packets; }
# address FAMILY
address() { [ "$1" = 4 ] && echo 10.0.2.2 || echo fd00:2::2; }
reaches() { in_ns "$h" ping -q -n -c 1 -W 0.2 "$(address "$1")"; }
# drops FAMILY: send three datagrams, none of which arrives
drops() {
	local before
	before=$(received)
	traffic udp -n "$h" -d "$(address "$1")" -p 9 -c 3 >/dev/null
	sleep 0.1
	[ "$(received)" = "$before" ]
}

# both_of_vrf: true once links 2 and 3 have sent packets
both_of_vrf() {
	reaches "$family" && reaches "$family"
	port_packets | awk '{ exit !($3 && $4) }'
}

# netfilter FAMILY WHERE HOOK: check that a chain with policy drop at this hook is effective
netfilter() {
	local name="IPv$1, netfilter's $3 hook"
	: >"$TMP/ready"
	job nf_drop -n "$r" "$2" "$3" >"$TMP/ready"
	wait_for 5 grep -q ready "$TMP/ready"
	lb select rr
	check "$name: packets are dropped" drops "$1"
	# and neighbour solicitations
	check "$name: it gets the packets" at_least 3 passed policy
	check_eq "$name: the action sends none" "$(lb_stat sent_packets)" 0
	stop_jobs
	wait_for 5 reaches "$1"
	lb select rr
	check "$name: without the chain, packets arrive" reaches "$1"
	check_eq "$name: without the chain, the action sends them" "$(passes policy)" "0 1"
}

if modprobe -q nf_tables 2>/dev/null || zcat /proc/config.gz 2>/dev/null | grep -q '^CONFIG_NF_TABLES=y'; then
	for family in 4 6; do
		for hook in prerouting forward postrouting; do
			netfilter $family $family $hook
		done
		netfilter $family rh ingress
	done
else
	skip "netfilter" "no nf_tables"
fi

if ip -n "$r" xfrm policy add src 10.0.1.0/24 dst 10.0.2.0/24 dir fwd action block 2>/dev/null; then
	lb select rr
	check "IPsec policy drops packets" drops 4
	check "IPsec policy gets the packets" at_least 3 passed policy
	check_eq "IPsec policy: the action sends none" "$(lb_stat sent_packets)" 0
	ip -n "$r" xfrm policy flush
	check "without policy, packets arrive" reaches 4
	ip -n "$r" xfrm policy setdefault fwd block 2>/dev/null && {
		lb select rr
		check "IPsec's default policy drops packets" drops 4
		check "IPsec's default policy gets the packets" at_least 3 passed policy
		check_eq "IPsec's default policy: the action sends none" "$(lb_stat sent_packets)" 0
		ip -n "$r" xfrm policy setdefault fwd accept
	}
else
	skip "IPsec policy" "no xfrm_user"
fi

if ip -n "$r" route replace 10.0.2.0/24 \
	nexthop encap ip id 5 dst 10.1.0.2 via 10.1.0.2 nexthop encap ip id 5 dst 10.1.1.2 via 10.1.1.2 2>/dev/null; then
	lb select rr
	traffic udp -n "$h" -d 10.0.2.2 -p 9 -c 3 >/dev/null
	check_eq "next hops that encapsulate: the stack gets the packets" "$(passes tunnel)" "3 0"
	reroute 4
else
	skip "next hops that encapsulate" "no lightweight tunnels"
fi

if ip -n "$r" link add red type vrf table 100 2>/dev/null; then
	ip -n "$r" link set red up
	for i in rh u2 u3; do
		ip -n "$r" link set $i master red
		[ $i = rh ] || ip -n "$r" -6 addr replace "fd01:${i#u}::1/64" dev $i nodad
	done
	ip -n "$r" -6 addr replace fd00:1::9/64 dev rh nodad
	ip -n "$r" route add 10.0.2.0/24 vrf red nexthop via 10.1.2.2 nexthop via 10.1.3.2
	ip -n "$r" -6 route add fd00:2::/64 vrf red nexthop via fd01:2::2 nexthop via fd01:3::2
	ip -n "$t" route replace 10.0.1.0/24 via 10.1.2.1
	ip -n "$t" -6 route replace fd00:1::/64 via fd01:2::1
	for family in 4 6; do
		lb granularity packet select rr
		wait_for 5 both_of_vrf
		lb granularity packet select rr
		udp $family 80
		check_eq "IPv$family: packets take the next hops of the VRF" "$(port_packets)" "0 0 40 40"
	done
	in_ns "$r" tee /proc/sys/net/ipv4/conf/red/rp_filter >/dev/null <<<1
	lb granularity packet select rr
	udp 4 80
	check_eq "VRF with rp_filter 1: packets take its next hops" "$(port_packets)" "0 0 40 40"
else
	skip "VRF" "no VRF devices"
fi
finish

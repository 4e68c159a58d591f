#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Source addresses: with the action, a router drops the packets that it drops without it, for each value of rp_filter.
# shellcheck disable=SC2154 # lb_net sets the namespaces
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/lb.sh"
need_lb
lb_net
in_ns "$t" tee /proc/sys/net/ipv4/conf/{all,t0,t1,t2,t3}/rp_filter >/dev/null <<<0
in_ns "$d" tee /proc/sys/net/ipv4/conf/{all,d0}/rp_filter >/dev/null <<<0

# arrives ADDRESS: send a packet from this source address. Print 1 if it arrives at d, else 0.
arrives() {
	local before
	before=$(snmp "$d" IcmpInEchos)
	in_ns "$h" ping -q -n -c 1 -W 0.1 -I "$1" 10.0.2.2 >/dev/null 2>&1 || true
	echo $(($(snmp "$d" IcmpInEchos) - before))
}

# compare NAME SOURCE EXPECTED REASON: the packet arrives, or not, as without the action; REASON is "-" if it is sent
compare() {
	local counts="1 0"
	[ "$4" = - ] || counts="0 1"
	no_lb
	check_eq "$1, without the action" "$(arrives "$2")" "$3"
	lb select rr
	check_eq "$1, with the action" "$(arrives "$2")" "$3"
	check_eq "$1: counters" "$(lb_stat sent_packets passed.source)" "$counts"
}

foreign=10.9.9.9 own=10.1.0.1
ip -n "$h" addr add $foreign/32 dev h0
ip -n "$h" addr add $own/32 dev h0
rp_filter() { in_ns "$r" tee /proc/sys/net/ipv4/conf/{all,rh}/rp_filter >/dev/null <<<"$1"; }

for mode in 0 1 2; do
	rp_filter $mode
	compare "rp_filter $mode, source on the link" 10.0.1.1 1 -
	compare "rp_filter $mode, source is an address of the router" $own 0 source
	if [ $mode = 0 ]; then
		compare "rp_filter $mode, source without route" $foreign 1 -
	else
		compare "rp_filter $mode, source without route" $foreign 0 source
	fi
	ip -n "$r" route add $foreign via 10.1.0.2
	if [ $mode = 1 ]; then
		compare "rp_filter $mode, source with a route by another device" $foreign 0 source
	else
		compare "rp_filter $mode, source with a route by another device" $foreign 1 -
	fi
	ip -n "$r" route replace $foreign via 10.0.1.1
	compare "rp_filter $mode, source with a route back" $foreign 1 -
	ip -n "$r" route del $foreign
done

# a valid address is remembered until the router has another address
rp_filter 0
lb select rr
check_eq "source without route, before the router has the address" "$(arrives $foreign)$(passed source)" 10
ip -n "$r" addr add $foreign/32 dev lo
check_eq "source is a new address of the router" "$(arrives $foreign)$(passed source)" 01
ip -n "$r" addr del $foreign/32 dev lo
check_eq "source was an address of the router" "$(arrives $foreign)$(passed source)" 11

rp_filter 1
# the route back depends on the mark, if src_valid_mark is set
before_lb=(action skbedit mark 7 pipe)
ip -n "$r" rule add fwmark 7 to $foreign table 100
ip -n "$r" route add $foreign via 10.0.1.1 table 100
lb select rr
check_eq "rp_filter 1, without src_valid_mark the mark does not count" "$(arrives $foreign)$(passed source)" 01
in_ns "$r" tee /proc/sys/net/ipv4/conf/rh/src_valid_mark >/dev/null <<<1
check_eq "rp_filter 1, with src_valid_mark it does" "$(arrives $foreign)$(passed source)" 11
finish

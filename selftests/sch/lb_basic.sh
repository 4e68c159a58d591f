#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# act_lb sends packets to the next hops of their route according to its options, and leaves other packets to the stack.
# shellcheck disable=SC2154 # lb_net sets the namespaces
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/lb.sh"
need_lb
lb_net

for family in 4 6; do
	selects="random rr quality drill" granularities="flow flowlet packet"
	[ $family = 4 ] || { selects=quality && granularities=flowlet; }
	for select in $selects; do
		lb granularity packet select "$select"
		check "IPv$family, packet, $select: all packets arrive" udp $family 80
		check "IPv$family, packet, $select: each link carries packets" each_at_least 8
		check_eq "IPv$family, packet, $select: the action counts 80 packets" "$(lb_stat sent_packets)" 80
	done
	for granularity in $granularities; do
		lb granularity "$granularity" select hash
		udp $family 80
		check_eq "IPv$family, $granularity, hash: a flow takes one link" "$(links_used)" 1
	done
	lb granularity flow
	udp $family 80
	check_eq "IPv$family, flow: a flow takes one link" "$(links_used)" 1
	check_eq "IPv$family, flow: the action counts one flow" "$(lb_stat new_flows)" 1
done
lb granularity packet select rr
udp 4 80
check_eq "round robin is exact" "$(port_packets)" "20 20 20 20"
lb
check_eq "defaults are flowlets by quality" "$(lb_stat granularity select)" "flowlet quality"
in_ns "$h" ping -q -c 2 -i 0.01 10.0.1.9 >/dev/null
check_eq "packets to the router itself go to the stack" "$(passed route)" 2
in_ns "$h" ping -q -c 1 -W 1 -t 1 10.0.2.2 >/dev/null || true
check_eq "packet whose TTL ends goes to the stack" "$(passed ttl)" 1
note "$(lb_json)"
finish

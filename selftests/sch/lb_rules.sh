#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Routing decides: policy rules, marks and VLAN devices. Fragments of a packet stay on one link.
# shellcheck disable=SC2154 # lb_net sets the namespaces
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/lb.sh"
need_lb
lb_net

# two_hops FAMILY: next hops of links 2 and 3
two_hops() {
	[ "$1" = 6 ] || echo nexthop via 10.1.2.2 nexthop via 10.1.3.2
	[ "$1" = 4 ] || echo nexthop via fd01:2::2 nexthop via fd01:3::2
}

for family in 4 6; do
	# shellcheck disable=SC2046 # words
	ip -n "$r" -$family route add default table 100 $(two_hops $family)
	ip -n "$r" -$family rule add fwmark 7 table 100
	lb granularity packet select rr
	udp $family 80
	check_eq "IPv$family: packets without mark take the main table's next hops" "$(port_packets)" "20 20 20 20"
	before_lb=(action skbedit mark 7 pipe)
	lb granularity packet select rr
	udp $family 80
	check_eq "IPv$family: packets with the mark take the rule's next hops" "$(port_packets)" "0 0 40 40"
	before_lb=()
	ip -n "$r" -$family rule del fwmark 7
	ip -n "$r" -$family rule add iif rh table 100
	lb granularity packet select rr
	udp $family 80
	check_eq "IPv$family: packets take the next hops of the rule for their device" "$(port_packets)" "0 0 40 40"
	ip -n "$r" -$family rule del iif rh
	ip -n "$r" -$family rule add ipproto udp dport 9 table 100
	lb granularity packet select rr
	udp $family 80
	check_eq "IPv$family: packets take the next hops of the rule for their port" "$(port_packets)" "0 0 40 40"
	ip -n "$r" -$family rule del ipproto udp dport 9
	# between packets to the same address whose rule has one next hop
	to=10.0.2.2 via=10.1.3.2
	[ $family = 4 ] || to=fd00:2::2 via=fd01:3::2
	ip -n "$r" -$family route add default table 101 via $via
	ip -n "$r" -$family rule add ipproto udp dport 10 table 101
	lb granularity packet select rr
	job traffic udp -n "$h" -d $to -p 10 -l 1000 -c 80 >/dev/null
	udp $family 80
	check_eq "IPv$family: packets take the next hops of their own rule" "$(port_packets)" "20 20 20 20"
	check "IPv$family: packets with one next hop are left to the stack" wait_for 5 at_least 80 passed single
	ip -n "$r" -$family rule del ipproto udp dport 10
	to=10.0.2.0/24
	[ $family = 4 ] || to=fd00:2::/64
	ip -n "$r" -$family rule add to $to blackhole
	lb granularity packet select rr
	traffic udp -n "$h" -d "$([ $family = 4 ] && echo 10.0.2.2 || echo fd00:2::2)" -p 9 -c 1 >/dev/null
	check_eq "IPv$family: a rule that drops packets is effective" "$(lb_stat passed.route sent_packets)" "1 0"
	ip -n "$r" -$family rule del to $to blackhole
done

ip -n "$r" route replace 10.0.2.0/24 nexthop via inet6 fd01:0::2 dev u0 nexthop via inet6 fd01:1::2 dev u1
lb granularity packet select rr
udp 4 40
check_eq "IPv4 with IPv6 gateways: packets arrive, by both" "$(port_packets)" "20 20 0 0"
reroute 4

for i in "$h/h0" "$r/rh"; do
	ip -n "${i%/*}" link add link "${i#*/}" name "${i#*/}.5" type vlan id 5
done
end "$h" h0.5 10.0.5.1,fd00:5::1
end "$r" rh.5 10.0.5.9,fd00:5::9
ip -n "$t" route add 10.0.5.0/24 via 10.1.0.1
ip -n "$t" -6 route add fd00:5::/64 via fd01::1
ip -n "$h" route replace default via 10.0.5.9
ip -n "$h" -6 route replace default via fd00:5::9 dev h0.5
wait_for 5 in_ns "$h" ping -q -c 1 -W 1 fd00:2::2
for family in 4 6; do
	lb_dev=rh
	lb granularity packet select rr
	udp $family 80
	check_eq "IPv$family: action leaves packets with a VLAN tag to the stack" \
		"$(at_least 80 passed protocol && lb_stat sent_packets)" 0
	no_lb
	lb_dev=rh.5
	lb granularity packet select rr
	udp $family 80
	check_eq "IPv$family: action on a VLAN device sends the packets" "$(port_packets)" "20 20 20 20"
	no_lb
done
lb_dev=rh
ip -n "$h" route replace default via 10.0.1.9
ip -n "$h" -6 route replace default via fd00:1::9 dev h0

for family in 4 6; do
	to=10.0.2.2 oks=IpReasmOKs
	[ $family = 4 ] || to=fd00:2::2 oks=Ip6ReasmOKs
	for granularity in flow flowlet; do
		lb granularity $granularity select rr gap 1s
		before=$(snmp "$d" $oks)
		check "IPv$family, $granularity: fragmented packets arrive" \
			in_ns "$h" ping -q -c 8 -i 0.01 -W 1 -s 4000 $to
		check_eq "IPv$family, $granularity: they are sent in fragments, and put together" \
			"$(lb_stat sent_packets) $(($(snmp "$d" $oks) - before))" "24 8"
		check_eq "IPv$family, $granularity: the fragments stay on one link" "$(links_used)" 1
	done
	lb granularity packet select rr
	check "IPv$family, packet: fragmented packets arrive" in_ns "$h" ping -q -c 8 -i 0.01 -W 1 -s 4000 $to
	check_eq "IPv$family, packet: each fragment is a packet" "$(port_packets)" "6 6 6 6"
done
finish

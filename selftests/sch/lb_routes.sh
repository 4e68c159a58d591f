#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Under traffic, routes, nexthop objects, devices, namespaces and the module change and go.
# shellcheck disable=SC2154,SC2317 # lb_net sets the namespaces; functions are called through check
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/lb.sh"
need_lb
lb_net

sent() { lb_stat sent_packets; }
# sends: true if the action sends packets
sends() {
	local before
	before=$(sent)
	sleep 0.05
	[ "$(sent)" -gt "$before" ]
}
senders() {
	local to port
	for to in 10.0.2.2 fd00:2::2; do
		for port in 11 12 13 14; do
			job traffic udp -n "$h" -d $to -p $port -l 200 -i 4000 >/dev/null
		done
	done
}
# groups MEMBERS: replace the nexthop group of each family
groups() {
	ip -n "$r" nexthop replace id 49 group "${1//L/4}" && ip -n "$r" nexthop replace id 69 group "${1//L/6}"
}

for i in 0 1 2 3; do
	ip -n "$r" nexthop add id 4$i via 10.1.$i.2 dev u$i
	ip -n "$r" nexthop add id 6$i via fd01:$i::2 dev u$i
done
lb granularity flowlet select rr
senders
check "packets are sent by routes of several next hops" wait_for 5 each_at_least 10
groups L0/L1/L2/L3
ip -n "$r" route replace 10.0.2.0/24 nhid 49
ip -n "$r" -6 route del fd00:2::/64
ip -n "$r" -6 route add fd00:2::/64 nhid 69
check "packets are sent by nexthop groups" sends
for i in {1..10}; do
	{ groups "L0,1/L1,$i/L2,1" && groups L1/L3 && groups L0/L1/L2/L3; } || break
done
check_eq "nexthop groups are replaced 10 times under traffic" "$i" 10
check "packets are sent after that" sends
for i in {1..10}; do
	{ reroute 4 1 "$i" 1 1 && reroute 6 "$i" 1 1 2 && ip -n "$r" route replace 10.0.2.0/24 nhid 49; } || break
done
check_eq "routes are replaced 10 times under traffic" "$i" 10
for i in 0 1 2 3; do
	ip -n "$r" nexthop del id 4$i
	ip -n "$r" nexthop del id 6$i
done
check "without route, packets go to the stack" wait_for 5 at_least 10 passed route
ip -n "$r" route replace 10.0.2.0/24 via 10.1.0.2
ip -n "$r" -6 route replace fd00:2::/64 via fd01:0::2
check "with one next hop, packets go to the stack" wait_for 5 at_least 10 passed single
reroute 4
reroute 6
check "packets are sent by new routes" wait_for 5 sends
before=$(passed single)
sleep 0.1
check_eq "none of them is taken for one with one next hop" "$(passed single)" "$before"
no_lb
for i in {1..10}; do
	lb_index=$((lb_index + 1))
	tc -n "$r" filter replace dev rh ingress pref 1 handle 1 flower action lb \
		granularity flowlet flows $((64 * i)) select rr index $lb_index || break
	tc -n "$r" actions replace action lb granularity packet select drill index $lb_index || break
	tc -n "$r" -s actions list action lb >/dev/null || break
done
check_eq "actions are replaced 10 times under traffic" "$i" 10
check "packets are sent by the last one" sends

lb granularity flow select rr rate u3 1gbit
wait_for 5 each_at_least 10
ip -n "$r" link del u3
check "flows of a deleted device move" sends
check_eq "its port is gone" "$(lb_jq '[.ports[].dev] | sort | join(" ")')" "u0 u1 u2"
ip -n "$r" link set u2 netns "$d"
check "flows of a device in another namespace move" sends
check_eq "its port is gone, too" "$(lb_jq '[.ports[].dev] | sort | join(" ")')" "u0 u1"
check "the action without its device is dumped" eval 'lb_json >/dev/null'

check_refused "module of an action in use cannot be unloaded" "in use" rmmod act_lb
ip netns del "$r"
stop_jobs
check "namespace with the action is deleted under traffic, and the module unloads" wait_for 20 rmmod act_lb
load_module act_lb
finish

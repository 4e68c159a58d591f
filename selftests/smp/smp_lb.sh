#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# act_lb on several CPUs: while hosts send, the action is replaced and dumped, and routes, nexthop groups, neighbours and
# links change. Then the module is unloaded. See lib/lb.sh for the network.
# shellcheck disable=SC2154,SC2317 # lb_net sets the namespaces; functions are called through loop
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/lb.sh"
. "$(dirname "$0")/../lib/smp.sh"
need_lb
queues=4 rate=1gbit
lb_net
ip link add hv numtxqueues 4 netns "$h" type veth peer name rv numrxqueues 4 netns "$r"
end "$h" hv 10.0.3.1,fd00:3::1
end "$r" rv 10.0.3.9,fd00:3::9
ip -n "$h" route add 10.0.2.2/32 via 10.0.3.9
ip -n "$t" route add 10.0.3.0/24 via 10.1.0.1

options() {
	cat <<-END
		granularity packet select quality
		granularity flow select rr flows 64 gap 1ms
		granularity flowlet select drill choices 8 memory 4 gap 10us
		granularity packet select hash rate u0 100mbit
		granularity flowlet select quality interval 1us rate u1 1gbit
		granularity packet select rr
	END
}
replace() {
	local line
	while read -r line; do
		# shellcheck disable=SC2086 # words
		tc -n "$r" actions replace action lb $line index 1 || return
	done < <(options)
}
dump() { tc -n "$r" -s -j actions list action lb && tc -n "$r" -s filter show dev rh ingress; }
filters() {
	tc -n "$r" filter replace dev rv ingress pref 1 handle 1 flower action lb granularity packet select random &&
		tc -n "$r" filter replace dev rv ingress pref 1 handle 1 flower action lb index 1 &&
		tc -n "$r" filter del dev rv ingress pref 1
}
routes() {
	reroute 4 1 2 3 4 && reroute 6 1 2 3 4 && ip -n "$r" nexthop replace id 9 group 1/2 &&
		ip -n "$r" route replace 10.0.2.0/24 nhid 9 && ip -n "$r" nexthop replace id 9 group 2,5/3/4 &&
		ip -n "$r" nexthop del id 9 && reroute 4 && reroute 6
}
neighbours() {
	ip -n "$r" neigh flush dev u1 && ip -n "$r" neigh flush dev u2 && ip -n "$r" -6 neigh flush dev u2 && sleep 0.1
}
links() {
	ip -n "$t" link set t1 down && sleep 0.2 && ip -n "$t" link set t1 up && wait_for 10 has_carrier "$r" u1 &&
		ip -n "$r" link add u9 type dummy && ip -n "$r" link set u9 up && ip -n "$r" link del u9
}
# an egress device that comes and goes
device() {
	ip -n "$r" link add x0 type dummy && ip -n "$r" addr add 10.4.0.1/24 dev x0 && ip -n "$r" link set x0 up &&
		ip -n "$r" neigh add 10.4.0.2 lladdr 02:00:00:00:00:01 dev x0 &&
		ip -n "$r" route replace 10.5.0.0/24 nexthop via 10.4.0.2 nexthop via 10.1.3.2 &&
		traffic udp -n "$h" -d 10.5.0.1 -p 9 -c 100 -l 100
	ip -n "$r" link del x0
}
sends() {
	local before
	before=$(lb_stat sent_packets)
	wait_for 5 at_least $((before + 1)) lb_stat sent_packets
}
tcp() {
	timeout 30 traffic tcp-receive -n "$d" -p 5000 >/dev/null &
	sleep 0.2
	timeout 20 traffic tcp-send -n "$h" -d 10.0.2.2 -p 5000 -c 1000000
	wait $!
}

for i in 1 2 3 4; do
	ip -n "$r" nexthop add id $i via 10.1.$((i - 1)).2 dev u$((i - 1))
done
ip -n "$h" route add 10.5.0.0/24 via 10.0.3.9
tc -n "$r" qdisc add dev rv clsact
lb granularity packet select quality
tc -n "$r" filter add dev rv ingress pref 2 matchall action lb index 1
for i in 1 2; do
	job traffic udp -n "$h" -d 10.0.2.2 -p $i -l 1000 -g 4 >/dev/null 2>&1
	job traffic udp -n "$h" -d fd00:2::2 -p $i -l 200 >/dev/null 2>&1
done
loop "the action is replaced" replace
loop "actions are dumped" dump
loop "routes and nexthop groups change" routes
loop "packets are sent" sends
loop "TCP delivers data" tcp
stress "act_lb, routes change"
for i in 1 2; do
	job traffic udp -n "$h" -d 10.0.2.2 -p $i -l 1000 -g 4 >/dev/null 2>&1
	job traffic udp -n "$h" -d fd00:2::2 -p $i -l 200 >/dev/null 2>&1
done
loop "the action is replaced" replace
loop "actions are dumped" dump
loop "filters are replaced" filters
loop "neighbours are lost" neighbours
loop "a link loses its carrier" links
loop "a device comes and goes" device
stress "act_lb, links change"
tc -n "$r" qdisc del dev rh clsact
tc -n "$r" qdisc del dev rv clsact
tc -n "$r" actions flush action lb || true
check "act_lb unloads" wait_for 30 rmmod act_lb
load_module act_lb
finish

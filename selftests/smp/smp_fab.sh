#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# closfab on several CPUs: while hosts send in both directions and a stranger forges, modes and options change, devices
# go down, up, away and come anew, links and routes change, and peers and flows are dumped. Then the module is unloaded.
# See lib/fab.sh for the network.
# shellcheck disable=SC2154,SC2034,SC2119,SC2317 # lb_net sets the namespaces, and uses rate; check calls functions
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/fab.sh"
. "$(dirname "$0")/../lib/smp.sh"
need_fab
queues=4 rate=1gbit
fab_net
delays 5us 200us 500us 1ms
net=$(dirname "$0")/../net
ip -n "$h" addr add 10.9.9.9/32 dev lo
in_ns "$t" tee /proc/sys/net/ipv4/conf/{all,t0,t1,t2,t3}/rp_filter >/dev/null <<<0
in_ns "$r" tee /proc/sys/net/ipv4/conf/{all,rh}/accept_local >/dev/null <<<1
in_ns "$r" tee /proc/sys/net/ipv4/conf/{all,rh}/rp_filter >/dev/null <<<0

options() {
	fab_set mode conweave theta_inactive 2ms && fab_set mode cell cell_size 256 && fab_set flows 4096 select rr &&
		fab_set limit 100000 flow_limit 20000 && fab_set mode reorder select quality entropy 8 &&
		fab_set mode conweave fifos 1 && fab_set limit 16777216 flow_limit 2097152 fifos 31 flows 256 mode reorder
}
dump() {
	in_ns "$t" closnet fab && in_ns "$t" ethtool -S fab0 && ip -n "$t" -s -d link show fab0
}
updown() { ip -n "$t" link set fab0 down && sleep 0.1 && fab_routes "$t" 1 10.0.1.0/24 fd00:1::/64 && sleep 0.2; }
devices() {
	ip -n "$r" link del fab0 && fab_leaf "$r" 1 2 10.0.2.0/24 fd00:2::/64 && sleep 0.3
}
links() {
	ip -n "$t" link set t1 down && sleep 0.2 && ip -n "$t" link set t1 up && ip -n "$r" link set u2 down && sleep 0.1 &&
		ip -n "$r" link set u2 up && ip -n "$r" addr replace fd01:2::1/64 dev u2 nodad
}
routes() {
	ip -n "$r" route replace 10.9.0.2/32 src 10.9.0.1 via 10.1.3.2 dev u3 &&
		ip -n "$r" route replace 10.9.0.2/32 src 10.9.0.1 nexthop via 10.1.0.2 dev u0 nexthop via 10.1.3.2 dev u3 weight 9
}
strangers() {
	in_ns "$h" python3 "$net/fab_forge.py" numbers 10.9.0.1 10.9.0.2 300 &&
		in_ns "$h" python3 "$net/fab_forge.py" garbage 10.9.9.9 10.9.0.2 300
}

for i in 1 2; do
	job traffic udp -n "$h" -d 10.0.2.2 -p $i -l 1000 >/dev/null 2>&1
	job traffic udp -n "$d" -d 10.0.1.1 -p $i -l 300 >/dev/null 2>&1
done
job traffic udp -n "$h" -d fd00:2::2 -p 5 -l 1400 >/dev/null 2>&1
loop "modes and options change" options
loop "peers and flows are dumped" dump
loop "a device goes down and up" updown
loop "a device is replaced" devices
loop "links fail and come back" links
loop "routes change" routes
loop "strangers forge packets" strangers
stress "closfab under load"
for i in 1 2; do
	job traffic udp -n "$h" -d 10.0.2.2 -p $i -l 1000 >/dev/null 2>&1
done
check "the module is unloaded under load" wait_for 30 rmmod closfab
stop_jobs
finish

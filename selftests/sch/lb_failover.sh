#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Under traffic, links and neighbours fail, and next hops and devices go: flows leave them at once, and move once.
# shellcheck disable=SC2154,SC2317 # lb_net sets the namespaces; functions are called through check
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/lb.sh"
need_lb
lb_net

failovers() { lb_stat failovers; }
# carries N: true if link N sends packets
carries() {
	local before
	before=$(lb_stat "u$1.packets")
	sleep 0.02
	[ "$(lb_stat "u$1.packets")" -gt "$before" ]
}
# arrives: true if packets arrive at d
arrives() {
	local before
	before=$(received)
	sleep 0.05
	[ "$(received)" -gt $((before + 25)) ]
}
# link_up N: set t's end of a link up again; its IPv6 address went with the link
link_up() {
	ip -n "$t" link set "t$1" up
	ip -n "$t" -6 addr replace "fd01:$1::2/64" dev "t$1" nodad
	wait_for 5 has_carrier "$r" "u$1"
	resolve "$1"
}
is_quiet() { ! carries "$1"; }

# eight flows, two on each link
flows() {
	local port
	stop_jobs
	lb granularity flow select rr
	for port in 11 12 13 14 15 16 17 18; do
		job traffic udp -n "$h" -d "$1" -p $port -l 200 -i 4000 >/dev/null
	done
	wait_for 5 at_least 8 lb_stat new_flows
	wait_for 5 each_at_least 20
}

for to in 10.0.2.2 fd00:2::2; do
	flows $to
	ip -n "$t" link set t1 down
	wait_for 5 at_least 2 failovers
	check "$to: a link without carrier gets no packets" is_quiet 1
	check "$to: packets arrive by the others" arrives
	sleep 0.1
	check_eq "$to: its flows move once" "$(failovers)" 2
	link_up 1
	sleep 0.1
	check_eq "$to: flows stay where they are when the link returns" "$(failovers) $(is_quiet 1 && echo quiet)" "2 quiet"
	check_eq "$to: no flow met a gap, or was lost" "$(lb_stat new_flows gaps dropped_packets)" "8 0 0"
done

flows 10.0.2.2
ip -n "$t" link set t2 arp off
ip -n "$r" neigh del 10.1.2.2 dev u2
wait_for 5 at_least 2 failovers
sleep 0.1
check_eq "flows leave a neighbour that is lost, and move once" "$(failovers) $(is_quiet 2 && echo quiet)" "2 quiet"
lb granularity flow select rr
sleep 0.1
check_eq "new flows that avoid it are no failovers" "$(lb_stat new_flows failovers)" "8 0"
lb granularity packet select rr
sleep 0.1
check "packets do not wait for it" eval 'is_quiet 2 && arrives'
check_eq "none is passed to the stack" "$(passed neighbour)" 0
ip -n "$t" link set t2 arp on
check "packets take it again when it answers" wait_for 5 carries 2

for select in hash random rr quality drill; do
	lb granularity packet select $select
	wait_for 5 carries 0 || wait_for 5 arrives
	ip -n "$t" link set t0 down
	sleep 0.02
	check "packet, $select: a link without carrier gets no packets" is_quiet 0
	check "packet, $select: packets arrive by the others" arrives
	link_up 0
done

stop_jobs
for i in 0 1 2 3; do
	ip -n "$t" link set "t$i" down
done
lb select rr
traffic udp -n "$h" -d 10.0.2.2 -p 9 -c 5 >/dev/null
check "all links are down: the stack gets the packets" wait_for 5 at_least 5 passed down
check_eq "all links are down: none is sent" "$(lb_stat sent_packets)" 0
for i in 0 1 2 3; do
	link_up $i
done
check "all links are up: packets are sent again" udp 4 20
check_eq "all links are up: by the action" "$(lb_stat sent_packets)" 20
finish

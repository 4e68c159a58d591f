#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Flows and flowlets: gaps, the size of the table, and the order of packets.
# shellcheck disable=SC2154 # lb_net sets the namespaces
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/lb.sh"
need_lb
lb_net
frames_net

# echoes ADDRESS SECONDS: send 10 packets of a flow with pauses between them
echoes() { in_ns "$h" ping -q -c 10 -i "$2" "$1" >/dev/null; }
counts() { lb_stat new_flows gaps moves failovers overflows sent_packets; }

for to in 10.0.2.2 fd00:2::2; do
	lb granularity flowlet select rr gap 20ms
	echoes $to 0.05
	check_eq "$to: each pause longer than the gap ends a flowlet" "$(counts)" "1 9 9 0 0 10"
	check_eq "$to: flowlets take the links in turn" "$(port_packets)" "3 3 2 2"
	if exact; then
		lb granularity flowlet select rr gap 20ms
		echoes $to 0.01
		check_eq "$to: shorter pauses do not" "$(counts)" "1 0 0 0 0 10"
	fi
	lb granularity flow select rr gap 10s
	echoes $to 0.05
	check_eq "$to: a flow stays on its link" "$(counts) $(links_used)" "1 0 0 0 0 10 1"
done
lb granularity flowlet select quality gap 5ms utilization_weight 0
echoes 10.0.2.2 0.02
check_eq "quality: a flowlet stays where the flow was, if that is among the best" "$(counts)" "1 9 0 0 0 10"

# a table of 64: nearly all of 1000 flows find no place
lb granularity flow flows 64 select random
send_frames -s "$h/h0" udp4,port=9,len=80,sport=0,n=1000 >/dev/null
check_json "$(lb_json)" "full table: each flow has a place or is counted" \
	'.. | objects | select(.kind? == "lb") | .new_flows + .overflows == 1000 and .sent_packets == 1000' \
	"full table: it has no more flows than places" \
	'.. | objects | select(.kind? == "lb") | .new_flows <= 64 and .new_flows > 40'
check "full table: flows without a place are spread" each_at_least 180
lb granularity flow flows 64 select rr gap 100ms
send_frames -s "$h/h0" udp4,port=9,len=80,sport=0,n=300 >/dev/null
sleep 0.2
before=$(lb_stat new_flows)
send_frames -s "$h/h0" udp6,port=9,len=80,sport=0,n=300 >/dev/null
check "idle flows give up their places" [ $(($(lb_stat new_flows) - before)) -gt 40 ]

# transfer: send 1 MB by TCP and print d's number of segments that came out of order
transfer() {
	local before
	before=$(snmp "$d" TcpExtTCPOFOQueue)
	traffic tcp-receive -n "$d" -p 5000 >"$TMP/tcp" &
	wait_for 5 in_ns "$d" sh -c 'ss -Hlnt sport = 5000 | grep -q .'
	traffic tcp-send -n "$h" -d 10.0.2.2 -p 5000 -c 1000000
	wait $!
	echo $(($(snmp "$d" TcpExtTCPOFOQueue) - before))
}
# the paths differ
wire_set "$r/u1" delay 300us
wire_set "$r/u2" delay 900us
for granularity in flow flowlet; do
	lb granularity $granularity select rr gap 10ms
	check_eq "$granularity: segments stay in order" "$(transfer)" 0
	check_eq "$granularity: all bytes arrive" "$(<"$TMP/tcp")" "received 1000000"
done
lb granularity packet select rr
check "packet: segments come out of order on links of different delays" at_least 10 transfer
check_eq "packet: all bytes arrive" "$(<"$TMP/tcp")" "received 1000000"
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The load of links: quality and drill avoid a slow or loaded one, whatever qdisc has its queue.
# shellcheck disable=SC2154 # lb_net sets the namespaces
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/lb.sh"
need_lb
exact || skip_all "needs virtual time"
queues=4
lb_net
frames_net

# burst COUNT: datagrams at the rate of h0
burst() {
	local before
	before=$(lb_stat sent_packets)
	send_frames -s "$h/h0" "udp4,port=9,len=1000,n=$1" >/dev/null
	wait_for 5 at_least $((before + $1)) lb_stat sent_packets
}
# share_of_u1: per cent of the packets that u1 sent
share_of_u1() { port_packets | awk '{ print int($2 * 100 / ($1 + $2 + $3 + $4)) }'; }
# share NAME MIN MAX OPTIONS...: check u1's share of 400 packets
share() {
	local name=$1 min=$2 max=$3 got
	shift 3
	lb granularity packet "$@"
	burst 400
	got=$(share_of_u1)
	check "$name: link 1 gets $min to $max % of the packets (it got $got %)" [ "$got" -ge "$min" -a "$got" -le "$max" ]
}

share "equal links, random" 18 32 select random
share "equal links, quality" 15 35 select quality
share "equal links, drill" 20 30 select drill

# u1 at a tenth of the rate of the other links, by an option
slow=(rate u1 1gbit)
share "slow link by an option, random" 18 32 select random "${slow[@]}"
share "slow link by an option, quality" 0 10 select quality "${slow[@]}"
share "slow link by an option, drill" 0 10 select drill choices 4 "${slow[@]}"
# without the bytes since the last sample, and without a sample, each link looks idle
share "slow link by an option, quality nocharge" 15 35 select quality nocharge interval 1s "${slow[@]}"
check_eq "action shows the rate that counts" \
	"$(lb_stat u1.rate u2.rate)" "125000000 1250000000"
lb granularity packet select rr
burst 4
check_eq "without the option it is the link's" "$(lb_stat u1.rate)" 1250000000

# a slow link by its own report
wire_set "$r/u1" rate 1gbit
share "slow link, quality" 0 10 select quality
share "slow link, drill" 0 10 select drill choices 4
wire_set "$r/u1" rate 10gbit
share "fast link again, quality" 15 35 select quality

# backlog NAME QDISC...: u1 has a backlog of a qdisc of 8 kbit/s, then the action avoids it
backlog() {
	local name=$1
	shift
	lb granularity packet select random
	burst 200
	check "$name: the qdisc has a backlog" eval \
		"tc -n $r -s -j qdisc show dev u1 | grep -Eq '\"backlog\":[0-9]{5}'"
	for select in "quality utilization_weight 0" "drill choices 8"; do
		# shellcheck disable=SC2086 # words
		lb granularity packet select $select
		burst 200
		check_eq "$name, ${select%% *}: the link gets no packets" "$(lb_stat u1.packets)" 0
		# shellcheck disable=SC2086 # words
		lb granularity flow select $select
		udp 4 20
		check_eq "$name, flow, ${select%% *}: the link gets no flow" "$(lb_stat u1.packets)" 0
	done
	lb granularity packet select quality queue_weight 0
	burst 200
	check "$name, quality without the queue's weight: the link gets packets" each_at_least 10
	tc -n "$r" qdisc del dev u1 root
}
slowly=(tbf rate 8kbit burst 2kb limit 1mb)
tc -n "$r" qdisc add dev u1 root "${slowly[@]}"
backlog "tbf"
tc -n "$r" qdisc add dev u1 root handle 1: prio
for band in 1 2 3; do
	tc -n "$r" qdisc add dev u1 parent 1:$band "${slowly[@]}"
done
backlog "tbf below prio"
tc -n "$r" qdisc add dev u1 root handle 1: mq
for queue in 1 2 3 4; do
	tc -n "$r" qdisc add dev u1 parent 1:$queue "${slowly[@]}"
done
backlog "tbf below mq"
if load_module sch_ndp; then
	tc -n "$r" qdisc add dev u1 root ndp rate 8kbit limit 10000
	backlog "ndp"
fi
if load_module sch_dcqcn; then
	tc -n "$r" qdisc add dev u1 root dcqcn rate 8kbit
	backlog "dcqcn"
fi

# utilization: the router sends other packets by u1, which take longer than the pause before the next sample
lb granularity packet select quality queue_weight 0 interval 10ms rate u1 1mbit
burst 4
before=$(lb_stat u1.packets)
send_frames -s "$r/u1" udp4,port=9,len=1000,n=100 >/dev/null
sleep 0.1
burst 20
check_eq "utilization: a busy link gets no packets" $(($(lb_stat u1.packets) - before)) 0

# actions of a namespace share the ports
# sent_by INDEX: number of packets that an action has sent
sent_by() { lb_index=$1 lb_stat sent_packets; }
lb_index=$((lb_index + 1))
first=$lb_index
tc -n "$r" filter del dev rh ingress
# the last one, with a rate of its own, goes by a worker
check "rate of a deleted action is free" \
	wait_for 5 tc -n "$r" actions add action lb granularity packet select quality rate u1 1gbit index $first
lb_index=$((lb_index + 1))
tc -n "$r" actions add action lb granularity packet select random index $lb_index
check_refused "two rates of a device are refused" "another rate of the device is set already" \
	tc -n "$r" actions add action lb rate u1 2gbit index 999
check_refused "two rates of a device in one action are refused" "another rate of the device is set already" \
	tc -n "$r" actions add action lb rate u2 2gbit rate u2 1gbit index 999
check_refused "change to another rate than the other action's is refused" "another rate of the device is set already" \
	tc -n "$r" actions replace action lb rate u1 2gbit index $lb_index
check "the same rate in two actions is accepted" tc -n "$r" actions add action lb rate u1 1gbit index 998
tc -n "$r" filter add dev rh ingress protocol ip pref 1 flower ip_proto udp dst_port 4791 action lb index $first
tc -n "$r" filter add dev rh ingress pref 2 matchall action lb index $lb_index
traffic udp -n "$h" -d 10.0.2.2 -p 4791 -c 80 -l 100 >/dev/null
udp 4 80
check_eq "two filters: each action has its packets" "$(sent_by $first) $(sent_by $lb_index)" "80 80"
check_eq "two actions share the ports: one sees the rate that the other has set" \
	"$(lb_stat u1.rate)" 125000000
tc -n "$r" actions del action lb index 998
check_eq "the rate stays while an action sets it" "$(lb_stat u1.rate)" 125000000
tc -n "$r" actions replace action lb granularity packet select quality index $first
check_eq "the rate goes with the last action that sets it" \
	"$(lb_stat u1.rate)" 1250000000
check "another action can set another rate then" tc -n "$r" actions add action lb rate u1 2gbit index 999

# rates_of INDEX: devices and rates that an action sets
rates_of() { tc -n "$r" -j actions get action lb index "$1" | jq -c '[.. | .rate? | arrays] | flatten'; }
ip -n "$r" link add x0 index 4000 up type closwire rate 10gbit peer name y0
tc -n "$r" actions add action lb rate x0 1gbit index 997
check_eq "rate is shown" "$(rates_of 997)" '[{"dev":"x0","rate":125000000}]'
ip -n "$r" link del x0
check_eq "rate ends with the device" "$(rates_of 997)" "[]"
ip -n "$r" link add x0 index 4000 up type closwire rate 10gbit peer name y0
check_eq "new device of the same name and index has no rate" "$(rates_of 997)" "[]"
check "another action can set another rate of it" tc -n "$r" actions add action lb rate x0 2gbit index 996
tc -n "$r" actions replace action lb rate x0 2gbit index 997
check_eq "action can set its rate again" "$(rates_of 997)" '[{"dev":"x0","rate":250000000}]'
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# voq sends over closfab as much as the egress port grants: IPv4 and IPv6, lost messages, ports that do not grant, and leaves
# that lose their state.
# shellcheck disable=SC2154,SC2034,SC2119,SC2317 # fab_net sets the namespaces, and uses rate; check calls functions
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/voq.sh"
need_voq_fab
rate=1gbit
fab_net

# lossy CONTROL...: drop received messages of both leaves by a gact action
lossy() {
	local i
	for i in 0 1 2 3; do
		lossy_port "$t" "t$i" "$@"
		lossy_port "$r" "u$i" "$@"
	done
}
lossy_port() {
	tc -n "$1" qdisc add dev "$2" clsact 2>/dev/null || true
	tc -n "$1" filter replace dev "$2" ingress pref 1 handle 1 protocol ip flower ip_proto udp dst_port 793 action "${@:3}"
}

# ping_ms: round-trip time from h to d in ms, rounded down
ping_ms() { in_ns "$h" ping -q -c 1 -W 2 10.0.2.2 | sed -n 's|^rtt.* = \([0-9]*\).*|\1|p'; }
answered_within() { local ms; ms=$(ping_ms) && [ -n "$ms" ] && [ "$ms" -le "$1" ]; }

# gated: send a packet; true if all VOQs send with credit
gated() {
	ping_ms >/dev/null
	[ "$(ingress open)" = 0 ]
}

for outer in 4 6; do
	fab_del
	fab_add
	voq_net
	check "IPv$outer underlay: a ping is answered" wait_for 5 in_ns "$h" ping -q -c 1 -W 1 10.0.2.2
	check "IPv$outer underlay: an IPv6 ping is answered" wait_for 5 in_ns "$h" ping -q -c 1 -W 1 fd00:2::2
	check_eq "IPv$outer underlay: all bytes arrive" "$(transfer 1000000)" 1000000
	check_eq "IPv$outer underlay: all bytes arrive by IPv6" "$(transfer 300000 fd00:2::2)" 300000
	check "IPv$outer underlay: the port granted them" at_least 1300000 ingress granted_bytes
	check "IPv$outer underlay: both ends count the same grants" wait_for 5 agree
	check_eq "IPv$outer underlay: no VOQ to d sends without credit" "$(ingress opened)" 0
	check_eq "IPv$outer underlay: no packet is dropped" "$(($(ingress drops) + $(egress drops)))" 0
	check "IPv$outer underlay: both queues are empty" wait_for 5 voq_empty
done
outer=4
fab_del
fab_add

# ---- incast: more than the port can send waits at the ingress leaf

voq_net limit 100000 voq_limit 100000
ping_ms >/dev/null
wire_set "$t/td" rate 100mbit
wire_set "$d/d0" rate 100mbit
voq_on "$t" td grant rate 95mbit
job traffic udp -n "$h" -d 10.0.2.2 -p 9000 -l 1200 -i 24 >"$TMP/sent"
most=0
for _ in 1 2 3 4 5 6 7 8; do
	sleep 0.05
	now=$(egress backlog)
	[ "$now" -le "$most" ] || most=$now
done
waiting=$(ingress backlog)
stop_jobs
note "backlog: ingress $waiting, egress at most $most bytes"
check "overload waits at the ingress leaf" [ "$waiting" -gt 1000000 ]
check "queue of the egress port stays below 6 credits" [ "$most" -lt $((6 * 8192)) ]
check_eq "egress port drops no packet" "$(egress drops)" 0
check_eq "ingress leaf drops no packet" "$(ingress drops)" 0
check "queues drain" wait_for 30 voq_empty
wire_set "$t/td" rate 1gbit
wire_set "$d/d0" rate 1gbit

# ---- loss

for one_in in 10 3; do
	voq_net
	lossy pass random netrand drop $one_in
	check_eq "a message in $one_in lost: all bytes arrive" "$(transfer 500000)" 500000
	check "a message in $one_in lost: queues are empty" wait_for 5 voq_empty
done
voq_net
lossy drop
check "all messages lost: a packet waits 8 times retry at most" answered_within 20
check "all messages lost: requests were repeated" at_least 7 ingress retries
check "all messages lost: the VOQ sends without credit" at_least 1 ingress opened
lossy pass
check "messages come again: the VOQ sends with credit" wait_for 5 gated

# ---- ports and leaves that come and go

tc -n "$t" qdisc del dev td root
voq_on "$r" fab0 credit
check "leaf without grant: a packet waits 8 times retry at most" answered_within 20
ip -n "$t" link add other type dummy
voq_on "$t" other grant
voq_on "$r" fab0 credit
check "port without grant: a packet does not wait" answered_within 2
check "port without grant: the egress leaf refuses" at_least 1 ingress refused
voq_on "$t" td grant
job traffic udp -n "$h" -d 10.0.2.2 -p 9000 -l 1200 -i 200 >"$TMP/sent"
for i in 1 2 3; do
	voq_on "$t" td grant
	voq_on "$r" fab0 credit
	tc -n "$t" qdisc change dev td root voq credit_size $((i * 4096)) rtt $((i * 20))us
	tc -n "$r" qdisc change dev fab0 root voq credit_size $((i * 4096)) retry $((i * 300))us quantum 6000
	check "replaced $i times under traffic: a ping is answered" wait_for 5 in_ns "$h" ping -q -c 1 -W 1 10.0.2.2
	tc -n "$t" qdisc del dev td root
	tc -n "$r" qdisc del dev fab0 root
done
stop_jobs
finish

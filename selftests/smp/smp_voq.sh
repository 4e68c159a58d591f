#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Credit of voq on several CPUs: while a host sends and a stranger forges messages, the qdiscs of both leaves change and
# are replaced, routes move, and all is dumped. Then the module is unloaded. See lib/fab.sh for the network.
# shellcheck disable=SC2154,SC2034,SC2119,SC2317 # fab_net sets the namespaces, and uses rate; check calls functions
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/voq.sh"
. "$(dirname "$0")/../lib/smp.sh"
need_voq_fab
queues=4 rate=1gbit
fab_net
ip -n "$r" route add 10.0.1.1/32 dev rh
ip -n "$t" route replace 10.0.1.0/24 via 10.1.0.1
ip -n "$h" route add 10.9.0.2/32 via 10.0.1.9

changed() { tc -n "$r" qdisc change dev fab0 root voq "$@"; }
options() {
	changed credit_size 256 rtt 1us && changed retry 10us voq_limit 2 && changed limit 10 && changed retry 1s &&
		changed credit_size 65536 rtt 1ms retry 1ms limit 10000 voq_limit 1000
}
ingress_end() { voq_on "$r" fab0 credit && sleep 0.1 && voq_on "$r" fab0 credit queues 1 && sleep 0.1; }
egress_end() {
	voq_on "$t" td grant && sleep 0.1 && tc -n "$t" qdisc del dev td root && sleep 0.1 && voq_on "$t" td grant rate 500mbit
}
dump() {
	tc -n "$r" -s -j qdisc show dev fab0 >/dev/null && tc -n "$t" -s -j qdisc show dev td >/dev/null && in_ns "$r" closnet fab
}
routes() {
	ip -n "$t" route replace 10.0.2.3/32 dev td && sleep 0.1 && ip -n "$t" route replace 10.0.2.3/32 via 10.1.0.1 &&
		sleep 0.1 && ip -n "$t" route del 10.0.2.3/32
}
strangers() {
	in_ns "$h" python3 "$(dirname "$0")/../sch/voq_forge.py" 10.9.0.2 793 request 300 10.0.2.2 &&
		in_ns "$h" python3 "$(dirname "$0")/../sch/voq_forge.py" 10.9.0.2 793 random 300
}
devices() { fab_leaf "$r" 1 2 10.0.2.0/24 fd00:2::/64 && voq_on "$r" fab0 credit && sleep 0.2; }
new_device() { ip -n "$r" link del fab0 && devices; }

send() {
	for i in 1 2 3; do
		job traffic udp -n "$h" -d 10.0.2.2 -p $i -l $((400 * i)) >/dev/null 2>&1
	done
	job traffic udp -n "$h" -d 10.0.2.3 -p 4 -l 1000 >/dev/null 2>&1
	job traffic udp -n "$h" -d fd00:2::2 -p 5 -l 1300 >/dev/null 2>&1
}
voq_net
send
loop "options of the ingress end change" options
loop "the egress end is replaced" egress_end
loop "messages and queues are dumped" dump
loop "routes move" routes
loop "strangers forge messages" strangers
stress "voq with credit"
send
loop "the ingress end is replaced" ingress_end
loop "messages and queues are dumped" dump
stress "a new ingress end"
send
loop "the tunnel is replaced" new_device
loop "options of the egress end change" tc -n "$t" qdisc change dev td root voq grant credit_size 4096
stress "a new tunnel"
send
tc -n "$r" qdisc del dev fab0 root
tc -n "$t" qdisc del dev td root
check "the module is unloaded under load" wait_for 30 rmmod sch_voq
stop_jobs
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# NDP sockets on several CPUs: both hosts send messages, and sockets close with messages in flight. Meanwhile sysctls
# change, sockets, peers, flows and counters are dumped, links lose their carrier, and namespaces with open sockets are
# deleted.
#
#	+---------- a ----------+     +---------- b ----------+
#	| ndp_msg x 4 -> w0     |=====| w1 -> ndp_msg x 2     |
#	+-----------------------+     +-----------------------+
# shellcheck disable=SC2154,SC2317 # setup_ns sets a and b; functions are called through loop
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/smp.sh"
need_closwire
. "$(dirname "$0")/../lib/ndp.sh"
setup_ns a b
WIRE=(mtu 9000 numtxqueues 4)
wire_ab rate 1gbit delay 5us
need_sch ndp
tc -n "$a" qdisc add dev w0 root handle 1: mq
for i in 1 2 3 4; do
	tc -n "$a" qdisc add dev w0 parent 1:$i handle 1$i: ndp limit 4
done

# send NS ADDRESS OPTION...: send messages; sending may fail
send() { timeout 60 ndp_msg send -n "$1" -d "$2" -e -t 20 "${@:3}"; }
pair() {
	timeout 60 ndp_msg receive -n "$b" -p "$1" -s 2 -c 5 -l 100,3k,100k "${@:2}" -- \
		send -n "$a" -d 10.0.0.2 -p "$1" -S 2 -c 5 -l 100,3k,100k "${@:2}" -e -t 20
}
close_at_once() { send "$a" 10.0.0.2 -p 9 -x -S 5 -c 2 -l 20k; }
dumps() {
	in_ns "$a" cat /proc/net/ndp/snmp && in_ns "$b" cat /proc/net/ndp/snmp &&
		in_ns "$a" closnet ndp && in_ns "$b" closnet ndp && tc -n "$a" -s qdisc show dev w0
}
sysctls() {
	local i
	for i in 0 1 2; do
		in_ns "$b" sysctl -qw net.ndp.pull_policy="$i" &&
			in_ns "$a" sysctl -qw net.ndp.initial_window=$((i * 8 + 4)) || return
	done
}
# received_packets COUNT: has w1 received COUNT packets? True at the end of the stress, when traffic stops.
received_packets() { [ -e "$TMP/end" ] || [ "$(packets "$b/w1" rx_packets)" -ge "$1" ]; }
# carrier: lose the carrier, then let messages arrive before it is lost again
carrier() {
	local received
	ip -n "$a" link set w0 down && ip -n "$a" link set w0 up && ip -n "$b" link set w1 mtu 3000 &&
		ip -n "$b" link set w1 mtu 9000 &&
		ip -n "$a" neigh replace 10.0.0.2 lladdr "$MAC_B" nud permanent dev w0 &&
		received=$(packets "$b/w1" rx_packets) &&
		wait_for 20 received_packets $((received + 100))
}
namespace() {
	ip netns add "$a-x" && ip -n "$a-x" link set lo up &&
		timeout 20 ndp_msg receive -n "$a-x" -p 9 -l 10k -c 3 -- send -n "$a-x" -d 127.0.0.1 -p 9 -l 10k -c 3 -- \
			run "ip netns del $a-x"
}
defer "ip netns del $a-x 2>/dev/null"

job ndp_msg receive -n "$b" -p 9 -f -l 100k -c 100000000 -t 1000
job ndp_msg receive -n "$a" -p 9 -f -l 100k -c 100000000 -t 1000
loop "a sends messages" send "$a" 10.0.0.2 -p 9 -S 4 -c 5 -l 100,3k,200k
loop "b sends messages" send "$b" 10.0.0.1 -p 9 -S 4 -c 5 -l 100,3k,200k
loop "SOCK_RDM sockets deliver messages" pair 10
loop "SOCK_SEQPACKET sockets deliver messages" pair 11 -O
loop "sockets close with messages in flight" close_at_once
loop "state is dumped" dumps
loop "sysctls change" sysctls
stress "NDP, sysctls change"
loop "a sends messages" send "$a" 10.0.0.2 -p 9 -S 4 -c 5 -l 100,3k,200k
loop "b sends messages" send "$b" 10.0.0.1 -p 9 -S 4 -c 5 -l 100,3k,200k
loop "state is dumped" dumps
loop "the link loses its carrier" carrier
loop "a namespace is deleted" namespace
stress "NDP, links and namespaces change"
check "all sockets and flows are freed" wait_for 90 unused
check "ndp unloads" rmmod ndp
load_module ndp
finish

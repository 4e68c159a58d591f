#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Flows of TCP and UDP between two hosts with sch_pcrp: whole and in order, chain by chain, with the priorities of
# first and of granted chains in their DSCP, over IPv4, IPv6 and VLANs; GSO packets stay whole.
# shellcheck disable=SC2317 # functions are called through check
#
#	+------ a ------+     +------ b ------+
#	| w0: pcrp      |=====| w1: pcrp      |
#	+---------------+     +---------------+
. "$(dirname "$0")/../lib/lib.sh"
need_sch pcrp
need_closwire
setup_ns a b
wire_ab rate 10gbit delay 5us
. "$(dirname "$0")/../lib/tcp_basic.sh"
. "$(dirname "$0")/../lib/pcrp.sh"
. "$(dirname "$0")/../lib/pcrp_pair.sh"
wire_ipv6
chain=20000
tc -n "$a" qdisc add dev w0 root handle 1: pcrp chain $chain
tc -n "$b" qdisc add dev w1 root handle 1: pcrp chain $chain

# no_ports COUNT: have so many datagrams come to b that nobody waits for?
no_ports() {
	[ "$(ip netns exec "$b" cat /proc/net/snmp | awk '/^Udp: [0-9]/ { print $3 }')" -ge "$1" ]
}

# ---- the first flow finds out that the other host answers

check "data arrives" transfer 10.0.0.2 300000
check_json "$(pcrp_stats "$a/w0")" \
	"the peer is known" '.peers == 1 and .peers_answering == 1 and .peers_silent == 0' \
	"it was asked" '.requests_sent > 0' \
	"the flow began without waiting" '.flows_ungated >= 1 and .flows_started == .flows_finished' \
	"a chain is what was given" ".chain_bytes == $chain" \
	"the line's rate is the device's" '.rate_Bps == 1250000000'

# ---- then flows are gated

# gated NAME ADDRESS PROTOCOL: 3 MB; where the machine is late, they may be more than one flow
gated() {
	local before after name=$1 flows='>=' granted=0
	! exact || { flows='==' && granted=1000; }
	count_dscp "$b/w1" "$3" 0 56 24
	before=$(pcrp_stats "$a/w0")
	check "$name: data arrives" transfer "$2" 3000000
	after=$(pcrp_stats "$a/w0")
	check_json "$(counted_dscp "$b/w1")" \
		"$name: nothing comes unmarked" '.[0] == 0' \
		"$name: ACKs and control packets have CS7" '.[1] > 0' \
		"$name: granted chains have CS3" ".[2] > $granted"
	check_json "[$before,$after]" \
		"$name: one flow, gated" ".[1].chains_speculative $flows .[0].chains_speculative + 1" \
		"$name: its other chains are granted" \
		"(.[1].chains_granted - .[0].chains_granted) as \$n | \$n > 10 and \$n <= 3000000 / $chain" \
		"$name: none was overdue" '.[1].chains_overdue == 0' \
		"$name: its first chain has one of P0 to P3, others P4" '(.[1].prio_packets[0:4] | add) >
			(.[0].prio_packets[0:4] | add) and .[1].prio_packets[4] > .[0].prio_packets[4]
			and .[1].prio_packets[5:] == .[0].prio_packets[5:]' \
		"$name: GSO packets stay whole" \
		'.[1].packets - .[0].packets > 4 * ([.[1], .[0] | .prio_packets | add] | .[0] - .[1])' \
		"$name: nothing waits" '.[1].qlen == 0 and .[1].backlog == 0 and .[1].flows_waiting == 0'
}
gated "IPv4" 10.0.0.2 ip
check "IPv6: data arrives" transfer fd00::2 300000
gated "IPv6" fd00::2 ipv6
if ip -n "$a" link add link w0 name w0.5 type vlan id 5 && ip -n "$b" link add link w1 name w1.5 type vlan id 5; then
	ip -n "$a" link set w0.5 up
	ip -n "$b" link set w1.5 up
	ip -n "$a" addr add 10.5.0.1/24 dev w0.5
	ip -n "$b" addr add 10.5.0.2/24 dev w1.5
	check "VLAN: data arrives" transfer 10.5.0.2 300000
	gated "VLAN" 10.5.0.2 802.1q
else
	skip "VLAN" "no VLAN devices"
fi

# ---- a flow's end, alone, is where it was in the network, too: behind the last chain, P4

if exact; then
	count_dscp "$b/w1" ip
	for dscp in 24 56; do
		tc -n "$b" filter add dev w1 ingress pref $dscp protocol ip flower ip_proto tcp tcp_flags 1/1 \
			ip_tos $((dscp << 2))/0xfc action pass
	done
	check "an end: data arrives" transfer 10.0.0.2 300000
	check_json "$(counted_dscp "$b/w1")" "an end has the priority of what went before" '. == [1, 0]'
fi
check_json "$(pcrp_stats "$b/w1")" \
	"the receiver knows of nothing more to come" '.rx_flows == 0 and .rx_granted == 0' \
	"it has granted, and to one at a time" '.grants_sent > 100 and .rx_granted_peak == 1' \
	"all that it heard of made sense" '.rx_malformed == 0 and .rx_overflow == 0'
check_eq "in order" "$(netstat "$b" TCPOFOQueue)" 0
check_eq "nothing was sent twice" "$(netstat "$a" TCPLostRetransmit) $(netstat "$a" TCPTimeouts)" "0 0"

# ---- UDP

# what b says of port 9, for which there is nobody, makes some fail
check_to "$TMP/sent" "datagrams leave" traffic udp -n "$a" -d 10.0.0.2 -p 9 -c 200 -l 1400
read -r _ sent _ <"$TMP/sent"
check "all $sent arrive" wait_for 10 no_ports "$sent"
check "many did" [ "$sent" -ge 50 ]
check_json "$(pcrp_stats "$a/w0")" "nothing was dropped" \
	'.drops == 0 and .dropped_limit_packets == 0 and .dropped_nomem_packets == 0'

# ---- a map that leaves DSCPs as they are

tc -n "$a" qdisc change dev w0 root pcrp map off
count_dscp "$b/w1" ip 0
check "map off: data arrives" transfer 10.0.0.2 300000
check_json "$(counted_dscp "$b/w1")" "map off: DSCPs are left as they are" '.[0] > 100'
finish

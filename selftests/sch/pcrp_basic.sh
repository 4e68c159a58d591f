#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# TCP and UDP flows between two hosts with sch_pcrp over IPv4, IPv6 and VLANs: all data arrives in order, chain by
# chain, with the priorities of first and granted chains in the DSCP. GSO packets are not segmented.
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

# no_ports COUNT: has b received COUNT datagrams for ports without a socket?
no_ports() {
	[ "$(ip netns exec "$b" cat /proc/net/snmp | awk '/^Udp: [0-9]/ { print $3 }')" -ge "$1" ]
}

# ---- the first flow learns that the peer answers

check "first flow: data arrives" transfer 10.0.0.2 300000
check_json "$(pcrp_stats "$a/w0")" \
	"first flow: the peer is counted as answering" '.peers == 1 and .peers_answering == 1 and .peers_silent == 0' \
	"first flow: a REQUEST is sent" '.requests_sent > 0' \
	"first flow: it begins ungated" '.flows_ungated >= 1 and .flows_started == .flows_finished' \
	"the chain size is the configured one" ".chain_bytes == $chain" \
	"the rate is the device's" '.rate_Bps == 1250000000'

# ---- later flows are gated

# test_gated NAME ADDRESS PROTOCOL: send 3 MB. In real time, pauses of the sender may split them into several flows, most of
# whose data is in the first chain.
test_gated() {
	local before after name=$1 flows='>=' granted=0 chains=1
	! exact || { flows='==' && granted=1000 && chains=10; }
	count_dscp "$b/w1" "$3" 0 56 24
	before=$(pcrp_stats "$a/w0")
	check "$name: data arrives" transfer "$2" 3000000
	after=$(pcrp_stats "$a/w0")
	check_json "$(counted_dscp "$b/w1")" \
		"$name: each packet is marked" '.[0] == 0' \
		"$name: ACKs and control packets have CS7" '.[1] > 0' \
		"$name: granted chains have CS3" ".[2] > $granted"
	check_json "[$before,$after]" \
		"$name: the first chain is speculative" ".[1].chains_speculative $flows .[0].chains_speculative + 1" \
		"$name: later chains are granted" \
		"(.[1].chains_granted - .[0].chains_granted) as \$n | \$n >= $chains and \$n <= 3000000 / $chain" \
		"$name: no chain is overdue" '.[1].chains_overdue == 0' \
		"$name: the first chain has one of P0 to P3, later chains have P4" '(.[1].prio_packets[0:4] | add) >
			(.[0].prio_packets[0:4] | add) and .[1].prio_packets[4] > .[0].prio_packets[4]
			and .[1].prio_packets[5:] == .[0].prio_packets[5:]' \
		"$name: GSO packets are not segmented" \
		'.[1].packets - .[0].packets > 4 * ([.[1], .[0] | .prio_packets | add] | .[0] - .[1])' \
		"$name: no packet stays queued" '.[1].qlen == 0 and .[1].backlog == 0 and .[1].flows_waiting == 0'
}
test_gated "IPv4" 10.0.0.2 ip
check "IPv6, first flow: data arrives" transfer fd00::2 300000
test_gated "IPv6" fd00::2 ipv6
if ip -n "$a" link add link w0 name w0.5 type vlan id 5 && ip -n "$b" link add link w1 name w1.5 type vlan id 5; then
	ip -n "$a" link set w0.5 up
	ip -n "$b" link set w1.5 up
	ip -n "$a" addr add 10.5.0.1/24 dev w0.5
	ip -n "$b" addr add 10.5.0.2/24 dev w1.5
	check "VLAN, first flow: data arrives" transfer 10.5.0.2 300000
	test_gated "VLAN" 10.5.0.2 802.1q
else
	skip "VLAN: data arrives" "no VLAN devices"
fi

# ---- a FIN without data has the priority of the last chain, P4, and so stays behind it in the network

if exact; then
	count_dscp "$b/w1" ip
	for dscp in 24 56; do
		tc -n "$b" filter add dev w1 ingress pref $dscp protocol ip flower ip_proto tcp tcp_flags 1/1 \
			ip_tos $((dscp << 2))/0xfc action pass
	done
	check "FIN without data: data arrives" transfer 10.0.0.2 300000
	check_json "$(counted_dscp "$b/w1")" "a FIN without data has the priority of the last chain" '. == [1, 0]'
fi
grants=1
! exact || grants=100
check_json "$(pcrp_stats "$b/w1")" \
	"the receiver has no unfinished flow" '.rx_flows == 0 and .rx_granted == 0' \
	"the receiver granted one flow at a time" ".grants_sent >= $grants and .rx_granted_peak == 1" \
	"the receiver counts no malformed control packet" '.rx_malformed == 0 and .rx_overflow == 0'
check_eq "TCP segments arrive in order" "$(netstat "$b" TCPOFOQueue)" 0
check_eq "TCP retransmits no segment" "$(netstat "$a" TCPLostRetransmit) $(netstat "$a" TCPTimeouts)" "0 0"

# ---- UDP

# some calls fail with ICMP errors, as b has no socket at port 9
check_to "$TMP/sent" "UDP: datagrams leave" traffic udp -n "$a" -d 10.0.0.2 -p 9 -c 200 -l 1400
read -r _ sent _ <"$TMP/sent"
check "UDP: all $sent sent datagrams arrive" wait_for 10 no_ports "$sent"
check "UDP: at least 50 datagrams are sent" [ "$sent" -ge 50 ]
check_json "$(pcrp_stats "$a/w0")" "UDP: no packet is dropped" \
	'.drops == 0 and .dropped_limit_packets == 0 and .dropped_nomem_packets == 0'

# ---- map off

tc -n "$a" qdisc change dev w0 root pcrp map off
count_dscp "$b/w1" ip 0
check "map off: data arrives" transfer 10.0.0.2 300000
check_json "$(counted_dscp "$b/w1")" "map off: DSCPs are unchanged" '.[0] > 100'
finish

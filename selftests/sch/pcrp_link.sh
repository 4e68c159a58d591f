#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# sch_pcrp on devices of all kinds. If the two ends can exchange control packets, flows wait for GRANTs and are marked.
# Otherwise all packets pass unchanged.
# shellcheck disable=SC2317 # functions are called through check and wait_for
#
#	+--------- a ---------+     +--------- b ---------+
#	| device: pcrp -- w0  |=====| w1 -- device: pcrp  |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_sch pcrp
need_closwire
setup_ns a b
# several devices of a host are in one Ethernet; each must answer ARP for its own address only
for ns in "$a" "$b"; do
	ip netns exec "$ns" sysctl -qw net.ipv4.conf.all.arp_ignore=1
done
wire_ab rate 10gbit delay 5us
. "$(dirname "$0")/../lib/pcrp_pair.sh"

# pair DEVICE ADDRESS: set up DEVICE in a and b with the addresses 10.ADDRESS.0.1 and 10.ADDRESS.0.2
pair() {
	local ns n=0
	for ns in "$a" "$b"; do
		n=$((n + 1))
		ip -n "$ns" link set "$1" up
		ip -n "$ns" addr add "10.$2.0.$n/24" dev "$1"
	done
}

# begin FROM TO: add pcrp to both devices
CHAIN=20000
begin() {
	pcrp_new "$1" chain $CHAIN
	pcrp_new "$2" chain $CHAIN
}

# end FROM TO: check that both are idle, and remove pcrp
end() {
	check "$what: all flows finish at both ends" wait_for 5 settled "$@"
	local at
	for at; do
		tc -n "${at%/*}" qdisc del dev "${at#*/}" clsact 2>/dev/null || true
		tc -n "${at%/*}" qdisc del dev "${at#*/}" root 2>/dev/null || true
	done
}

# test_gated WHAT FROM TO ADDRESS PROTOCOL: the first connection learns that the peer answers, the second one waits for
# GRANTs. DSCPs are counted at TO in frames of PROTOCOL. In real time, the peer may count as silent for a while.
test_gated() {
	local what=$1 from=$2 to=$3 before
	begin "$from" "$to"
	check "$what: data of a first flow arrives" transfer "$4" 300000
	count_dscp "$to" "$5" 0 56 24
	before=$(pcrp_stats "$from")
	check "$what: data of a second flow arrives" transfer "$4" 1000000
	check_json "[$before,$(pcrp_stats "$from")]" \
		"$what: both flows are counted" '.[0].flows_started >= 1 and .[1].flows_started > .[0].flows_started' \
		"$what: the peer counts as answering" '.[1].peers_answering == 1' \
		"$what: chains are granted" '.[1].chains_speculative > .[0].chains_speculative and
			.[1].chains_granted > .[0].chains_granted'
	check_json "$(pcrp_stats "$to")" "$what: the receiver gets REQUESTs and sends GRANTs" \
		'.rx_requests >= 1 and .grants_sent >= 1 and .rx_malformed == 0'
	! exact || check_eq "$what: the second flow is gated" "$(pcrp_count "$from" ungated_packets)" \
		"$(value_of ungated_packets "$before")"
	! exact || check_json "$(counted_dscp "$to")" "$what: each packet is marked" '.[0] == 0'
	check_json "$(counted_dscp "$to")" \
		"$what: ACKs and control packets have CS7" '.[1] > 0' \
		"$what: granted chains have CS3" '.[2] > 0'
	end "$from" "$to"
}

# test_ungated WHAT FROM TO ADDRESS PROTOCOL: the receiver cannot parse REQUESTs, so flows are ungated
test_ungated() {
	local what=$1 from=$2 to=$3
	begin "$from" "$to"
	count_dscp "$to" "$5" 0 24
	check "$what: data arrives" transfer "$4" 300000 300000
	check_json "$(pcrp_stats "$from")" \
		"$what: flows are counted" '.flows_started >= 2 and .requests_sent >= 1' \
		"$what: all flows are ungated" '.flows_ungated == .flows_started and .chains_granted == 0' \
		"$what: no packet is marked" '.ungated_packets > 0 and ([.prio_packets[]] | add) == 0'
	check_json "$(pcrp_stats "$to")" "$what: the receiver counts no REQUEST" '.rx_requests == 0 and .rx_malformed == 0'
	check_json "$(counted_dscp "$to")" "$what: DSCPs are unchanged" '.[0] > 100 and .[1] == 0'
	end "$from" "$to"
}

# vlans LOWER ID OPTION...: create VLAN devices on LOWER in a and b
vlans() {
	ip -n "$a" link add link "w0${1#w}" name "w.$2" type vlan id "$2" "${@:3}" &&
		ip -n "$b" link add link "w1${1#w}" name "w.$2" type vlan id "$2" "${@:3}"
}

# ---- tags

# with these settings, the VLAN devices insert the tag into the frame instead of the skb's metadata
in_ns "$a" ethtool -K w0 txvlan off >/dev/null
in_ns "$b" ethtool -K w1 txvlan off >/dev/null
if vlans w 5 reorder_hdr off; then
	pair w.5 5
	test_gated "VLAN tag in the frame" "$a/w0" "$b/w1" 10.5.0.2 802.1q
	test_gated "VLAN device" "$a/w.5" "$b/w.5" 10.5.0.2 ip
	ip -n "$a" link del w.5
	ip -n "$b" link del w.5
else
	skip "VLAN device" "no VLAN devices"
fi
in_ns "$a" ethtool -K w0 txvlan on >/dev/null
in_ns "$b" ethtool -K w1 txvlan on >/dev/null
if vlans w 7 protocol 802.1ad; then
	ip -n "$a" link set w.7 up
	ip -n "$b" link set w.7 up
	for ns in "$a" "$b"; do
		ip -n "$ns" link add link w.7 name w.7.8 type vlan id 8
	done
	pair w.7.8 7
	test_ungated "two VLAN tags" "$a/w0" "$b/w1" 10.7.0.2 802.1ad
	test_gated "VLAN device on a VLAN device" "$a/w.7.8" "$b/w.7.8" 10.7.0.2 ip
else
	skip "VLAN device on a VLAN device" "no VLAN devices"
fi

# ---- without a link-layer header

# tunnel KIND ADDRESS
tunnel() {
	if ip -n "$a" link add "t$2" type "$1" local 10.0.0.1 remote 10.0.0.2 2>/dev/null; then
		ip -n "$b" link add "t$2" type "$1" local 10.0.0.2 remote 10.0.0.1
		pair "t$2" "$2"
		test_gated "$1" "$a/t$2" "$b/t$2" "10.$2.0.2" ip
	else
		skip "$1" "no $1 devices"
	fi
}
tunnel ipip 9
tunnel gre 10
tunnel gretap 11

ip -n "$a" link set lo up
CHAIN=200000 b=$a test_gated "lo" "$a/lo" "$a/lo" 127.0.0.1 ip

# ---- upper devices and their ports

if ip -n "$a" link add link w0 name mv type macvlan mode bridge 2>/dev/null; then
	ip -n "$b" link add link w1 name mv type macvlan mode bridge
	pair mv 12
	test_gated "macvlan" "$a/mv" "$b/mv" 10.12.0.2 ip
	ip -n "$a" link del mv
	ip -n "$b" link del mv
else
	skip "macvlan" "no macvlan devices"
fi

# over KIND ADDRESS OPTION...: make w0 and w1 ports of a new device
over() {
	local kind=$1 address=$2 ns w=w0
	shift 2
	if ! ip -n "$a" link add up0 address $MAC_A type "$kind" "$@" 2>/dev/null; then
		skip "$kind" "no $kind devices"
		return
	fi
	ip -n "$b" link add up0 address $MAC_B type "$kind" "$@"
	for ns in "$a" "$b"; do
		ip -n "$ns" link set $w down
		ip -n "$ns" link set $w master up0
		ip -n "$ns" link set $w up
		w=w1
	done
	pair up0 "$address"
	wait_for 5 has_carrier "$a" w0
	test_gated "$kind" "$a/up0" "$b/up0" "10.$address.0.2" ip
	test_gated "port of a $kind" "$a/w0" "$b/w1" "10.$address.0.2" ip
	ip -n "$a" link del up0
	ip -n "$b" link del up0
}
over bridge 13 mcast_snooping 0
over bond 14 mode active-backup
finish

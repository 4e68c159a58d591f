#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What a receiver's stack makes of the checksum of a trimmed datagram, whoever was
# to compute it: with match udp_port there is none, and nothing is wrong with the
# packet, for UDP as for conntrack; with match all it is wrong, and no socket
# takes the packet for a whole one.
#
#	+--------- a ---------+     +--------- b ---------+
#	| socket -> v0: ndp   |=====| v1 -> UDP           |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_ndp
setup_ns a b
link_ab

snmp() { in_ns "$b" nstat -asz | awk -v n="$1" '$1 == n { print $2 }'; }
# shellcheck disable=SC2317 # wait_for calls it
arrived() { [ "$(rx_packets)" -ge $((before + 20)) ]; }

# datagrams WRONG RIGHT MATCH...: of 20, 1 leaves, 1 waits and 18 are trimmed; so many are WRONG or RIGHT for UDP
datagrams() {
	local wrong right before want="$1 wrong, $2 right" match=$3
	ndp limit 1 hlimit 100000 rate 1kbit match "${@:3}"
	before=$(rx_packets)
	wrong=$(snmp UdpInCsumErrors) right=$(snmp UdpNoPorts)
	traffic udp -n "$a" -d 10.0.0.2 -p 61199 -l 1400 -c 20 >/dev/null
	check_json "$(sch_stats)" "match $match, $offload: 18 are trimmed" '.header.qlen_packets == 18'
	tc -n "$a" qdisc change dev v0 root ndp rate 0
	check "match $match, $offload: all arrive" wait_for 10 arrived
	check_eq "match $match, $offload: $want" \
		"$(($(snmp UdpInCsumErrors) - wrong)) wrong, $(($(snmp UdpNoPorts) - right)) right" "$want"
}

for offload in on off; do
	ip netns exec "$a" ethtool -K v0 tx-checksumming $offload >/dev/null
	offload="checksum offload $offload"
	datagrams 0 20 udp_port 61199
	datagrams 18 2 all
	datagrams 18 2 dscp be
done
finish

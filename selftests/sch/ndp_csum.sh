#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The UDP checksum of trimmed datagrams at the receiver, with and without checksum
# offload. With match udp_port, ndp removes the checksum, so that UDP and conntrack
# accept the packet. With match all or dscp, the checksum is wrong, so that no
# socket mistakes a trimmed packet for a whole one.
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

# datagrams WRONG RIGHT MATCH...: send 20 datagrams, 18 of them are trimmed; UDP finds a wrong checksum in WRONG
# datagrams and accepts RIGHT
datagrams() {
	local wrong right before expected="$1 wrong, $2 right" match=$3
	ndp limit 1 hlimit 100000 rate 1kbit match "${@:3}"
	before=$(rx_packets)
	wrong=$(snmp UdpInCsumErrors) right=$(snmp UdpNoPorts)
	traffic udp -n "$a" -d 10.0.0.2 -p 61199 -l 1400 -c 20 >/dev/null
	check_json "$(sch_stats)" "match $match, $offload: 18 of 20 datagrams are trimmed" '.header.qlen_packets == 18'
	tc -n "$a" qdisc change dev v0 root ndp rate 0
	check "match $match, $offload: all datagrams arrive" wait_for 10 arrived
	check_eq "match $match, $offload: UDP counts checksums as $expected" \
		"$(($(snmp UdpInCsumErrors) - wrong)) wrong, $(($(snmp UdpNoPorts) - right)) right" "$expected"
}

for offload in on off; do
	ip netns exec "$a" ethtool -K v0 tx-checksumming $offload >/dev/null
	offload="checksum offload $offload"
	datagrams 0 20 udp_port 61199
	datagrams 18 2 all
	datagrams 18 2 dscp be
done
finish

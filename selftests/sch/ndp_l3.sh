#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# On a device without a link-layer header, packets are trimmed but not returned,
# as they have no addresses to exchange. The receiver's stack accepts each header
# as a correct, short datagram.
#
#	+----------- a -----------+     +----------- b -----------+
#	| socket -> t0: ndp -> v0 |=====| v1 -> t1 -> UDP         |
#	+-------------------------+     +-------------------------+
#	   t0, t1: IP in IP
. "$(dirname "$0")/../lib/lib.sh"
need_ndp
setup_ns a b
link_ab
ip -n "$a" link add t0 type ipip local 10.0.0.1 remote 10.0.0.2 || skip_all "no IPIP devices"
ip -n "$b" link add t1 type ipip local 10.0.0.2 remote 10.0.0.1
ip -n "$a" link set t0 up
ip -n "$b" link set t1 up
ip -n "$a" addr add 10.5.0.1/24 dev t0
# b has no route back and so sends no reply
ip -n "$b" addr add 10.5.0.2/32 dev t1

# snmp PROTOCOL FIELD: a counter of b's stack
# shellcheck disable=SC2016 # awk expands
snmp() {
	ip netns exec "$b" awk -v p="$1:" -v f="$2" '
		$1 == p && !n { for (n = 2; $n != f; n++); next }
		$1 == p { print $n }' /proc/net/snmp
}

tc -n "$a" qdisc add dev t0 root ndp limit 4 hlimit 2000 rate 1kbit
before=$(snmp Udp NoPorts)
check "40 datagrams without a checksum are sent" traffic udp -n "$a" -d 10.5.0.2 -p 61199 -l 1000 -c 40 -z
stats=$(tc -n "$a" -s -j qdisc show dev t0)
check_json "$stats" \
	"of 40 datagrams, 1 is sent, 4 are queued and 35 trimmed" '.[0].packets == 1 and .[0].data.qlen_packets == 4 and
		.[0].trimmed_arrival_packets + .[0].trimmed_tail_packets == 35' \
	"packets are trimmed to 128 bytes from the IP header on" '.[0].trimmed_bytes == 35 * (1028 - 128)' \
	"15 headers are queued, 20 are dropped, none is returned" '.[0].header.qlen_packets == 15 and
		.[0].dropped_header_packets == 20 and .[0].returned_packets == 0'
tc -n "$a" qdisc change dev t0 root ndp rate 0
# shellcheck disable=SC2317 # wait_for calls it
delivered() { [ $(($(snmp Udp NoPorts) - before)) -eq 20 ]; }
check "the receiver's UDP counts 20 datagrams" wait_for 10 delivered
check_eq "the receiver's stack counts no error" \
	"$(snmp Ip InHdrErrors) $(snmp Udp InErrors) $(snmp Udp InCsumErrors)" "0 0 0"
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# ECN-capable packets of other traffic are marked CE while at least other_ecn bytes
# are queued. Packets without ECT and NDP packets are never marked.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> v0: ndp   |=====| v1 -> capture       |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_ndp
setup_ns a b
link_ab

# marked FROM TO: number of marked frames with an index from FROM to TO
marked() {
	awk -v from="$1" -v to="$2" '$2 >= from && $2 <= to && $3 == "marked" { n++ } END { print n + 0 }' "$TMP/result"
}

ndp other_ecn 5000 rate 1kbit
check_to "$TMP/result" "other_ecn 5000: all frames leave whole or marked" \
	send_frames -s "$a/v0" -c "in=$b/v1/in/33" -x "tc -n $a -s -j qdisc show dev v0 >$TMP/stats; $(release)" \
	"$PLUG" tcp4,ecn=2,n=10 tcp4,ecn=0,n=5 tcp6,ecn=1,n=5 tcp6,ecn=0,n=5 raw,n=2 udp4,ecn=2,n=5
check_eq "ECT(0) packets are marked when 5000 bytes are queued" "$(marked 1 5) $(marked 6 10)" "0 5"
check_eq "IPv4 packets without ECT are not marked" "$(marked 11 15)" 0
check_eq "IPv6 packets with ECT(1) are marked" "$(marked 16 20)" 5
check_eq "IPv6 without ECT, non-IP and NDP packets are not marked" "$(marked 21 99)" 0
check_json "$(<"$TMP/stats")" "ecn_marked_packets counts each mark" '.[0].ecn_marked_packets == 10'

ndp rate 1kbit
check_to "$TMP/result" "other_ecn 0: all frames leave" \
	send_frames -s "$a/v0" -c "in=$b/v1/in/21" -x "$(release)" "$PLUG" tcp4,ecn=2,n=20
check_eq "other_ecn 0: no packet is marked" "$(marked 0 99)" 0
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Other traffic that can be marked is marked CE from other_ecn bytes on; what
# cannot is left alone, and so is NDP.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> v0: ndp   |=====| v1 -> capture       |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_ndp
setup_ns a b
link_ab

# variants: how often each variant came, by the frame's spec
marked() { awk -v from="$1" -v to="$2" '$2 >= from && $2 <= to && $3 == "marked" { n++ } END { print n + 0 }' "$TMP/result"; }

ndp other_ecn 5000 rate 1kbit
check_to "$TMP/result" "all frames come out, whole or marked" \
	send_frames -s "$a/v0" -c "in=$b/v1/in/33" -x "tc -n $a -s -j qdisc show dev v0 >$TMP/stats; $(release)" \
	"$PLUG" tcp4,ecn=2,n=10 tcp4,ecn=0,n=5 tcp6,ecn=1,n=5 tcp6,ecn=0,n=5 raw,n=2 udp4,ecn=2,n=5
check_eq "ECT(0): the first 5000 bytes are not marked, the rest is" "$(marked 1 5) $(marked 6 10)" "0 5"
check_eq "not ECT: never marked" "$(marked 11 15)" 0
check_eq "ECT(1), IPv6: marked" "$(marked 16 20)" 5
check_eq "not ECT, IPv6; not IP; NDP: never marked" "$(marked 21 99)" 0
check_json "$(<"$TMP/stats")" "the counter says so" '.[0].ecn_marked_packets == 10'

ndp rate 1kbit
check_to "$TMP/result" "other_ecn 0: all frames come out" \
	send_frames -s "$a/v0" -c "in=$b/v1/in/21" -x "$(release)" "$PLUG" tcp4,ecn=2,n=20
check_eq "and none is marked" "$(marked 0 99)" 0
finish

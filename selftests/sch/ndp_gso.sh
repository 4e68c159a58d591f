#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# GSO packets of NDP traffic are segmented, and their frames are queued, trimmed
# and counted one by one, with all bytes correct. GSO packets of other traffic are
# not segmented.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> v0: ndp   |=====| v1 -> capture       |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_ndp
setup_ns a b
link_ab
. "$(dirname "$0")/../lib/sch_queue.sh"

ndp
find_kinds
for kind in "${kinds[@]}"; do
	ndp limit 100 hlimit 1000000 match all rate 1kbit
	check_to "$TMP/result" "GSO of $kind: 24 segments leave" \
		send_frames -k -s "$a/v0" -c "in=$b/v1/in/25" \
		-x "tc -n $a -s -j qdisc show dev v0 >$TMP/stats; $(release)" \
		"$PLUG" "$(gso_frame "$kind"),n=3"
	check_eq "GSO of $kind: each segment is whole if the queue has room" \
		"$(awk '$3 == "whole" { n++ } END { print n }' "$TMP/result")" 25
	check_json "$(<"$TMP/stats")" "GSO of $kind: segments are counted one by one" \
		'.[0].qlen == 24 and .[0].data.qlen_packets == 24 and .[0].backlog == .[0].data.backlog_bytes'
	ndp limit 3 hlimit 1000000 match all rate 1kbit
	check_to "$TMP/result" "GSO of $kind: 24 segments leave a queue of 3 packets" \
		send_frames -k -s "$a/v0" -c "in=$b/v1/in/25" -x "$(release)" \
		"$PLUG" "$(gso_frame "$kind"),n=3"
	check_eq "GSO of $kind: 21 segments are trimmed in a queue of 3 packets" \
		"$(awk '$3 == "trimmed" { n++ } END { print n }' "$TMP/result")" 21
done

ndp match udp_port 61199 rate 1kbit
check "a GSO packet of other traffic is sent" send_frames -s "$a/v0" \
	-x "tc -n $a -s -j qdisc show dev v0 >$TMP/stats; $(release)" "$PLUG" "$(gso_frame tcp4)"
check_json "$(<"$TMP/stats")" "a GSO packet of other traffic is queued as one packet" \
	'.[0].other.qlen_packets == 1 and .[0].qlen == 1'

# UDP GSO from a UDP socket, which all kernels have
ndp limit 10 hlimit 1000000 rate 1kbit
check "a UDP socket sends with GSO" traffic udp -n "$a" -d 10.0.0.2 -p 61199 -c 6 -g 10 -l 1000
check_json "$(sch_stats)" "of 60 GSO datagrams, 1 is sent, 10 are queued and 49 trimmed" \
	'.packets == 1 and .data.qlen_packets == 10 and .header.qlen_packets == 49'
finish

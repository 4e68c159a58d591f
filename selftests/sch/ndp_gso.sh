#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# GSO packets of NDP traffic are segmented and queued as frames, right in each
# byte, trimmed or whole, and counted one by one; those of other traffic stay
# whole.
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
	check_to "$TMP/result" "$kind: 24 segments come out whole" \
		send_frames -k -s "$a/v0" -c "in=$b/v1/in/25" \
		-x "tc -n $a -s -j qdisc show dev v0 >$TMP/stats; $(release)" \
		"$PLUG" "$(super "$kind"),n=3"
	check_eq "$kind: all whole" "$(awk '$3 == "whole" { n++ } END { print n }' "$TMP/result")" 25
	check_json "$(<"$TMP/stats")" "$kind: each is counted" \
		'.[0].qlen == 24 and .[0].data.qlen_packets == 24 and .[0].backlog == .[0].data.backlog_bytes'
	ndp limit 3 hlimit 1000000 match all rate 1kbit
	check_to "$TMP/result" "$kind: 24 segments come out, 3 whole, 21 trimmed" \
		send_frames -k -s "$a/v0" -c "in=$b/v1/in/25" -x "$(release)" \
		"$PLUG" "$(super "$kind"),n=3"
	check_eq "$kind: 21 trimmed" "$(awk '$3 == "trimmed" { n++ } END { print n }' "$TMP/result")" 21
done

ndp match udp_port 61199 rate 1kbit
check "other traffic is queued as it is" send_frames -s "$a/v0" \
	-x "tc -n $a -s -j qdisc show dev v0 >$TMP/stats; $(release)" "$PLUG" "$(super tcp4)"
check_json "$(<"$TMP/stats")" "one packet" '.[0].other.qlen_packets == 1 and .[0].qlen == 1'

# UDP GSO of a socket, which all kernels have
ndp limit 10 hlimit 1000000 rate 1kbit
check "a socket's UDP GSO" traffic udp -n "$a" -d 10.0.0.2 -p 61199 -c 6 -g 10 -l 1000
check_json "$(sch_stats)" "60 datagrams: 1 sent, 10 wait, 49 trimmed" \
	'.packets == 1 and .data.qlen_packets == 10 and .header.qlen_packets == 49'
finish

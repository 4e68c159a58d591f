#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The limit is exact to the byte, the shaper to the frame, and all counters have
# their calculated values. GSO packets are segmented before they are queued.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> v0: dcqcn |=====| v1 -> capture       |
#	|  capture <-'        |     |                     |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_dcqcn
setup_ns a b
link_ab
. "$(dirname "$0")/../lib/sch_queue.sh"
. "$(dirname "$0")/../lib/sch_rate.sh"

what="limit"
dcqcn limit 9500 kmin 5000 kmax 6000 rate 1kbit
run 10 udp4,ecn=2,n=8 udp4,ecn=2,dscp=40,n=2 udp4,ecn=2,dscp=40,len=501 udp4,ecn=2,dscp=40,len=500 udp4,ecn=2,len=64,n=3
check_json "$full" \
	"limit 9500 admits 9 packets of 1000 bytes and one of 500" '.qlen == 10 and .backlog == 9500' \
	"5 packets above the limit are dropped" '.dropped_limit_packets == 5 and .drops == 5' \
	"a shaper of 1 kbit/s sends the first packet only" '.packets == 1 and .bytes == 9000' \
	"peak_bytes reaches the limit" '.peak_bytes == 9500' \
	"packets that arrive above kmax are marked, dropped ones are not counted" '.marked_packets | . == 3 or . == 4'
check_json "$empty" \
	"the queue drains when the shaper is off" '.qlen == 0 and .backlog == 0' \
	"all admitted packets are sent" '.packets == 11 and .bytes == 18500' \
	"drops at the limit have no other reason" '[.dropped_nonect_packets, .dropped_headroom_packets,
		.dropped_stalled_packets, .dropped_nomem_packets, .dropped_gso_packets] == [0, 0, 0, 0, 0]' \
	"a qdisc without a pool shows no pool" 'has("pool") | not' \
	"a qdisc without a pool shows no priorities" '.prio == []'

# ---- GSO

dcqcn
find_kinds
for kind in "${kinds[@]}"; do
	what="GSO of $kind"
	dcqcn kmin 10000 kmax 10000 rate 1kbit
	run 24 "$(gso_frame "$kind"),ecn=2,n=3"
	# 9 full frames are less than 10000 bytes, 10 are more: the eleventh frame is the first to be marked
	check_eq "$what: segments are marked one by one" \
		"$(sort -k2n "$TMP/result" | awk '$2 > 0 { printf "%s", substr($3, 1, 1) }')" wwwwwwwwwwmmmmmmmmmmmmmm
	check_json "$full" "$what: each marked segment is counted" \
		'.qlen == 24 and .marked_packets == 14'
	dcqcn limit 9000 rate 1kbit
	run 8 "$(gso_frame "$kind"),ecn=2,n=2"
	check_json "$full" "$what: segments are dropped one by one" \
		'.qlen == 8 and .drops == 8 and .dropped_limit_packets == 8'
done

# UDP GSO from a UDP socket, which all kernels have
dcqcn limit 20000 rate 1kbit
check "a UDP socket sends with GSO" traffic udp -n "$a" -d 10.0.0.2 -p 9 -c 6 -g 10 -l 1000
check_json "$(sch_stats)" "of 60 GSO datagrams, 1 is sent, 19 are queued and 40 dropped" \
	'.packets == 1 and .qlen == 19 and .drops == 40'

# ---- the shaper

dcqcn rate 10mbit
test_rate "10 Mbit/s, 1000 bytes" 10000000 1000 udp4,len=1000
dcqcn rate 40mbit overhead 256
test_rate "40 Mbit/s, 2000 + 256 bytes" 40000000 2256 udp4,len=2000
test_rate_changes limit 100kb
finish

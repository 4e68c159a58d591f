#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each limit holds to the packet and the byte, and all counters are exactly
# those of a calculation by hand.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> v0: ndp   |=====| v1 -> capture       |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_ndp
setup_ns a b
link_ab
. "$(dirname "$0")/../lib/sch_queue.sh"

what="limit and hlimit"
ndp limit 4 hlimit 1280 rate 1kbit
run 14 udp4,n=34
check_json "$full" \
	"data queue" '.data.qlen_packets == 4 and .data.backlog_bytes == 4000' \
	"header queue" '.header.qlen_packets == 10 and .header.backlog_bytes == 1280' \
	"total" '.qlen == 14 and .backlog == 5280' \
	"trimmed" '.trimmed_arrival_packets + .trimmed_tail_packets == 30' \
	"the coin falls on both sides" '.trimmed_arrival_packets > 0 and .trimmed_tail_packets > 0' \
	"trimmed bytes" '.trimmed_bytes == 30 * (1000 - 128)' \
	"dropped" '.dropped_header_packets == 20 and .drops == 20' \
	"sent: the plug" '.data.sent_packets == 1 and .data.sent_bytes == 9000 and .packets == 1'
check_json "$empty" \
	"empty again" '.qlen == 0 and .backlog == 0 and .data.qlen_packets == 0 and .header.qlen_packets == 0' \
	"and no byte left" '.data.backlog_bytes == 0 and .header.backlog_bytes == 0' \
	"peaks" '.data.peak_packets == 4 and .header.peak_packets == 10 and .header.peak_bytes == 1280' \
	"the plug was the peak in bytes" '.data.peak_bytes == 9000' \
	"data sent" '.data.sent_packets == 5 and .data.sent_bytes == 13000' \
	"headers sent" '.header.sent_packets == 10 and .header.sent_bytes == 1280' \
	"all sent" '.packets == 15 and .bytes == 14280'

what="limit_bytes"
ndp limit 100 limit_bytes 9500 hlimit 100000 mode cp rate 1kbit
run 14 udp4,n=11 udp4,len=500 udp4,len=1000,n=2
check_json "$full" \
	"9 packets of 1000 bytes fit into 9500, and one of 500" \
	'.data.backlog_bytes == 9500 and .data.qlen_packets == 10 and .header.qlen_packets == 4' \
	"nothing is dropped" '.drops == 0'

what="hlimit to the byte"
ndp limit 1 hlimit 1000 rate 1kbit
run 11 udp4 udp4,len=100,n=9 udp4,len=101 udp4,len=90 udp4,len=64 udp4,len=60,ecn=1
check_json "$full" \
	"900 bytes of control, 90 more fit, then nothing does" \
	'.header.qlen_packets == 10 and .header.backlog_bytes == 990 and .dropped_header_packets == 3'

what="other_limit"
ndp other_limit 5000 rate 1kbit
run 5 tcp4,n=8
check_json "$full" \
	"5 of 8 packets fit" '.other.qlen_packets == 5 and .other.backlog_bytes == 5000' \
	"3 are dropped" '.dropped_other_packets == 3 and .drops == 3'

what="control packets are not returned"
ndp hlimit 500 rts rate 1kbit
run 5 udp4,len=100,n=8
check_json "$full" \
	"5 fit, 3 are dropped" '.header.qlen_packets == 5 and .dropped_header_packets == 3 and .returned_packets == 0'
finish

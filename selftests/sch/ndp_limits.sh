#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each limit is exact to the packet or byte, and all counters have their
# calculated values.
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
	"limit 4: the data queue has 4 packets" '.data.qlen_packets == 4 and .data.backlog_bytes == 4000' \
	"hlimit 1280: the header queue has 1280 bytes" '.header.qlen_packets == 10 and .header.backlog_bytes == 1280' \
	"qlen and backlog are the sums of the queues" '.qlen == 14 and .backlog == 5280' \
	"packets above limit are trimmed" '.trimmed_arrival_packets + .trimmed_tail_packets == 30' \
	"arrivals as well as tails are trimmed" '.trimmed_arrival_packets > 0 and .trimmed_tail_packets > 0' \
	"trimmed_bytes counts the removed bytes" '.trimmed_bytes == 30 * (1000 - 128)' \
	"headers above hlimit are dropped" '.dropped_header_packets == 20 and .drops == 20' \
	"a shaper of 1 kbit/s sends the first packet only" \
	'.data.sent_packets == 1 and .data.sent_bytes == 9000 and .packets == 1'
check_json "$empty" \
	"the queues drain to zero packets" \
	'.qlen == 0 and .backlog == 0 and .data.qlen_packets == 0 and .header.qlen_packets == 0' \
	"the queues drain to zero bytes" '.data.backlog_bytes == 0 and .header.backlog_bytes == 0' \
	"peaks are the limits" '.data.peak_packets == 4 and .header.peak_packets == 10 and .header.peak_bytes == 1280' \
	"peak_bytes includes the first packet of 9000 bytes" '.data.peak_bytes == 9000' \
	"all queued data packets are sent" '.data.sent_packets == 5 and .data.sent_bytes == 13000' \
	"all queued headers are sent" '.header.sent_packets == 10 and .header.sent_bytes == 1280' \
	"packets and bytes count data and headers" '.packets == 15 and .bytes == 14280'

what="limit_bytes"
ndp limit 100 limit_bytes 9500 hlimit 100000 mode cp rate 1kbit
run 14 udp4,n=11 udp4,len=500 udp4,len=1000,n=2
check_json "$full" \
	"limit_bytes 9500 admits 9 packets of 1000 bytes and one of 500" \
	'.data.backlog_bytes == 9500 and .data.qlen_packets == 10 and .header.qlen_packets == 4' \
	"limit_bytes drops no packet" '.drops == 0'

what="hlimit to the byte"
ndp limit 1 hlimit 1000 rate 1kbit
run 11 udp4 udp4,len=100,n=9 udp4,len=101 udp4,len=90 udp4,len=64 udp4,len=60,ecn=1
check_json "$full" \
	"hlimit 1000 admits 9 control packets of 100 bytes and one of 90" \
	'.header.qlen_packets == 10 and .header.backlog_bytes == 990 and .dropped_header_packets == 3'

what="other_limit"
ndp other_limit 5000 rate 1kbit
run 5 tcp4,n=8
check_json "$full" \
	"other_limit 5000 admits 5 packets of 1000 bytes" '.other.qlen_packets == 5 and .other.backlog_bytes == 5000' \
	"packets above other_limit are dropped" '.dropped_other_packets == 3 and .drops == 3'

what="control packets with rts"
ndp hlimit 500 rts rate 1kbit
run 5 udp4,len=100,n=8
check_json "$full" \
	"control packets above hlimit are dropped, not returned" \
	'.header.qlen_packets == 5 and .dropped_header_packets == 3 and .returned_packets == 0'
finish

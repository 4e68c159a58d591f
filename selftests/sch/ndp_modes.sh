#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Mode cp: one FIFO, the arrival is trimmed when `limit` full packets wait.
# Mode droptail: one FIFO of `limit` packets, arrivals are dropped. Switching
# the mode while packets wait loses none that fits.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> v0: ndp   |=====| v1                  |
#	|  capture <-'        |     |                     |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_ndp
setup_ns a b
link_ab

# left: index and variant of what left behind the plug, in its order
left() { awk '$2 > 0 { printf "%s%s%s", s, $2, substr($3, 1, 1); s = " " }' "$TMP/result"; }

# run COUNT COMMAND FRAME...: while plugged, COMMAND is run
run() {
	local count=$1 command=$2
	shift 2
	check_to "$TMP/result" "$mode: $count frames leave" \
		send_frames -s "$a/v0" -c "out=$a/v0/out/$((count + 1))" \
		-x "$command tc -n $a -s -j qdisc show dev v0 >$TMP/stats; $(release)" "$PLUG" "$@"
}

mode="cp"
ndp mode cp limit 3 hlimit 750 rate 1kbit
# 3 data, control, 2 trimmed, control, 2 trimmed, then no room for headers
run 9 '' udp4,n=3 udp4,len=100 udp4,n=2 udp4,len=100 udp4,n=4
check_eq "one FIFO; trimmed when 3 full packets wait; headers bounded" \
	"$(left)" "1w 2w 3w 4w 5t 6t 7w 8t 9t"
check_json "$(<"$TMP/stats")" \
	"trimmed: the arrival, always" '.[0].trimmed_arrival_packets == 6 and .[0].trimmed_tail_packets == 0' \
	"2 headers are dropped, none returned" '.[0].dropped_header_packets == 2 and .[0].returned_packets == 0' \
	"data and headers are counted apart" '.[0].data.qlen_packets == 3 and .[0].header.qlen_packets == 6' \
	"header bytes" '.[0].header.backlog_bytes == 4 * 128 + 200'

mode=droptail
ndp mode droptail limit 4 rate 1kbit
run 4 '' udp4,n=2 udp4,len=100 udp4,n=3 udp4,len=100
check_eq "one FIFO of 4 packets; arrivals are dropped" "$(left)" "1w 2w 3w 4w"
check_json "$(<"$TMP/stats")" \
	"nothing is trimmed" '.[0].trimmed_arrival_packets + .[0].trimmed_tail_packets == 0' \
	"drops" '.[0].dropped_data_packets == 2 and .[0].dropped_header_packets == 1 and .[0].drops == 3'

ndp mode droptail limit 100 limit_bytes 9500 rate 1kbit
run 11 '' udp4,n=9 udp4,len=400 udp4,len=200 udp4,len=100
check_eq "limit_bytes" "$(left)" "1w 2w 3w 4w 5w 6w 7w 8w 9w 10w 12w"

mode="ndp, then cp"
ndp limit 3 rate 1kbit
run 6 "tc -n $a qdisc change dev v0 root ndp mode cp limit 8;" udp4,n=3 udp4,len=100,n=3
check_eq "headers stand first" "$(left)" "4w 5w 6w 1w 2w 3w"
mode="cp, then ndp"
ndp mode cp limit 3 ratio 2 rate 1kbit
run 6 "tc -n $a qdisc change dev v0 root ndp mode ndp;" udp4,n=3 udp4,len=100,n=3
check_eq "headers overtake" "$(left)" "4w 5w 1w 6w 2w 3w"
finish

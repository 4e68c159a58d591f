#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Mode cp: one FIFO; arrivals are trimmed while `limit` full packets are queued.
# Mode droptail: one FIFO of `limit` packets; arrivals above it are dropped.
# Changing the mode keeps all queued packets that fit.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> v0: ndp   |=====| v1                  |
#	|  capture <-'        |     |                     |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_ndp
setup_ns a b
link_ab

# left: index and variant of the frames after the plug, in the order of leaving
left() { awk '$2 > 0 { printf "%s%s%s", s, $2, substr($3, 1, 1); s = " " }' "$TMP/result"; }

# run COUNT COMMAND FRAME...: queue the frames, run COMMAND, then let COUNT frames leave
run() {
	local count=$1 command=$2
	shift 2
	check_to "$TMP/result" "$mode: $count frames leave" \
		send_frames -s "$a/v0" -c "out=$a/v0/out/$((count + 1))" \
		-x "$command tc -n $a -s -j qdisc show dev v0 >$TMP/stats; $(release)" "$PLUG" "$@"
}

mode="cp"
ndp mode cp limit 3 hlimit 750 rate 1kbit
# 3 data, control, 2 trimmed, control, 2 trimmed; then the header queue is full
run 9 '' udp4,n=3 udp4,len=100 udp4,n=2 udp4,len=100 udp4,n=4
check_eq "mode cp is one FIFO that trims above limit and drops above hlimit" \
	"$(left)" "1w 2w 3w 4w 5t 6t 7w 8t 9t"
check_json "$(<"$TMP/stats")" \
	"mode cp trims arrivals only" '.[0].trimmed_arrival_packets == 6 and .[0].trimmed_tail_packets == 0' \
	"mode cp drops headers above hlimit" '.[0].dropped_header_packets == 2 and .[0].returned_packets == 0' \
	"mode cp counts data and headers separately" '.[0].data.qlen_packets == 3 and .[0].header.qlen_packets == 6' \
	"mode cp counts bytes of trimmed and control packets as headers" '.[0].header.backlog_bytes == 4 * 128 + 200'

mode=droptail
ndp mode droptail limit 4 rate 1kbit
run 4 '' udp4,n=2 udp4,len=100 udp4,n=3 udp4,len=100
check_eq "mode droptail is one FIFO that drops arrivals above limit" "$(left)" "1w 2w 3w 4w"
check_json "$(<"$TMP/stats")" \
	"mode droptail trims no packet" '.[0].trimmed_arrival_packets + .[0].trimmed_tail_packets == 0' \
	"mode droptail counts drops of data and control packets" \
	'.[0].dropped_data_packets == 2 and .[0].dropped_header_packets == 1 and .[0].drops == 3'

ndp mode droptail limit 100 limit_bytes 9500 rate 1kbit
run 11 '' udp4,n=9 udp4,len=400 udp4,len=200 udp4,len=100
check_eq "mode droptail drops arrivals above limit_bytes" "$(left)" "1w 2w 3w 4w 5w 6w 7w 8w 9w 10w 12w"

mode="ndp, then cp"
ndp limit 3 rate 1kbit
run 6 "tc -n $a qdisc change dev v0 root ndp mode cp limit 8;" udp4,n=3 udp4,len=100,n=3
check_eq "a change from mode ndp to cp puts queued headers first" "$(left)" "4w 5w 6w 1w 2w 3w"
mode="cp, then ndp"
ndp mode cp limit 3 ratio 2 rate 1kbit
run 6 "tc -n $a qdisc change dev v0 root ndp mode ndp;" udp4,n=3 udp4,len=100,n=3
check_eq "after a change from mode cp to ndp, queued headers overtake data" "$(left)" "4w 5w 1w 6w 2w 3w"
finish

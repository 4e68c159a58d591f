#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# While headers and data are queued, `ratio` headers leave for each data packet.
# If only one queue has packets, they leave without delay.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> v0: ndp   |=====| v1                  |
#	|  capture <-'        |     |                     |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_ndp
setup_ns a b
link_ab

# order: the frames after the plug as they left, H for a header, D for data
order() { awk '$2 > 0 { printf "%s", $2 <= 8 ? "D" : "H" }' "$TMP/result"; }

# repeat TEXT N
repeat() { printf "%.0s$1" $(seq "$2"); }

# run RATIO HEADERS: queue 8 data packets and HEADERS headers, then let them leave
run() {
	ndp ratio "$1" hlimit 100000 rate 1kbit
	check_to "$TMP/result" "ratio $1: 8 data packets and $2 headers leave" \
		send_frames -s "$a/v0" -c "out=$a/v0/out/$((9 + $2))" -x "$(release)" \
		"$PLUG" udp4,n=8 "udp4,len=100,n=$2"
}

run 10 60
check_eq "ratio 10: 10 headers leave for each data packet" "$(order)" "$(repeat HHHHHHHHHHD 6)DD"
run 1 12
check_eq "ratio 1: 1 header leaves for each data packet" "$(order)" "$(repeat HD 8)HHHH"
run 3 24
check_eq "ratio 3: 3 headers leave for each data packet" "$(order)" "$(repeat HHHD 8)"
run 100000 30
check_eq "ratio 100000: headers have strict priority" "$(order)" "$(repeat H 30)DDDDDDDD"

ndp limit 8 ratio 10 hlimit 100000 match all rate 1kbit
check_to "$TMP/result" "28 packets leave, 20 of them trimmed" \
	send_frames -k -s "$a/v0" -c "out=$a/v0/out/29" -x "$(release)" "$PLUG" udp4,n=28
check_eq "ratio 10: 10 trimmed packets leave for each data packet" \
	"$(awk '$2 > 0 { printf "%s", $3 == "trimmed" ? "H" : "D" }' "$TMP/result")" \
	"$(repeat HHHHHHHHHHD 2)DDDDDD"
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# While headers and data both wait, `ratio` headers leave for each data packet;
# when only one kind waits, nothing is held back.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> v0: ndp   |=====| v1                  |
#	|  capture <-'        |     |                     |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_ndp
setup_ns a b
link_ab

# order: the frames as they left: H for a header, D for data; not the plug
order() { awk '$2 > 0 { printf "%s", $2 <= 8 ? "D" : "H" }' "$TMP/result"; }

# repeat TEXT N
repeat() { printf "%.0s$1" $(seq "$2"); }

# run RATIO HEADERS: 8 data packets and HEADERS headers wait, then leave
run() {
	ndp ratio "$1" hlimit 100000 rate 1kbit
	check_to "$TMP/result" "ratio $1, $2 headers: all leave" \
		send_frames -s "$a/v0" -c "out=$a/v0/out/$((9 + $2))" -x "$(release)" \
		"$PLUG" udp4,n=8 "udp4,len=100,n=$2"
}

run 10 60
check_eq "10 headers for each data packet" "$(order)" "$(repeat HHHHHHHHHHD 6)DD"
run 1 12
check_eq "1 header for each data packet" "$(order)" "$(repeat HD 8)HHHH"
run 3 24
check_eq "3 headers for each data packet" "$(order)" "$(repeat HHHD 8)"
run 100000 30
check_eq "strict priority" "$(order)" "$(repeat H 30)DDDDDDDD"

ndp ratio 10 hlimit 100000 match all rate 1kbit
check_to "$TMP/result" "trimmed headers overtake data" \
	send_frames -k -s "$a/v0" -c "out=$a/v0/out/29" -x "$(release)" "$PLUG" udp4,n=28
check_eq "20 headers, 8 data packets, 10 to 1" \
	"$(awk '$2 > 0 { printf "%s", $3 == "trimmed" ? "H" : "D" }' "$TMP/result")" \
	"$(repeat HHHHHHHHHHD 2)DDDDDD"
finish

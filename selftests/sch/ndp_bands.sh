#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# With bands, data of a higher IP precedence leaves first, and the newest packet of the lowest band is trimmed first.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> v0: ndp   |=====| v1                  |
#	|  capture <-'        |     |                     |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_ndp
setup_ns a b
link_ab

# run NAME OPTIONS COUNT FRAME...: queue FRAMEs, of which COUNT packets leave
run() {
	# shellcheck disable=SC2086 # words
	ndp $2 hlimit 100000 rate 1kbit
	check_to "$TMP/result" "$1: $3 packets leave" \
		send_frames -s "$a/v0" -c "out=$a/v0/out/$(($3 + 1))" -x "$(release)" "$PLUG" "${@:4}"
}
# order: numbers of the frames after the plug as they left, a trimmed one with a T
order() { awk '$2 > 0 { printf "%s%s ", $2, $3 == "trimmed" ? "T" : "" }' "$TMP/result"; }

frames=("udp4,dscp=0,n=2" "udp4,dscp=8,n=2" "udp4,dscp=24,n=2" "udp4,dscp=7")
run "one band" "bands 1" 7 "${frames[@]}"
check_eq "one band: packets leave in the order of arrival" "$(order)" "1 2 3 4 5 6 7 "
run "four bands" "bands 4" 7 "${frames[@]}"
check_eq "four bands: precedence 3, 1 and 0 leave in this order" "$(order)" "5 6 3 4 1 2 7 "
run "two bands" "bands 2" 7 "${frames[@]}"
check_eq "two bands: precedences from 1 on share a band" "$(order)" "3 4 5 6 1 2 7 "
run "a full queue" "bands 4 limit 4" 6 udp4,dscp=0,n=2 udp4,dscp=8,n=2 udp4,dscp=24,n=2
check_eq "a full queue: the newest packets of the lowest band are trimmed" "$(order)" "2T 1T 5 6 3 4 "
run "a lower arrival" "bands 4 limit 4" 6 udp4,dscp=24,n=4 udp4,dscp=8,n=2
check_eq "a lower arrival: it is trimmed" "$(order)" "5T 6T 1 2 3 4 "
run "mode cp" "mode cp bands 4" 7 "${frames[@]}"
check_eq "mode cp has no bands" "$(order)" "1 2 3 4 5 6 7 "

# while packets wait
ndp bands 1 rate 1kbit
check_to "$TMP/result" "packets leave after a change of bands" \
	send_frames -s "$a/v0" -c "out=$a/v0/out/8" -x \
	"tc -n $a qdisc change dev v0 root ndp bands 4 && tc -n $a qdisc change dev v0 root ndp bands 2 rate 0" \
	"$PLUG" "${frames[@]}"
check_eq "packets that waited in one band keep their order" "$(order)" "1 2 3 4 5 6 7 "
finish

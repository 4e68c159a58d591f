#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What is NDP's and what is not: UDP port, DSCP list, all; never a fragment, a
# multicast, what is not IP; and what a mark, dscp_trimmed or dscp_returned, adds.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> v0: ndp   |=====| v1 -> capture       |
#	+---------------------+     +---------------------+
#
# Mode cp with one full packet waiting: NDP's data comes out trimmed, other
# traffic whole.
. "$(dirname "$0")/../lib/lib.sh"
need_ndp
setup_ns a b
link_ab

# run WHAT PLUG FRAMES WANT [OPTION]: WANT has a letter for each frame, t(rimmed) or w(hole); OPTION of send_frames
run() {
	local what=$1 plug=$2 frames=$3 want=$4
	# shellcheck disable=SC2086 # FRAMES are words
	check_to "$TMP/result" "$what: all frames come out" \
		send_frames ${5:-} -s "$a/v0" -c "in=$b/v1/in/$((${#want} + 2))" \
		-x "$(release)" "$plug,len=9000" "$plug" $frames
	check_eq "$what: trimmed are those that match" \
		"$(sort -k2n "$TMP/result" | awk '$2 > 1 { printf "%s", substr($3, 1, 1) }')" "$want"
}

ndp mode cp limit 1 rate 1kbit
run "match udp_port 61199" udp4 "udp4 udp4,port=61198 udp6 udp6,port=1 tcp4 tcp6 raw udp4,vlan=in tcp4,vlan=in" twtwwwwtw
ndp mode cp limit 1 rate 1kbit match udp_port 5000
run "match udp_port 5000" udp4,port=5000 "udp4 udp4,port=5000 udp6,port=5000 udp6 tcp4,port=5000 udp4,dscp=0,port=5000" wttwwt
ndp mode cp limit 1 rate 1kbit match dscp 1,af11,62-63
run "match dscp" udp4,dscp=1 "udp4,dscp=1 udp4,dscp=10 tcp6,dscp=62 tcp4,dscp=63 raw udp6,dscp=61 udp4,dscp=0 udp6,dscp=1" ttttwwwt -k
ndp mode cp limit 1 rate 1kbit match all
run "match all" udp4 "tcp4,port=80 tcp6,port=80 udp4,port=1 udp6,port=1 raw" ttttw -k
ndp mode cp limit 1 rate 1kbit match all
run "never trimmed" udp4 "udp4,frag=1 udp6,frag=1 udp4,mcast=1 udp6,mcast=1 tcp4,frag=1 udp6,frag=1,opt=8 udp4 raw,len=9000" wwwwwwtw -k
ndp mode cp limit 1 rate 1kbit
run "options and extension headers" udp4 "udp4,opt=4 udp4,opt=40 udp6,opt=8 udp6,opt=16 udp6,opt=40" ttttt

# marks WHAT WANT FRAME...: packets that carry dscp_trimmed (20) or
# dscp_returned (21); WANT has a letter for each frame as it comes out, $stats
# is the qdisc while they wait
marks() {
	local what=$1 want=$2
	shift 2
	check_to "$TMP/result" "$what: all frames come out" \
		send_frames -d 20 -r 21 -s "$a/v0" -c "in=$b/v1/in/$((${#want} + 2))" \
		-x "tc -n $a -s -j qdisc show dev v0 >$TMP/stats; $(release)" "$PLUG,dscp=1" udp4,dscp=1 "$@"
	check_eq "$what: long ones that match are data" \
		"$(sort -k2n "$TMP/result" | awk '$2 > 1 { printf "%s", substr($3, 1, 1) }')" "$want"
	stats=$(unwrap <"$TMP/stats")
}

ndp mode cp limit 1 rate 1kbit dscp_trimmed 20 dscp_returned 21
marks "marked, match udp_port" ttwwwww udp4,dscp=20 udp4,dscp=21 udp4,dscp=20,len=100 \
	udp4,port=1,sport=61199,dscp=21,len=100 udp4,port=1,sport=61199,dscp=22,len=100 \
	udp4,port=1,dscp=20 tcp4,dscp=20,len=100
check_json "$stats" \
	"2 trimmed, 1 to and 1 from the port are headers" '.header.qlen_packets == 4' \
	"3 are other traffic" '.other.qlen_packets == 3'
ndp mode cp limit 1 rate 1kbit match dscp 1 dscp_trimmed 20 dscp_returned 21
marks "marked, match dscp" wwwwt tcp4,dscp=20 tcp6,dscp=20,len=100 tcp4,dscp=21,len=100 \
	tcp4,dscp=2,len=100 tcp4,dscp=1
check_json "$stats" \
	"1 trimmed and 2 short ones are headers" '.header.qlen_packets == 3' \
	"2 are other traffic" '.other.qlen_packets == 2'
finish

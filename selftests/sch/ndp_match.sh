#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Which packets are NDP traffic: match by UDP port, DSCP list or all, but never
# fragments, multicasts or non-IP packets. The marks dscp_trimmed and dscp_returned
# add packets that a switch has trimmed or returned.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> v0: ndp   |=====| v1 -> capture       |
#	+---------------------+     +---------------------+
#
# With mode cp and one full packet queued, NDP data leaves trimmed, other traffic
# whole.
. "$(dirname "$0")/../lib/lib.sh"
need_ndp
setup_ns a b
link_ab

# run WHAT PLUG FRAMES EXPECTED [OPTION]: EXPECTED has a letter for each frame, t(rimmed) or w(hole); OPTION is for
# send_frames
run() {
	local what=$1 plug=$2 frames=$3 expected=$4
	# shellcheck disable=SC2086 # FRAMES are words
	check_to "$TMP/result" "$what: all frames leave" \
		send_frames ${5:-} -s "$a/v0" -c "in=$b/v1/in/$((${#expected} + 2))" \
		-x "$(release)" "$plug,len=9000" "$plug" $frames
	check_eq "$what: exactly the matching frames are trimmed" \
		"$(sort -k2n "$TMP/result" | awk '$2 > 1 { printf "%s", substr($3, 1, 1) }')" "$expected"
}

ndp mode cp limit 1 rate 1kbit
run "match udp_port 61199" udp4 \
	"udp4 udp4,port=61198 udp6 udp6,port=1 tcp4 tcp6 raw udp4,vlan=in tcp4,vlan=in" twtwwwwtw
ndp mode cp limit 1 rate 1kbit match udp_port 5000
run "match udp_port 5000" udp4,port=5000 \
	"udp4 udp4,port=5000 udp6,port=5000 udp6 tcp4,port=5000 udp4,dscp=0,port=5000" wttwwt
ndp mode cp limit 1 rate 1kbit match dscp 1,af11,62-63
run "match dscp" udp4,dscp=1 \
	"udp4,dscp=1 udp4,dscp=10 tcp6,dscp=62 tcp4,dscp=63 raw udp6,dscp=61 udp4,dscp=0 udp6,dscp=1" ttttwwwt -k
ndp mode cp limit 1 rate 1kbit match all
run "match all" udp4 "tcp4,port=80 tcp6,port=80 udp4,port=1 udp6,port=1 raw" ttttw -k
ndp mode cp limit 1 rate 1kbit match all
run "match all with fragments, multicasts and non-IP" udp4 \
	"udp4,frag=1 udp6,frag=1 udp4,mcast=1 udp6,mcast=1 tcp4,frag=1 udp6,frag=1,opt=8 udp4 raw,len=9000" wwwwwwtw -k
ndp mode cp limit 1 rate 1kbit
run "options and extension headers" udp4 "udp4,opt=4 udp4,opt=40 udp6,opt=8 udp6,opt=16 udp6,opt=40" ttttt

# run_marked WHAT EXPECTED FRAME...: dscp_trimmed is 20 and dscp_returned 21;
# EXPECTED has a letter for each frame as it leaves, $stats is the state of the
# qdisc while they are queued
run_marked() {
	local what=$1 expected=$2
	shift 2
	check_to "$TMP/result" "$what: all frames leave" \
		send_frames -d 20 -r 21 -s "$a/v0" -c "in=$b/v1/in/$((${#expected} + 2))" \
		-x "tc -n $a -s -j qdisc show dev v0 >$TMP/stats; $(release)" "$PLUG,dscp=1" udp4,dscp=1 "$@"
	check_eq "$what: exactly the long matching frames are trimmed" \
		"$(sort -k2n "$TMP/result" | awk '$2 > 1 { printf "%s", substr($3, 1, 1) }')" "$expected"
	stats=$(unwrap <"$TMP/stats")
}

ndp mode cp limit 1 rate 1kbit dscp_trimmed 20 dscp_returned 21
run_marked "match udp_port with DSCPs 20 and 21" ttwwwww udp4,dscp=20 udp4,dscp=21 udp4,dscp=20,len=100 \
	udp4,port=1,sport=61199,dscp=21,len=100 udp4,port=1,sport=61199,dscp=22,len=100 \
	udp4,port=1,dscp=20 tcp4,dscp=20,len=100
check_json "$stats" \
	"match udp_port: trimmed, short and returned packets are in the header queue" '.header.qlen_packets == 4' \
	"match udp_port: packets to other ports are other traffic, unless returned" '.other.qlen_packets == 3'
ndp mode cp limit 1 rate 1kbit match dscp 1 dscp_trimmed 20 dscp_returned 21
run_marked "match dscp with DSCPs 20 and 21" wwwwt tcp4,dscp=20 tcp6,dscp=20,len=100 tcp4,dscp=21,len=100 \
	tcp4,dscp=2,len=100 tcp4,dscp=1
check_json "$stats" \
	"match dscp: a trimmed packet and short packets with a mark are in the header queue" '.header.qlen_packets == 3' \
	"match dscp: long packets with a mark, and other DSCPs, are other traffic" '.other.qlen_packets == 2'
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# ndp as a child of other qdiscs: while packets are queued, each ancestor has the
# same qlen and backlog. Both are zero after the packets have left and after ndp
# was replaced under load, and each lost packet is counted.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> v0: tree  |=====| v1                  |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_ndp
setup_ns a b
VETH=(numtxqueues 4)
link_ab

. "$(dirname "$0")/../lib/sch_tree.sh"

super=tcp4,csum=partial,gso=1000,len=8054
# 105 packets, 24 of them GSO segments, overload the data queue, the header queue and other traffic
TREE_LOAD=("$PLUG" "udp4,n=40" "udp4,len=100,n=20" "raw,len=500,n=20" "$super,n=3")
TREE_PACKETS=105
TREE_ACCOUNTED=".packets + .returned_packets + .drops"
TREE_CLOSED="rts limit 8 hlimit 3000 other_limit 5000 mode ndp match all rate 1kbit"
TREE_OPEN="match all"
TREE_NARROW=("limit 4 hlimit 500 other_limit 1200" "mode cp")

test_trees

# first_packet NAME OPTIONS LEFT FRAME: ndp changes the first packet before ancestors two levels above have counted it;
# LEFT packets leave
first_packet() {
	local name=$1 options=$2 left=$3
	shift 3
	tc -n "$a" qdisc del dev v0 root 2>/dev/null || true
	rm -f "$TMP/shows"
	in_tree "qdisc add dev v0 root handle 1: htb default 1" \
		"class add dev v0 parent 1: classid 1:1 htb rate 1gbit" \
		"qdisc add dev v0 parent 1:1 handle 2: prio" \
		"qdisc add dev v0 parent 2:1 ndp match all $options" \
		"qdisc add dev v0 parent 2:2 ndp match all $options" \
		"qdisc add dev v0 parent 2:3 ndp match all $options"
	check "$name: the first packet is sent" send_frames -s "$a/v0" "$@"
	wait_for 10 drained || true
	in_tree "qdisc show dev v0"
	check_json "$(wrap "$TMP/shows")" \
		"$name: qlen and backlog are zero at each level" "$(zero 0)" \
		"$name: number of packets that left ($left)" "[.[0][] | select(.kind == \"ndp\") | .packets] | add == $left"
}
first_packet "first packet trimmed" "limit_bytes 64 hlimit 10000" 1 udp4
first_packet "first packet, one segment of many admitted" "mode droptail limit 1 rate 8kbit" 1 "$super"
first_packet "first packet, some segments trimmed" "limit_bytes 1054 hlimit 10000" 8 "$super"

test_shaped
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dcqcn as a child of other qdiscs: while packets are queued, each ancestor has
# the same qlen and backlog. Both are zero after the packets have left and after
# dcqcn was replaced under load, and each lost packet is counted.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> v0: tree  |=====| v1                  |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_dcqcn
setup_ns a b
VETH=(numtxqueues 4)
link_ab
. "$(dirname "$0")/../lib/sch_tree.sh"

# 105 packets, 24 of them GSO segments: more than the limit, and some without ECT, which nonect drops
# shellcheck disable=SC2034 # for sch_tree.sh
{
	TREE_LOAD=("$PLUG" "udp4,ecn=2,n=30" "udp4,ecn=0,n=20" "udp6,ecn=2,dscp=40,len=100,n=20" "raw,len=500,n=10"
		"tcp4,ecn=2,csum=partial,gso=1000,len=8054,n=3")
	TREE_PACKETS=105
	TREE_ACCOUNTED=".packets + .drops"
	TREE_CLOSED="limit 40000 kmin 5000 kmax 20000 nonect drop rate 1kbit"
	TREE_OPEN="limit 10mb"
	TREE_NARROW=("limit 5000" "prio 5")
}
test_trees
test_shaped
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# roce as a child of other qdiscs: while packets are queued, each ancestor has
# the same qlen and backlog. Both are zero after the packets have left and after
# roce was replaced under load, and each lost packet is counted.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> v0: tree  |=====| v1                  |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_roce
setup_ns a b
VETH=(numtxqueues 4)
link_ab
. "$(dirname "$0")/../lib/sch_tree.sh"

# 91 packets of two queue pairs and of other traffic, more than qp_limit and other_limit
# shellcheck disable=SC2034 # for sch_tree.sh
{
	TREE_LOAD=("$PLUG" "udp4,port=4791,n=30" "udp4,ecn=0,n=20" "udp6,port=4791,len=100,n=30" "raw,len=500,n=10")
	TREE_PACKETS=91
	TREE_ACCOUNTED=".packets + .drops"
	TREE_CLOSED="qp_limit 20 other_limit 25 rate 1kbit"
	TREE_OPEN="qp_limit 1000 other_limit 1000"
	TREE_NARROW=("limit 5" "rpg_max_rate 1mbit idle 1ms")
}
test_trees
test_shaped
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# pcrp as a child of other qdiscs: while packets are queued, each ancestor has the
# same qlen and backlog. Both are zero after the packets have left, with REQUESTs
# that pcrp created, and after pcrp was replaced under load.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> v0: tree  |=====| v1                  |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_sch pcrp
setup_ns a b
VETH=(numtxqueues 4)
link_ab
ip -n "$a" addr add 203.0.113.1/32 dev v0 # source of the frames
. "$(dirname "$0")/../lib/sch_tree.sh"

# Each frame is a flow. Flows of more than 5000 bytes send a REQUEST.
# shellcheck disable=SC2034 # for sch_tree.sh
{
	TREE_LOAD=("$PLUG" "udp4,n=40" "udp4,dscp=8,len=100,n=20" "udp6,len=100,n=20" "raw,len=500,n=10"
		"tcp4,csum=partial,gso=1000,len=8054,n=3")
	TREE_PACKETS=94	# GSO packets are not segmented
	TREE_ACCOUNTED="(.prio_packets | add) + .top_packets + .ungated_packets + .drops - .requests_sent - .probes_sent"
	TREE_CLOSED="first 5000 flows 16384 rate 1kbit"
	TREE_OPEN="first 5000 flows 16384"
	TREE_NARROW=("limit 5" "chain 5000 flows 16384")
}

test_trees
test_shaped
finish

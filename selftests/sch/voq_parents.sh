#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# voq as a child of other qdiscs: while packets are queued, each ancestor has the same qlen and backlog. Both are zero
# after the packets have left and after voq was replaced under load, and each lost packet is counted.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> v0: tree  |=====| v1                  |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_voq
setup_ns a b
VETH=(numtxqueues 4)
link_ab
. "$(dirname "$0")/../lib/sch_tree.sh"

# 91 packets of three VOQs: IPv4, IPv6 and no IP; more than voq_limit
# shellcheck disable=SC2034 # for sch_tree.sh
{
	TREE_LOAD=("$PLUG" "udp4,n=30" "udp4,ecn=0,n=20" "udp6,len=100,n=30" "raw,len=500,n=10")
	TREE_PACKETS=91
	TREE_ACCOUNTED=".packets + .drops"
	TREE_CLOSED="voq_limit 20 rate 1kbit"
	TREE_OPEN="voq_limit 1000"
	TREE_NARROW=("limit 5" "voq_rate 1mbit quantum 256")
}
test_trees
test_shaped
# packets with one VOQ for all: the rest waits in the queue without VOQ
# shellcheck disable=SC2034 # for sch_tree.sh
{
	TREE_CLOSED="queues 1 voq_limit 20 rate 1kbit"
	TREE_NARROW=("limit 5")
}
tree "one VOQ, at the root" root --
tree "one VOQ, tbf" "parent 1:" -- "qdisc add dev v0 root handle 1: tbf rate 1gbit burst 100kb limit 10mb"
# shellcheck disable=SC2034 # for sch_tree.sh
TREE_CLOSED="grant rate 1kbit limit 60"
tree "grant, at the root" root --
tree "grant, tbf" "parent 1:" -- "qdisc add dev v0 root handle 1: tbf rate 1gbit burst 100kb limit 10mb"
finish

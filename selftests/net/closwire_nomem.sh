#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Memory allocation failures in closwire: a pair is made completely or refused, frames are dropped and counted, and no
# memory leaks. Needs a kernel with failslab.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> w0        |=====| w1                  |
#	|   mirror '> dummy   |     |                     |
#	+---------------------+     +---------------------+
#
# The mirror clones each packet, so that the receiver must copy headers.
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
. "$(dirname "$0")/../lib/failslab.sh"
setup_ns a b
fail_only closwire

# pairs: try to make ten pairs and print how many were made
pairs() {
	local i made=0
	for ((i = 0; i < 10; i++)); do
		if ip link add w0 netns "$a" type closwire peer name w1 netns "$b" 2>/dev/null; then
			made=$((made + 1))
			ip -n "$a" link del w0
		elif ip -n "$a" link show w0 >/dev/null 2>&1 || ip -n "$b" link show w1 >/dev/null 2>&1; then
			echo "half a pair"
		fi
	done
	echo $made
}
set_failslab probability=100
check_eq "no pair is made without memory" "$(pairs)" 0
set_failslab probability=3
note "$(pairs) of 10 pairs made with 3 % of failures"
set_failslab probability=0
check_eq "all pairs are made with memory" "$(pairs)" 10

WIRE=(mtu 9000)
wire_ab rate 10gbit
ip -n "$a" link add d0 type dummy
ip -n "$a" link set d0 up
tc -n "$a" qdisc add dev w0 clsact
tc -n "$a" filter add dev w0 egress matchall action mirred egress mirror dev d0
for probability in 100 30; do
	before=$(packets "$b/w1" rx_packets)
	dropped=$(($(counter "$a/w0" tx_dropped_nomem) + $(counter "$b/w1" rx_dropped_nomem)))
	set_failslab probability=$probability
	check "frames are sent while $probability % of allocations fail" send_frames -s "$a/w0" udp4,n=60 \
		tcp4,csum=partial,gso=1000,len=8054,n=20
	set_failslab probability=0
	after=$(packets "$b/w1" rx_packets)
	lost=$(($(counter "$a/w0" tx_dropped_nomem) + $(counter "$b/w1" rx_dropped_nomem) - dropped))
	check "$lost drops are counted while $probability % of allocations fail" test $lost -gt 0
	# a GSO packet of 8 frames that cannot be segmented is one drop
	check "each of 220 frames arrives or is a drop while $probability % of allocations fail" \
		test $((after - before + lost)) -le 220 -a $((after - before + 8 * lost)) -ge 220
done
check "all frames arrive after allocation failures" send_frames -s "$a/w0" -c "in=$b/w1/in/20" udp4,n=20
finish

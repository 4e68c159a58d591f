#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# When memory cannot be had, a REQUEST is not sent, which is counted, and its flow goes on; the qdisc is made or
# refused but never in between; nothing leaks and the accounting stays right. Needs a kernel with failslab.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> v0: pcrp  |=====| v1                  |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_sch pcrp
. "$(dirname "$0")/../lib/failslab.sh"
setup_ns a b
link_ab
ip -n "$a" addr add 203.0.113.1/32 dev v0 # of the frames
fail_only sch_pcrp

# only in a process that asks for it
set_failslab task-filter=Y
frames=20
# five REQUESTs, and then the peer is asked no more: with 80 %, one in 3000 runs has no failure
for probability in 100 80; do
	what="$probability % fail"
	tc -n "$a" qdisc replace dev v0 root handle 1: pcrp first 256
	before=$(rx_packets)
	set_failslab probability=$probability
	check "$what: frames are sent" failing send_frames -s "$a/v0" udp4,len=1000,n=$frames
	set_failslab probability=0
	wait_for 10 drained || true
	check_json "$(sch_stats)" \
		"$what: counted" '.dropped_nomem_packets > 0' \
		"$what: no packet of a flow is dropped" '.drops == 0' \
		"$what: accounting is at zero" '.qlen == 0 and .backlog == 0'
	check "$what: all frames arrive" [ $(($(rx_packets) - before)) -ge $frames ]
	tc -n "$a" qdisc del dev v0 root
done

# made: tries to make ten; prints how many there are
made() {
	local i made=0
	for ((i = 0; i < 10; i++)); do
		if failing tc -n "$a" qdisc add dev v0 root pcrp 2>/dev/null; then
			made=$((made + 1))
			tc -n "$a" qdisc del dev v0 root
		fi
	done
	echo $made
}
# GFP_KERNEL, too
set_failslab ignore-gfp-wait=N probability=100
check_eq "no memory: no qdisc" "$(made)" 0
set_failslab probability=30
note "$(made) of 10 made with 30 % of failures"
set_failslab probability=0
check_eq "with memory: all" "$(made)" 10
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# If an allocation fails, the REQUEST is not sent but counted, and its flow continues. The qdisc is created completely
# or not at all. No memory leaks, and the accounting stays correct. Needs a kernel with failslab.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> v0: pcrp  |=====| v1                  |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_sch pcrp
. "$(dirname "$0")/../lib/failslab.sh"
setup_ns a b
link_ab
ip -n "$a" addr add 203.0.113.1/32 dev v0 # source of the frames
fail_only sch_pcrp

# only in processes that `failing` starts
set_failslab task-filter=Y
frames=20
# After five REQUESTs the peer counts as silent. With 80 %, one run in 3000 has no failure.
for probability in 100 80; do
	what="$probability % of allocations fail"
	tc -n "$a" qdisc replace dev v0 root handle 1: pcrp first 256
	before=$(rx_packets)
	set_failslab probability=$probability
	check "$what: frames are sent" failing send_frames -s "$a/v0" udp4,len=1000,n=$frames
	set_failslab probability=0
	wait_for 10 drained || true
	check_json "$(sch_stats)" \
		"$what: unsent REQUESTs are counted" '.dropped_nomem_packets > 0' \
		"$what: no packet of a flow is dropped" '.drops == 0' \
		"$what: qlen and backlog return to zero" '.qlen == 0 and .backlog == 0'
	check "$what: all frames arrive" [ $(($(rx_packets) - before)) -ge $frames ]
	tc -n "$a" qdisc del dev v0 root
done

test_created qdisc
finish

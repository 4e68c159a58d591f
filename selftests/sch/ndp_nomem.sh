#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# If an allocation fails, the packet is dropped and counted. No memory leaks, and
# the accounting stays correct. Needs a kernel with failslab.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> v0: ndp   |=====| v1                  |
#	|   mirror '> w0      |=====| w1                  |
#	+---------------------+     +---------------------+
#
# The mirror clones each packet, so that trimming must copy its headers.
. "$(dirname "$0")/../lib/lib.sh"
need_ndp
. "$(dirname "$0")/../lib/failslab.sh"
setup_ns a b
link_ab
mirror_v0

# only in processes that `failing` starts
set_failslab task-filter=Y
fail_only sch_ndp

# drain: let all packets leave, and print the counters
drain() {
	tc -n "$a" qdisc change dev v0 root ndp rate 0
	wait_for 10 drained || true
	sch_stats
}

for probability in 100 30; do
	for mode in ndp cp; do
		what="mode $mode, $probability % of allocations fail"
		ndp mode $mode limit 2 hlimit 2000 match all rate 1kbit
		set_failslab probability=$probability
		check "$what: frames are sent" failing send_frames -s "$a/v0" "$PLUG" \
			tcp4,n=40 udp6,len=9000,csum=partial,lin=94,n=40 tcp4,csum=partial,gso=1000,len=8054,n=40
		set_failslab probability=0
		check_json "$(drain)" \
			"$what: drops without memory are counted" '.dropped_nomem_packets > 0' \
			"$what: qlen and backlog return to zero" \
			'.qlen == 0 and .backlog == 0 and .data.backlog_bytes == 0 and .header.backlog_bytes == 0' \
			"$what: each drop has a reason" \
			'.drops == .dropped_nomem_packets + .dropped_header_packets + .dropped_data_packets +
				.dropped_returned_packets + .dropped_other_packets + .dropped_gso_packets'
	done
done
finish

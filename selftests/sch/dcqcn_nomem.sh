#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# If an allocation fails, packets are dropped and counted, and a pool is created
# completely or not at all. No memory leaks, and the accounting stays correct.
# Needs a kernel with failslab.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> v0: dcqcn |=====| v1                  |
#	|   mirror '> w0      |=====| w1                  |
#	+---------------------+     +---------------------+
#
# The mirror clones each packet, so that marking must copy its headers.
. "$(dirname "$0")/../lib/lib.sh"
need_dcqcn
. "$(dirname "$0")/../lib/failslab.sh"
setup_ns a b
link_ab
mirror_v0
fail_only sch_dcqcn

# only in processes that `failing` starts
set_failslab task-filter=Y
for probability in 100 30; do
	what="$probability % of allocations fail"
	dcqcn kmin 2000 kmax 3000 limit 50000 rate 1kbit
	set_failslab probability=$probability
	check "$what: frames are sent" failing send_frames -s "$a/v0" "$PLUG" \
		tcp4,ecn=2,n=40 udp6,ecn=1,len=9000,csum=partial,lin=94,n=20 tcp4,ecn=2,csum=partial,gso=1000,len=8054,n=20
	set_failslab probability=0
	tc -n "$a" qdisc change dev v0 root dcqcn rate 0
	wait_for 10 drained || true
	check_json "$(sch_stats)" \
		"$what: packets that cannot be marked are counted" '.dropped_nomem_packets > 0' \
		"$what: GSO packets that cannot be segmented are counted" '.dropped_gso_packets > 0' \
		"$what: qlen and backlog return to zero" '.qlen == 0 and .backlog == 0' \
		"$what: each drop has a reason" \
		'.drops == .dropped_nomem_packets + .dropped_gso_packets + .dropped_limit_packets + .dropped_nonect_packets'
done

complete() { jq -e '.pool.ports == 1' <<<"$1" >/dev/null; }
test_created pool pool sw0
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# If an allocation fails, packets pass without ECT, CNPs are missing, and both are counted; a qdisc is created
# completely or not at all. No memory leaks, and the accounting stays correct. Needs a kernel with failslab.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> v0: roce  |=====| v1                  |
#	|   mirror '> w0      |=====| w1                  |
#	+---------------------+     +---------------------+
#
# The mirror clones each packet, so that setting ECT must copy its headers.
. "$(dirname "$0")/../lib/lib.sh"
need_roce
. "$(dirname "$0")/../lib/failslab.sh"
setup_ns a b
link_ab
mirror_v0
fail_only sch_roce

for probability in 100 30; do
	what="$probability % of allocations fail"
	roce rate 0
	set_failslab probability=$probability
	check_to "$TMP/talk" "$what: packets pass" roce_talk -l "$a/v0" -r "$b/v1" out:udp4,ecn=0:qpn=22,n=50,qpns=50 \
		out:udp6,len=3000,lin=62,ecn=0:qpn=22,n=50 in:udp4,ecn=3:op=64,qpn=11,sqpn=5,n=50 wait=5
	set_failslab probability=0
	check_eq "$what: all data leaves" "$(grep -c '^sent .* op=0a' "$TMP/talk")" 100
	check_json "$(sch_stats)" \
		"$what: packets without ECT, and packets and CNPs without memory are counted" \
		'.nomem_packets > 0 and .ect_set_packets < 100' \
		"$what: qlen and backlog return to zero" '.qlen == 0 and .backlog == 0 and .drops == 0'
done
test_created qdisc qps 100
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# When memory cannot be had, packets are dropped and counted; nothing leaks and
# the accounting stays right. Needs a kernel with failslab.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> v0: ndp   |=====| v1                  |
#	|   mirror '> w0      |=====| w1                  |
#	+---------------------+     +---------------------+
#
# The mirror makes each packet a clone, so that trimming must copy its headers.
. "$(dirname "$0")/../lib/lib.sh"
need_ndp
failslab=/sys/kernel/debug/failslab
[ -d $failslab ] || skip_all "no failslab in this kernel"
[ -f $failslab/require-start ] || skip_all "failslab without a stack filter"
text=$(</sys/module/sch_ndp/sections/.text)
[ "$text" != 0x0000000000000000 ] || skip_all "the module's address is hidden"
setup_ns a b
link_ab
mirror_v0

# Only what sch_ndp asks for fails, and only in a process that asks for it.
set_failslab() {
	local word
	for word in "$@"; do
		echo "${word#*=}" >"$failslab/${word%%=*}"
	done
}
defer "set_failslab probability=0"
set_failslab task-filter=Y verbose=0 times=-1 interval=1 stacktrace-depth=32 \
	"require-start=$text" "require-end=$(printf '0x%x' $((text + 0x4000)))"

# shellcheck disable=SC2317 # check calls it
failing() { (echo 1 >/proc/self/make-it-fail && exec "$@"); }

# settled: nothing queued, and each packet is accounted for; prints the counters
settled() {
	tc -n "$a" qdisc change dev v0 root ndp rate 0
	wait_for 10 drained || true
	ndp_stats
}

for probability in 100 30; do
	for mode in ndp cp; do
		what="mode $mode, $probability % fail"
		ndp mode $mode limit 2 hlimit 2000 match all rate 1kbit
		set_failslab probability=$probability
		check "$what: frames are sent" failing ndp_packets -s "$a/v0" "$PLUG" \
			tcp4,n=40 udp6,len=9000,csum=partial,lin=94,n=40 tcp4,csum=partial,gso=1000,len=8054,n=40
		set_failslab probability=0
		counters=$(settled)
		check_json "$counters" \
			"$what: counted" '.dropped_nomem_packets > 0' \
			"$what: accounting is at zero" '.qlen == 0 and .backlog == 0 and .data.backlog_bytes == 0 and .header.backlog_bytes == 0' \
			"$what: drops are those that have a reason" \
			'.drops == .dropped_nomem_packets + .dropped_header_packets + .dropped_data_packets + .dropped_returned_packets + .dropped_other_packets'
	done
done
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# No packet waits longer than hold for want of GRANTs, however many chains of its flow wait before it: so no RTO of TCP
# ends because of sch_pcrp. The peer answers whatever it is asked, and never grants anything.
#
#	+------ a ------+     +----- b -----+
#	| TCP           |=====| v1: pcrp    |
#	| pcrp_talk     |     |             |
#	+---------------+     +-------------+
. "$(dirname "$0")/../lib/lib.sh"
need_sch pcrp
exact || skip_all "the machine is late: pcrp_talk does not answer in time"
setup_ns a b
link_ab
. "$(dirname "$0")/../lib/pcrp.sh"
talk_ab
# a chain is two packets; TCP begins with ten, which take 7 ms
tc -n "$b" qdisc add dev v1 root pcrp chain 10000 first 10000 rate 100mbit
job pcrp_talk -s "$a/v0" answer=10000 wait=1000000 >"$TMP/said"

check "a flow finds out that there is a peer: data arrives" from_b connect send=50000 close eof
check "it answers" wait_for 5 answering

began=${EPOCHREALTIME/./}
check "held packets: data arrives" from_b connect send=85000 close eof
ms=$(((${EPOCHREALTIME/./} - began) / 1000))
check "all waited for hold" [ $ms -ge 100 ]
check "none for twice as long, though they are four chains" [ $ms -lt 200 ]

before=$(sender)
pids=()
for bytes in 300000 400000 500000; do
	from_b -p $((bytes / 100)) connect "send=$bytes" close eof &
	pids+=($!)
done
failed=0
for pid in "${pids[@]}"; do
	wait "$pid" || failed=$((failed + 1))
done
check_eq "a run with long waits: all data arrives" $failed 0
after=$(sender)
check_json "[$before,$after]" \
	"chains were held" '.[1].chains_overdue - .[0].chains_overdue > 20' \
	"all of them until hold was over" '.[1].chains_granted == 0' \
	"no flow went on ungated" '.[1].flows_ungated == .[0].flows_ungated' \
	"nothing is left" '.[1].qlen == 0 and .[1].backlog == 0 and .[1].flows_waiting == 0'
check_eq "no RTO ended" "$(netstat "$b" TCPTimeouts)" 0
check_eq "nothing was sent twice" "$(retransmitted)" 0
check_eq "all came in order" "$(netstat "$a" TCPOFOQueue)" 0
finish

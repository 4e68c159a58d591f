#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# No packet waits for GRANTs longer than hold, even behind many chains of its flow, so that sch_pcrp causes no RTO of
# TCP. The peer answers each REQUEST and PROBE, but grants no chain.
#
#	+------ a ------+     +----- b -----+
#	| TCP           |=====| v1: pcrp    |
#	| pcrp_talk     |     |             |
#	+---------------+     +-------------+
. "$(dirname "$0")/../lib/lib.sh"
need_sch pcrp
exact || skip_all "in real time, pcrp_talk answers too late"
setup_ns a b
link_ab
. "$(dirname "$0")/../lib/pcrp.sh"
talk_ab
# a chain is two packets; TCP begins with ten packets, which take 7 ms
tc -n "$b" qdisc add dev v1 root pcrp chain 10000 first 10000 rate 100mbit
job pcrp_talk -s "$a/v0" answer=10000 wait=1000000 >/dev/null

check "first flow: data arrives" from_b connect send=50000 close eof
check "the peer counts as answering" wait_for 5 answering

began=${EPOCHREALTIME/./}
check "flow without GRANTs: data arrives" from_b connect send=85000 close eof
ms=$(((${EPOCHREALTIME/./} - began) / 1000))
check "flow without GRANTs: it takes at least hold" [ $ms -ge 100 ]
check "flow without GRANTs: four chains take less than twice hold" [ $ms -lt 200 ]

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
check_eq "three long flows without GRANTs: all data arrives" $failed 0
after=$(sender)
check_json "[$before,$after]" \
	"three long flows without GRANTs: chains are overdue" '.[1].chains_overdue - .[0].chains_overdue > 20' \
	"three long flows without GRANTs: no chain is granted" '.[1].chains_granted == 0' \
	"three long flows without GRANTs: no flow is ungated" '.[1].flows_ungated == .[0].flows_ungated' \
	"three long flows without GRANTs: no packet stays queued" \
	'.[1].qlen == 0 and .[1].backlog == 0 and .[1].flows_waiting == 0'
check_eq "hold causes no RTO" "$(netstat "$b" TCPTimeouts)" 0
check_eq "hold causes no retransmission" "$(retransmitted)" 0
check_eq "segments arrive in order despite hold" "$(netstat "$a" TCPOFOQueue)" 0
finish

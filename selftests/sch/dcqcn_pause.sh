#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A priority that the other end has paused holds up no other one on a port with
# eight TX queues; how long it was paused is told; one that is paused for too
# long is stalled, once until it moves, and dropped if asked for.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> w0: dcqcn |=====| w1 -> capture       |
#	|                  <--|-----|--- pause frames     |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
need_dcqcn
setup_ns a b
WIRE=(numtxqueues 8)
wire_ab delay 1us rate 1gbit
. "$(dirname "$0")/../lib/pause.sh"

# port OPTION...: a new qdisc
port() { tc -n "$a" qdisc replace dev w0 root handle $((handle += 1)): dcqcn "$@"; }
handle=16
# change OPTION...
change() { tc -n "$a" qdisc change dev w0 root dcqcn "$@"; }
# of PRIO NAME: a number of a priority's statistics
of() { tc -n "$a" -s -j qdisc show dev w0 | jq "[.[] | select(.kind == \"dcqcn\")][0].prio[$1].$2"; }
# is PRIO NAME NUMBER: is it that?
is() { [ "$(of "$1" "$2")" -eq "$3" ]; }

# ---- one priority is paused

FRAMES=("udp4,dscp=24,len=1000,n=150" "udp4,dscp=0,n=40" "udp4,dscp=56,n=40")
for sched in strict drr; do
	port trust dscp sched $sched stall off
	slow_pause 3
	check "$sched: priority 3 is paused: the others come" \
		send_frames -s "$a/w0" -c "in=$b/w1/in/80" "${FRAMES[@]}"
	check "$sched: it waits in the qdisc" test "$(of 3 qlen_packets)" -ge 50
	check_eq "$sched: the others do not" "$(of 0 backlog_bytes) $(of 7 backlog_bytes)" "0 0"
	waiting=$(of 3 qlen_packets)
	sent=$(of 3 sent_packets)
	check "$sched: its ring takes some, the rest adds up" test $((waiting + sent)) -eq 150
	check "$sched: the pause is lifted" pause 3=0
	check "$sched: all of it leaves" wait_for 10 is 3 sent_packets 150
	check_eq "$sched: nothing waits" "$(of 3 backlog_bytes)" 0
done
check "how long it was paused" test "$(of 3 paused_ns)" -gt 0
check_eq "and no other" "$(of 0 paused_ns) $(of 7 paused_ns)" "0 0"

# A qdisc of mq has one TX queue, whatever it holds.
if tc -n "$a" qdisc replace dev w0 root handle 1: mq && tc -n "$a" qdisc add dev w0 parent 1:1 handle 2: dcqcn; then
	check "below mq: frames come" send_frames -s "$a/w0" -c "in=$b/w1/in/230" "${FRAMES[@]}"
	tc -n "$a" qdisc del dev w0 root
fi

# ---- stalls

port stall 20ms
slow_pause 3
check "frames for a paused priority" send_frames -s "$a/w0" udp4,dscp=24,n=200 udp4,dscp=0,n=10
check "it is found stalled" wait_for 10 is 3 stalls 1
check "more come" send_frames -s "$a/w0" udp4,dscp=24,n=20
sleep 0.1
check_eq "counted once" "$(of 3 stalls)" 1
check_eq "nothing is dropped" "$(of 3 dropped_stalled_packets) $(of 3 dropped_limit_packets)" "0 0"
check_eq "no other one is stalled" "$(of 0 stalls) $(of 7 stalls)" "0 0"
check "the pause is lifted" pause 3=0
check "all leaves" wait_for 10 is 3 sent_packets 220
slow_pause 3
check "paused again" send_frames -s "$a/w0" udp4,dscp=24,n=200
check "stalled again" wait_for 10 is 3 stalls 2

check "stall_drop" change stall_drop
check "what it holds is dropped" wait_for 10 is 3 qlen_packets 0
dropped=$(of 3 dropped_stalled_packets)
check_eq "and counted" "$(($(of 3 sent_packets) + dropped))" 420
check "what comes" send_frames -s "$a/w0" udp4,dscp=24,n=30 udp4,dscp=0,n=10
check_eq "is dropped" "$(of 3 dropped_stalled_packets)" $((dropped + 30))
check "but not the others'" wait_for 10 is 0 sent_packets 20
check "the pause is lifted" pause 3=0
# until the ring has had room, the priority counts as stalled
passes() { send_frames -s "$a/w0" -c "in=$b/w1/in/5" udp4,dscp=24,n=5; }
check "then it passes again" wait_for 10 passes
check_eq "stalled twice in all" "$(of 3 stalls)" 2
check_json "$(tc -n "$a" -s -j qdisc show dev w0)" "drops are those" \
	'[.[] | select(.kind == "dcqcn")][0] | .drops == .prio[3].dropped_stalled_packets and .qlen == 0 and .backlog == 0'

# a shaper that is slow is no stall
port stall 1ms stall_drop rate 10kbit
check "a slow shaper" send_frames -s "$a/w0" udp4,dscp=24,n=20
sleep 0.2
check_eq "is no stall" "$(of 3 stalls) $(of 3 dropped_stalled_packets)" "0 0"
port stall 20ms stall_drop
slow_pause 3
check "a qdisc goes with a stalled priority" send_frames -s "$a/w0" udp4,dscp=24,n=100
wait_for 10 is 3 stalls 1
check "it is replaced" tc -n "$a" qdisc replace dev w0 root handle 1: pfifo
pause 3=0
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A queue whose priority the peer has paused sends no packet until the pause
# expires, or XON or a shorter pause replaces it. A pause of another priority has
# no effect. A queue that is paused for too long counts as stalled, once until it
# sends again; with stall_drop its packets are dropped.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> w0: dcqcn |=====| w1 -> capture       |
#	|                  <--|-----|--- pause frames     |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/dcqcn.sh"
need_closwire
need_dcqcn
setup_ns a b
wire_ab delay 1us rate 1gbit
. "$(dirname "$0")/../lib/pause.sh"

# port OPTION...: create a new qdisc
port() { tc -n "$a" qdisc replace dev w0 root handle $((handle += 1)): dcqcn "$@"; }
handle=16
change() { tc -n "$a" qdisc change dev w0 root dcqcn "$@"; }
is() { dcqcn_is "$a/w0" "$@"; }
stat() { dcqcn_stat "$a/w0" "$@"; }
frames() { send_frames -s "$a/w0" "$@"; }

# ---- pauses

port prio 3 stall off
slow_pause 3
check "frames for the paused priority 3 are queued" frames udp4,n=150
check_eq "a queue whose priority is paused sends no frame" "$(stat qlen) $(stat packets)" "150 0"
check "XON for priority 3 arrives" pause 3=0
check "all frames leave after XON" wait_for 5 is packets 150
check "the time that priority 3 was paused is counted" test "$(stat paused_ns 3)" -gt 0

slow_pause 3
frames udp4,n=10
check_eq "a pause of five minutes holds the queue" "$(stat qlen)" 10
check "a shorter pause arrives during a long one" pause 3=100
check "the shorter pause replaces the long one" wait_for 5 is qlen 0

# 65535 quanta at 1 Gbit/s are 33.6 ms
pause 3=65535
frames udp4,n=10
check "a pause without XON expires" wait_for 5 is qlen 0

slow_pause 0
slow_pause 7
check "pauses of 0 and 7 do not hold priority 3" frames -c "in=$b/w1/in/20" udp4,n=20
pause 0=0 7=0

# ---- the packet's own priority

port stall off
slow_pause 3
check "prio packet: packets of priorities other than 3 pass a pause of 3" \
	frames -c "in=$b/w1/in/20" udp4,prio=0,n=10 udp4,prio=9,n=10
frames udp4,prio=3,n=10
check_eq "prio packet: a pause of 3 holds packets of priority 3" "$(stat qlen)" 10
check_json "$(tc -n "$a" -s -j qdisc show dev w0)" \
	"prio packet: all eight priorities are shown" '[.[0].prio[].prio] == [range(8)]' \
	"prio packet: priorities that were paused, and no other, have paused_ns" \
	'[.[0].prio[] | .paused_ns > 0] == [true,false,false,true,false,false,false,true]'
check "prio packet can be changed to prio 0 with packets queued" change prio 0
check_eq "a change to prio 0 keeps queued packets of priority 3 paused" "$(stat qlen)" 10
pause 3=0
check "queued packets of priority 3 leave after XON" wait_for 5 is qlen 0

# closwire uses skb->priority, which the qdisc sets
slow_pause 5
port prio 5 rate 1gbit stall off
check "frames for the paused priority 5 are queued" frames udp4,prio=0,n=10
check_eq "a pause of 5 holds a queue of priority 5" "$(stat qlen)" 10
pause 5=0
check "frames of priority 5 leave after XON" wait_for 5 is packets 10

# ---- stalls

port prio 3 stall 20ms
slow_pause 3
check "frames for a paused queue are queued" frames udp4,n=200
check "a paused queue is counted as stalled" wait_for 10 is stalls 1
check "more frames are queued during a stall" frames udp4,n=20
sleep 0.1
check_eq "a stall is counted once" "$(stat stalls)" 1
check_eq "a stalled queue drops no packet" "$(stat drops)" 0
check "XON for the stalled queue arrives" pause 3=0
check "all packets of a stalled queue leave after XON" wait_for 10 is packets 220
slow_pause 3
check "frames are queued during a second pause" frames udp4,n=200
check "the second stall is counted" wait_for 10 is stalls 2

check "stall_drop can be set during a stall" change stall_drop
check "stall_drop drops the packets in a stalled queue" wait_for 10 is qlen 0
dropped=$(stat dropped_stalled_packets)
check_eq "packets dropped by stall_drop are counted" "$(($(stat packets) + dropped))" 420
check "more frames arrive during a stall with stall_drop" frames udp4,n=30
check_eq "stall_drop drops packets that arrive during the stall" "$(stat dropped_stalled_packets)" $((dropped + 30))
check "XON for the queue with stall_drop arrives" pause 3=0
check "packets pass again after a stall with stall_drop" frames -c "in=$b/w1/in/5" udp4,n=5
check_eq "two stalls are counted in total" "$(stat stalls)" 2
check_json "$(tc -n "$a" -s -j qdisc show dev w0)" "each drop of a stall is counted as dropped_stalled_packets" \
	'[.[] | select(.kind == "dcqcn")][0] | .drops == .dropped_stalled_packets and .qlen == 0 and .backlog == 0'

port prio 3 stall 1ms stall_drop rate 10kbit
check "frames are queued behind a slow shaper" frames udp4,n=20
sleep 0.2
check_eq "a slow shaper is not a stall" "$(stat stalls) $(stat dropped_stalled_packets)" "0 0"
port prio 3 stall 20ms stall_drop
slow_pause 3
check "frames are queued before the qdisc is replaced" frames udp4,n=100
wait_for 10 is stalls 1
check "a stalled qdisc can be replaced" tc -n "$a" qdisc replace dev w0 root handle 1: pfifo
pause 3=0
finish

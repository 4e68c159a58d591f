#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A queue of which the peer has paused the priority sends nothing until the pause
# ends, by itself, by XON or by a shorter pause; a pause of another priority does
# not hold it. A queue that is paused for too long is stalled, once until it
# moves, and its packets are dropped if asked for.
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

# port OPTION...: a new qdisc
port() { tc -n "$a" qdisc replace dev w0 root handle $((handle += 1)): dcqcn "$@"; }
handle=16
change() { tc -n "$a" qdisc change dev w0 root dcqcn "$@"; }
is() { dcqcn_is "$a/w0" "$@"; }
stat() { dcqcn_stat "$a/w0" "$@"; }
frames() { send_frames -s "$a/w0" "$@"; }

# ---- pauses

port prio 3 stall off
slow_pause 3
check "a queue of priority 3 takes frames" frames udp4,n=150
check_eq "it sends none of them while 3 is paused" "$(stat qlen) $(stat packets)" "150 0"
check "XON: all of them leave" pause 3=0
check "the queue is empty" wait_for 5 is packets 150
check "how long 3 was paused is counted" test "$(stat paused_ns 3)" -gt 0

slow_pause 3
frames udp4,n=10
check_eq "a pause of five minutes holds the queue" "$(stat qlen)" 10
check "a shorter one is sent after it" pause 3=100
check "the queue sends when that is over" wait_for 5 is qlen 0

# 65535 quanta at 1 Gbit/s are 33.6 ms
pause 3=65535
frames udp4,n=10
check "a pause that no frame lifts ends by itself" wait_for 5 is qlen 0

slow_pause 0
slow_pause 7
check "pauses of 0 and 7 do not hold priority 3" frames -c "in=$b/w1/in/20" udp4,n=20
pause 0=0 7=0

# ---- whose priority

port stall off
slow_pause 3
check "prio packet: the packet's own priority counts" frames -c "in=$b/w1/in/20" udp4,prio=0,n=10 udp4,prio=9,n=10
frames udp4,prio=3,n=10
check_eq "its pause holds it" "$(stat qlen)" 10
check_json "$(tc -n "$a" -s -j qdisc show dev w0)" "all eight priorities are shown" '[.[0].prio[].prio] == [range(8)]' \
	"those that were paused have a time" \
	'[.[0].prio[] | .paused_ns > 0] == [true,false,false,true,false,false,false,true]'
check "changed to prio 0, the queue still knows what they were" change prio 0
check_eq "it holds them" "$(stat qlen)" 10
pause 3=0
check "until XON" wait_for 5 is qlen 0

# closwire goes by skb->priority, which the queue sets
slow_pause 5
port prio 5 rate 1gbit stall off
check "a queue of priority 5" frames udp4,prio=0,n=10
check_eq "is held by 5's pause" "$(stat qlen)" 10
pause 5=0
check "XON" wait_for 5 is packets 10

# ---- stalls

port prio 3 stall 20ms
slow_pause 3
check "frames for a paused priority" frames udp4,n=200
check "the queue is found stalled" wait_for 10 is stalls 1
check "more frames come" frames udp4,n=20
sleep 0.1
check_eq "the stall is counted once" "$(stat stalls)" 1
check_eq "no packet is dropped" "$(stat drops)" 0
check "XON" pause 3=0
check "all packets leave" wait_for 10 is packets 220
slow_pause 3
check "paused again" frames udp4,n=200
check "stalled again" wait_for 10 is stalls 2

check "stall_drop" change stall_drop
check "the packets in the queue are dropped" wait_for 10 is qlen 0
dropped=$(stat dropped_stalled_packets)
check_eq "and counted" "$(($(stat packets) + dropped))" 420
check "more frames come" frames udp4,n=30
check_eq "they are dropped" "$(stat dropped_stalled_packets)" $((dropped + 30))
check "XON" pause 3=0
check "packets pass again" frames -c "in=$b/w1/in/5" udp4,n=5
check_eq "stalled twice in all" "$(stat stalls)" 2
check_json "$(tc -n "$a" -s -j qdisc show dev w0)" "each drop has that reason" \
	'[.[] | select(.kind == "dcqcn")][0] | .drops == .dropped_stalled_packets and .qlen == 0 and .backlog == 0'

# a shaper that is slow is no stall
port prio 3 stall 1ms stall_drop rate 10kbit
check "a slow shaper" frames udp4,n=20
sleep 0.2
check_eq "is no stall" "$(stat stalls) $(stat dropped_stalled_packets)" "0 0"
port prio 3 stall 20ms stall_drop
slow_pause 3
check "a stalled queue" frames udp4,n=100
wait_for 10 is stalls 1
check "is replaced" tc -n "$a" qdisc replace dev w0 root handle 1: pfifo
pause 3=0
finish

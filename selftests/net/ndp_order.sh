#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# SOCK_SEQPACKET: messages of each sender are delivered in the order in which they were sent, even if the network
# reorders packets or some messages fail. SOCK_RDM, for comparison, does not keep the order.
#
#	+------------ a ------------+     +------------ b ------------+
#	| send, receive -> w0 netem |=====| w1 netem -> receive, send |
#	+---------------------------+     +---------------------------+
# shellcheck disable=SC2154 # setup_ns sets a and b
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
. "$(dirname "$0")/../lib/ndp.sh"
setup_ns a b
wire_ab rate 500mbit delay 20us
ndp_v6_ab
netem_ab

# ---- one call at a time: the tests of SOCK_RDM

ip -n "$a" neigh add 10.0.0.9 lladdr 02:00:00:00:00:09 nud permanent dev w0
api seqpacket parts flags poll options queues turns turns_poll no_room

# ---- bad networks

rx=(receive -n "$b" -p 9)
v4=(send -n "$a" -p 9 -d 10.0.0.2)
v6=(send -n "$a" -p 9 -d 2001:db8::2)
sizes=1,100k,1400,10k,100,300k,1500

# ordered NAME COUNT NETEM...: check that messages of two SOCK_SEQPACKET and two SOCK_RDM senders arrive in order
ordered() {
	netem_ab "${@:3}"
	messages "messages arrive in order $1" "${rx[@]}" -O -s 4 -c "$2" -l $sizes -- "${v4[@]}" -O -c "$2" -l $sizes -- \
		"${v6[@]}" -O -c "$2" -l $sizes -- "${v4[@]}" -S 2 -c "$2" -l $sizes
	note "$1: $(total rtx) retransmissions of $(total packets) packets"
}
ordered "from four senders" 21
ordered "with 20 % loss" 14 loss 20%
ordered "with delays of 0 to 2 ms, 5 % loss and 10 % duplicates" 35 delay 1ms 1ms loss 5% duplicate 10%

# ---- SOCK_RDM for comparison

small=100,100,100,100,100,100,100,100,100,30k
messages "short and long messages arrive in order from SOCK_SEQPACKET to SOCK_SEQPACKET" \
	"${rx[@]}" -O -c 200 -l $small -- \
	"${v4[@]}" -O -c 200 -l $small
messages "short and long messages arrive from SOCK_RDM to SOCK_RDM" \
	"${rx[@]}" -c 200 -l $small -- "${v4[@]}" -c 200 -l $small
check "short messages overtake long ones from SOCK_RDM to SOCK_RDM" test "$(total overtaken receive)" -gt 0
messages "short and long messages arrive from SOCK_SEQPACKET to SOCK_RDM" \
	"${rx[@]}" -c 200 -l $small -- "${v4[@]}" -O -c 200 -l $small
check "short messages overtake long ones from SOCK_SEQPACKET to SOCK_RDM" test "$(total overtaken receive)" -gt 0

# ---- little memory for messages that wait

netem_ab delay 200us 200us loss 2%
messages "messages arrive in order with little memory" \
	"${rx[@]}" -O -r 100000 -c 60 -l 100,20k,1400 -- "${v4[@]}" -O -c 60 -l 100,20k,1400
messages "messages of two senders arrive in order and in parts" "${rx[@]}" -O -r 200000 -s 2 -c 6 -l 400k,100 -- \
	"${v4[@]}" -O -c 6 -l 400k,100 -- "${v6[@]}" -O -c 6 -l 400k,100
messages "messages arrive in order at a reader with a short buffer" "${rx[@]}" -O -b 1k -s 2 -c 20 -l 5000,3,30k -- \
	"${v4[@]}" -O -c 20 -l 5000,3,30k -- "${v6[@]}" -c 20 -l 5000,3,30k

# ---- aborted messages, for which other messages do not wait

messages "messages arrive in order beside those that sendmsg() aborts" "${rx[@]}" -O -g -r 8388608 -s 2 -c 41 -l 100,2m -- \
	"${v4[@]}" -O -k 100000 -A 10 -c 41 -l 100,2m -- "${v6[@]}" -O -c 41 -l 100,2m
check "sendmsg() aborts some messages" test "$(total EAGAIN)" -gt 0
netem_ab
messages "messages arrive in order after others failed on a link that was down" "${rx[@]}" -O -g -c 200 -l 30k -- \
	"${v4[@]}" -O -T 100 -e -k 200000 -c 200 -l 30k -- run "sleep 0.02; ip -n $b link set w1 down; sleep 0.3
		ip -n $b link set w1 up; ip -n $b neigh replace 10.0.0.1 lladdr $MAC_A nud permanent dev w1"
check "some messages fail on a link that is down" test "$(total failed)" -gt 0
# takes 10 s
! exact || MAC_A=$MAC_A api seqpacket silent
finish

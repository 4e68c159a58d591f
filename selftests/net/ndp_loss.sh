#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The network loses, duplicates, reorders and corrupts packets, one by one and combined: each message arrives intact and
# once.
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

# bad NAME NETEM...: check that messages in both directions arrive with these netem settings
sizes=1,100,1400,1500,10k,100k,300k
bad() {
	netem_ab "${@:2}"
	messages "$1" \
		receive -n "$b" -p 9 -c 21 -s 3 -l $sizes -q 20 -- receive -n "$a" -p 9 -c 21 -l $sizes -q 20 -- \
		send -n "$a" -d 10.0.0.2 -p 9 -c 21 -l $sizes -S 2 -- send -n "$b" -d 10.0.0.1 -p 9 -c 21 -l $sizes -- \
		send -n "$a" -d 2001:db8::2 -p 9 -c 21 -l $sizes
	note "$1: $(total packets) packets, $(total rtx) retransmissions, $(total timeouts) of them by timeout"
}
bad "messages arrive over a good link"
bad "messages arrive with 1 % loss" loss 1%
check "lost packets are retransmitted" test "$(total rtx)" -gt 0
bad "messages arrive with 30 % loss" loss 30%
bad "messages arrive with 20 % duplicates" duplicate 20%
bad "messages arrive with 25 % reordering" delay 500us reorder 25%
bad "messages arrive with delays of 0 to 2 ms" delay 1ms 1ms
# UDP verifies the checksum before NDP sees a packet
# shellcheck disable=SC2016 # awk expands
wrong_sums() { in_ns "$a" awk '/^Udp: [0-9]/ { print $8 }' /proc/net/snmp; }
wrong=$(wrong_sums)
bad "messages arrive with 5 % corrupted packets" corrupt 5%
check "checksums detect corrupted packets" test "$(wrong_sums)" -gt "$wrong"
bad "messages arrive with loss, duplicates, corruption and reordering" \
	loss 5% duplicate 5% corrupt 2% delay 300us 200us reorder 10%
bad "messages arrive with a round-trip time of 40 ms" delay 20ms
finish

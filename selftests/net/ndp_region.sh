#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Regions: messages are placed in them in any packet order, or delivered normally if they do not fit. Space is released
# by the program or when a sender dies. Placed packets hold no other memory, and a mapping keeps its region.
#
#	+------------ a ------------+     +------------ b ------------+
#	| send -> w0 netem          |=====| w1 -> receive             |
#	+---------------------------+     +---------------------------+
# shellcheck disable=SC2154 # setup_ns sets a and b
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
. "$(dirname "$0")/../lib/ndp.sh"
setup_ns a b
wire_ab rate 500mbit delay 20us
ndp_v6_ab
api region region_placed region_full region_killed region_closed

# ---- placement over bad networks

# netem SETTING...: replace the settings of netem from a to b
netem() {
	tc -n "$a" qdisc replace dev w0 root handle 1: netem limit 100000 "$@"
}
netem || skip_all "no netem"

# placed NAME REGION NETEM...: check that messages over IPv4 and IPv6 arrive with a region of REGION bytes
sizes=1,100,1400,4096,10k,100k,300k
placed() {
	netem "${@:3}"
	messages "messages arrive in a region $1" receive -n "$b" -p 9 -m "$2" -c 7 -s 3 -l $sizes -q 20 -- \
		send -n "$a" -d 10.0.0.2 -p 9 -c 7 -l $sizes -S 2 -- \
		send -n "$a" -d 2001:db8::2 -p 9 -c 7 -l $sizes
	note "$1: $(total placed receive) of $(total msgs receive) were placed, $(total rtx) retransmissions"
}
placed "over a good link" 16777216
check_eq "all messages over a good link are placed" "$(total placed receive)" 21
placed "with 25 % reordering" 16777216 delay 500us reorder 25%
check_eq "all messages with 25 % reordering are placed" "$(total placed receive)" 21
placed "with loss, duplicates, corruption and delays" 16777216 loss 5% duplicate 5% corrupt 2% delay 300us 200us
check_eq "all messages with loss, duplicates, corruption and delays are placed" "$(total placed receive)" 21
check "lost packets of placed messages are retransmitted" test "$(total rtx)" -gt 0
placed "without space for the longest" 262144 loss 2%
check "messages that fit a small region are placed" test "$(total placed receive)" -gt 0
check "messages that do not fit a small region are not placed" test "$(total placed receive)" -le 18
placed "with space for few messages" 8192 delay 500us reorder 25%

# ---- memory of reordered packets

netem loss 2% delay 500us reorder 25%
api region_memory
tc -n "$a" qdisc del dev w0 root

# ---- trimmed packets

if load_module sch_ndp; then
	tc -n "$a" qdisc add dev w0 root handle 1: ndp limit 8 rate 100mbit
	messages "trimmed messages arrive in a region" receive -n "$b" -p 9 -m 16777216 -c 7 -s 4 -l $sizes -- \
		send -n "$a" -d 10.0.0.2 -p 9 -c 7 -l $sizes -S 4
	check "packets of placed messages are trimmed" test "$(total nacks)" -gt 0
	check_eq "all trimmed messages are placed" "$(total placed receive)" 28
	tc -n "$a" qdisc del dev w0 root
fi
check "all flows are freed" wait_for 20 unused
finish

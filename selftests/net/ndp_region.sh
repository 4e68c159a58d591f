#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Regions: messages are placed in them in whatever order their packets come, or come the ordinary way; space is
# given back, by the program or when a sender dies; no packet is kept; mappings end before the region does.
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

# ---- each byte is at its place, whatever the network does

# netem SETTING...: on the way from a to b
netem() {
	tc -n "$a" qdisc replace dev w0 root handle 1: netem limit 100000 "$@"
}
netem || skip_all "no netem"

# placed WHAT REGION NETEM...: messages of IPv4 and IPv6; all of them, and how many were placed
sizes=1,100,1400,4096,10k,100k,300k
placed() {
	netem "${@:3}"
	messages "$1" receive -n "$b" -p 9 -m "$2" -c 7 -s 3 -l $sizes -q 20 -- \
		send -n "$a" -d 10.0.0.2 -p 9 -c 7 -l $sizes -S 2 -- \
		send -n "$a" -d 2001:db8::2 -p 9 -c 7 -l $sizes
	note "$1: $(said placed receive) of $(said msgs receive) were placed, $(said rtx) packets sent again"
}
placed "nothing is wrong" 16777216
check_eq "all have space" "$(said placed receive)" 21
placed "25 % overtake others" 16777216 delay 500us reorder 25%
check_eq "all are placed" "$(said placed receive)" 21
placed "loss, doubles, wrong bits, delays" 16777216 loss 5% duplicate 5% corrupt 2% delay 300us 200us
check_eq "they are placed all the same" "$(said placed receive)" 21
check "what is lost is sent again" test "$(said rtx)" -gt 0
placed "no space for the longest" 262144 loss 2%
check "some are placed" test "$(said placed receive)" -gt 0
check "others are not" test "$(said placed receive)" -le 18
placed "space for hardly any" 8192 delay 500us reorder 25%

# ---- packets that overtake others take no memory

netem loss 2% delay 500us reorder 25%
api region_memory
tc -n "$a" qdisc del dev w0 root

# ---- trimmed packets

if load_module sch_ndp; then
	tc -n "$a" qdisc add dev w0 root handle 1: ndp limit 8 rate 100mbit
	messages "packets are trimmed" receive -n "$b" -p 9 -m 16777216 -c 7 -s 4 -l $sizes -- \
		send -n "$a" -d 10.0.0.2 -p 9 -c 7 -l $sizes -S 4
	check "some are" test "$(said nacks)" -gt 0
	check_eq "all are placed" "$(said placed receive)" 28
	tc -n "$a" qdisc del dev w0 root
fi
check "nothing is left" wait_for 20 unused
finish

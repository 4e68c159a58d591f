#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The network loses, doubles, reorders and spoils packets, and does all of it: each
# message arrives whole, once, with each byte.
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
for port in "$a/w0" "$b/w1"; do
	tc -n "${port%/*}" qdisc add dev "${port#*/}" root netem limit 100000 || skip_all "no netem"
done

# netem SETTING...: on both sides, and nothing else
netem() {
	local port
	for port in "$a/w0" "$b/w1"; do
		tc -n "${port%/*}" qdisc del dev "${port#*/}" root
		tc -n "${port%/*}" qdisc add dev "${port#*/}" root netem limit 100000 "$@"
	done
}

# bad WHAT NETEM...: messages both ways meanwhile
sizes=1,100,1400,1500,10k,100k,300k
bad() {
	netem "${@:2}"
	messages "$1" \
		receive -n "$b" -p 9 -c 21 -s 3 -l $sizes -q 20 -- receive -n "$a" -p 9 -c 21 -l $sizes -q 20 -- \
		send -n "$a" -d 10.0.0.2 -p 9 -c 21 -l $sizes -S 2 -- send -n "$b" -d 10.0.0.1 -p 9 -c 21 -l $sizes -- \
		send -n "$a" -d 2001:db8::2 -p 9 -c 21 -l $sizes
	note "$1: $(said packets) packets, $(said rtx) again, $(said timeouts) of these by timeout"
}
bad "nothing is wrong"
bad "1 % is lost" loss 1%
check "what is lost is sent again" test "$(said rtx)" -gt 0
bad "30 % are lost" loss 30%
bad "20 % are doubled" duplicate 20%
bad "25 % overtake others" delay 500us reorder 25%
bad "delays of 0 to 2 ms" delay 1ms 1ms
wrong=$(snmp "$a" InHdrCsum InUdpCsum)
bad "5 % have a wrong bit" corrupt 5%
check "which is seen" test "$(snmp "$a" InHdrCsum InUdpCsum)" -gt "$wrong"
bad "all of this" loss 5% duplicate 5% corrupt 2% delay 300us 200us reorder 10%
bad "a round trip of 40 ms" delay 20ms
finish

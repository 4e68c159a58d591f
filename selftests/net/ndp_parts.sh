#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# recvmsg() of whole messages and parts of messages, its flags and control data, and poll()
#
#	+--------- a ---------+     +--------- b ---------+
#	| ndp_api -> w0       |=====| w1 -> ndp_api       |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2154 # setup_ns sets a and b
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
. "$(dirname "$0")/../lib/ndp.sh"
setup_ns a b
wire_ab rate 500mbit delay 5us
ip -n "$a" neigh add 10.0.0.9 lladdr 02:00:00:00:00:09 nud permanent dev w0
api parts flags poll queues scatter
if [ -z "${KSFT_MACHINE_SLOW:-}" ]; then
	ip -n "$b" link set lo up
	api huge
else
	skip "a message of more than 1 GiB arrives" "slow machine"
fi

# ---- buffers shorter than messages

rx=(receive -n "$b" -p 1000)
tx=(send -n "$a" -p 1000 -d 10.0.0.2)
sizes=1,4,5,100,1499,5000,30k
for bytes in 4 7 1k; do
	messages "messages arrive in parts of $bytes bytes" \
		"${rx[@]}" -b $bytes -s 2 -c 7 -l $sizes -- "${tx[@]}" -c 7 -l $sizes -- \
		"${tx[@]}" -c 7 -l $sizes
done
messages "a message longer than SO_RCVBUF arrives" "${rx[@]}" -r 100000 -l 3m -- "${tx[@]}" -l 3m
check "a message longer than SO_RCVBUF arrives in parts" test "$(total parts receive)" -gt 3
messages "two messages longer than SO_RCVBUF arrive" \
	"${rx[@]}" -r 100000 -s 2 -l 1m -- "${tx[@]}" -l 1m -- "${tx[@]}" -l 1m
finish

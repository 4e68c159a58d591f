#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Wrong arguments are refused. Messages that do not arrive are reported with their number, destination and reason.
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
ndp_v6_ab
ip -n "$a" neigh add 10.0.0.9 lladdr 02:00:00:00:00:09 nud permanent dev w0
api options arguments failures

# ---- timeouts

in_ns "$a" sh -c 'echo 50 >/proc/sys/net/ndp/timeout_ms'
messages "message to a silent host fails with timeout_ms 50" send -n "$a" -d 10.0.0.9 -p 9 -l 100 -e
check_eq "message to a silent host fails with ETIMEDOUT" "$(total ETIMEDOUT)" 1
check "message to a silent host fails after timeout_ms" test "$(total us)" -ge 50000
messages "messages to two hosts arrive or fail" receive -n "$b" -p 9 -c 20 -l 100,5k -- \
	send -n "$a" -d 10.0.0.9,10.0.0.2 -p 9 -c 20 -l 100,5k -e
check_eq "messages to the silent host fail, messages to the other host arrive" \
	"$(total ETIMEDOUT) $(total msgs)" "20 20"
if exact; then
	# the packets wait for ARP for 3 s, much longer than their messages
	missing=10.0.0.21,10.0.0.22,10.0.0.23,10.0.0.24,10.0.0.25,10.0.0.26,10.0.0.27,10.0.0.28
	messages "messages to hosts arrive or fail beside missing hosts" receive -n "$b" -p 9 -c 20 -l 50k -- \
		send -n "$a" -d $missing,10.0.0.2 -p 9 -c 20 -l 50k -e
	check_eq "only messages to missing hosts fail" "$(total ETIMEDOUT) $(total msgs)" "160 20"
	check "missing hosts hardly delay messages to other hosts" test "$(total us receive)" -lt 15000000
fi

# ---- a sender that restarts has a new flow

for i in 1 2 3; do
	messages "messages of sender $i on the same port arrive" receive -n "$b" -p 9 -l 100,5k,300k -c 3 -q 20 -- \
		send -n "$a" -P 2000 -d 10.0.0.2 -p 9 -l 100,5k,300k -c 3
done
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Which flow a receiver pulls first, net.ndp.pull_policy: three messages of 1, 2 and 6 MB come
# at once, all longer than what their senders push unasked.
# shellcheck disable=SC2154 # setup_ns sets the namespaces
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
need_ndp
. "$(dirname "$0")/../lib/ndp.sh"
exact || skip_all "time is real"
hosts=3
star $hosts 10gbit
switch limit 8

# policy NUMBER: the messages come, and of each it is known how long it took
policy() {
	in_ns "$r" sysctl -qw net.ndp.pull_policy="$1"
	messages "policy $1: all come" receive -f -n "$r" -r 33554432 -b 8m -p 9 -s 3 -c 1 -l 1k -- \
		send -n "$h1" -d 10.0.0.100 -p 9 -l 6m -- \
		send -n "$h2" -d 10.0.0.100 -p 9 -l 2m -- \
		send -n "$h3" -d 10.0.0.100 -p 9 -l 1m
	note "us: $(took 1) $(took 2) $(took 3)"
}

# took NUMBER: us, of which message
took() { awk -v nr="$1" '$1 == "send" && ++n == nr { sub("us=", "", $NF); print $NF }' "$TMP/msgs"; }

# 1 MB takes the link 0.86 ms, initial windows of the other two 0.44
policy 0
check "fair: the shortest has a third of the link" test "$(took 3)" -gt 2200
check "fair: the second has its share, too" test "$(took 2)" -gt 3700
policy 2
check "srpt: the shortest is first" test "$(took 3)" -lt 1600
check "srpt: then the second" test "$(took 2)" -lt 3200
policy 1
# it is the first of them, or comes after the longest
check "strict: one by one, not in turns" test "$(took 2)" -lt 3600 -o "$(took 2)" -gt 6000
finish

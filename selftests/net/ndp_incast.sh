#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Behind a switch that trims: senders that start at line rate all at once lose payloads,
# but no time. No packet waits for a timeout, whether a few or nearly all are trimmed, or headers are returned.
#
#	h1 ---- s1 +-----+
#	h2 ---- s2 |  s  | s0: ndp ---- w0 (host r)
#	h3 ---- s3 |     |
#	h4 ---- s4 +-----+
# shellcheck disable=SC2154 # setup_ns sets the namespaces
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
need_ndp
. "$(dirname "$0")/../lib/ndp.sh"
hosts=4
rate=200mbit
exact && rate=10gbit
star $hosts $rate
trims() { tc -n "$s" -s -j qdisc show dev s0 | unwrap; }
trimmed() { jq '.trimmed_arrival_packets + .trimmed_tail_packets' <<<"$(trims)"; }

# no_timeouts WHAT: time is virtual; else a busy machine may be late by itself
no_timeouts() {
	if exact; then
		check_eq "$1: no timeout" "$(said timeouts)" 0
	else
		skip "$1: no timeout" "time is real"
	fi
}

switch limit 8
incast "each is learned" 1 100
incast "300 kB each" 1 300000
check "payloads are trimmed" test "$(said nacks)" -gt 0
check "and the switch did it" test "$(trimmed)" -ge "$(said nacks)"
no_timeouts "300 kB each"
incast "50 messages of 20 kB each" 50 20000
no_timeouts "50 messages of 20 kB each"
switch limit 1
incast "nearly all are trimmed" 1 300000
no_timeouts "nearly all are trimmed"
switch limit 1 hlimit 512 rts
incast "headers are returned" 20 1000,40000
check "headers are returned: some were" test "$(said returned)" -gt 0
no_timeouts "headers are returned"
switch limit 1 hlimit 512
incast "headers are lost" 20 1000,40000
# eight messages of 1 MB take 7.0 ms of the line; as many are pulled at a time as there is room for
switch limit 8
commands=()
for ns in "$h1" "$h2" "$h3" "$h4"; do
	commands+=(-- send -n "$ns" -d 10.0.0.100 -p 9 -S 2 -l 1m)
done
messages "room for half of it" receive -v -n "$r" -r 4000000 -p 9 -s 8 -l 1m -q 10 "${commands[@]}"
note "room for half of it: $(said us receive) us, $(snmp "$r" RcvNoRoom) refused"
# ends NUMBER: when that many senders had ended, us
ends() {
	awk '$1 == "send" { sub("us=", "", $NF); print $NF }' "$TMP/msgs" | sort -n | sed -n "$1p"
}
if exact; then
	check "room for half of it: no time is lost" test "$(said us receive)" -lt 7700
else
	skip "room for half of it: no time is lost" "time is real"
fi
messages "messages without end, room for one" \
	receive -v -n "$r" -r 2000000 -p 9 -s 2 -c 12 -l 1m -q 10 -- \
	send -n "$h1" -d 10.0.0.100 -p 9 -c 12 -l 1m -- send -n "$h2" -d 10.0.0.100 -p 9 -c 12 -l 1m
note "messages without end: the senders took $(ends 1) and $(ends 2) us"
if exact; then
	check "messages without end: no sender waits for the other's end" \
		test "$(ends 1)" -gt "$(($(ends 2) * 3 / 4))"
else
	skip "messages without end: no sender waits for the other's end" "time is real"
fi
switch mode droptail limit 8
incast "a switch that drops" 4 100k
finish

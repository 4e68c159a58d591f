#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Senders that all start at line rate behind a trimming switch lose payloads, but no time. No packet waits for a
# timeout, whether a few or nearly all packets are trimmed, or headers are returned.
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

# no_timeouts NAME: check that no packet timed out; only in virtual time, because a busy machine may be late
no_timeouts() {
	if exact; then
		check_eq "$1: no packet times out" "$(total timeouts)" 0
	else
		skip "$1: no packet times out" "needs virtual time"
	fi
}

switch limit 8
incast "one packet from each sender" 1 100
incast "300 kB each" 1 300000
check "incast of 300 kB each has trimmed payloads" test "$(total nacks)" -gt 0
check "switch trimmed all NACKed packets" test "$(trimmed)" -ge "$(total nacks)"
no_timeouts "300 kB each"
incast "50 messages of 20 kB each" 50 20000
no_timeouts "50 messages of 20 kB each"
switch limit 1
incast "nearly all packets trimmed" 1 300000
no_timeouts "nearly all packets trimmed"
switch limit 1 hlimit 512 rts
incast "returned headers" 20 1000,40000
check "headers are returned to their senders" test "$(total returned)" -gt 0
no_timeouts "returned headers"
switch limit 1 hlimit 512
incast "lost headers" 20 1000,40000
# eight messages of 1 MB take 7.0 ms on the link; the receiver pulls as many at a time as it has room for
switch limit 8
commands=()
for ns in "$h1" "$h2" "$h3" "$h4"; do
	commands+=(-- send -n "$ns" -d 10.0.0.100 -p 9 -S 2 -l 1m)
done
messages "eight messages arrive with room for four" receive -v -n "$r" -r 4000000 -p 9 -s 8 -l 1m -q 10 "${commands[@]}"
note "room for four messages: $(total us receive) µs, $(snmp "$r" RcvRefused) refused"
# ends NUMBER: completion time of the NUMBERth sender in µs
ends() {
	awk '$1 == "send" { sub("us=", "", $NF); print $NF }' "$TMP/msgs" | sort -n | sed -n "$1p"
}
if exact; then
	check "eight messages take no longer with room for four" test "$(total us receive)" -lt 7700
else
	skip "eight messages take no longer with room for four" "needs virtual time"
fi
messages "sequences of messages from two senders arrive with room for one message" \
	receive -v -n "$r" -r 1000000 -p 9 -s 2 -c 12 -l 1m -q 10 -- \
	send -n "$h1" -d 10.0.0.100 -p 9 -c 12 -l 1m -- send -n "$h2" -d 10.0.0.100 -p 9 -c 12 -l 1m
# the optimum is 20 ms
note "sequences of messages: the senders took $(ends 1) and $(ends 2) µs"
if exact; then
	check "two sequences of messages share the receiver: no sender waits for the other's end" \
		test "$(ends 1)" -gt "$(($(ends 2) * 3 / 4))"
	check "two sequences of messages share the receiver: no sender waits for 20 ms" test "$(ends 2)" -lt 40000
else
	skip "two sequences of messages share the receiver: no sender waits for the other's end" "needs virtual time"
	skip "two sequences of messages share the receiver: no sender waits for 20 ms" "needs virtual time"
fi
switch mode droptail limit 8
incast "drop-tail switch" 4 100k
finish

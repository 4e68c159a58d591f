#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Pulls are paced at the rate of the device that receives the packets: the rate that ethtool shows, also after changes,
# or else net.ndp.line_rate_Mbps. Slower pulls leave the link idle; faster ones make switches trim more than first
# windows.
#
#	h1 ---- s1 +-----+
#	h2 ---- s2 |  s  | s0: ndp ---- w0 (host r)
#	           +-----+
# shellcheck disable=SC2154 # setup_ns sets the namespaces
. "$(dirname "$0")/../lib/lib.sh"
exact || skip_all "needs virtual time"
need_closwire
need_ndp
. "$(dirname "$0")/../lib/ndp.sh"
hosts=2
star $hosts 25gbit
switch limit 8

# incast_of_two NAME MBPS BYTES: check an incast of two messages of BYTES each. The first window has 30 packets.
incast_of_two() {
	local us best=$(($3 * 2 * 8 * 9038 / 8916 / $2))
	incast "$1" 1 "$3"
	us=$(total us receive)
	check "$1: incast takes $us µs, at most 12 % more than the link's $best µs" \
		test "$us" -ge $best -a $((us * 100)) -le $((best * 112))
	check "$1: at most the packets of first windows are trimmed: $(total nacks)" test "$(total nacks)" -le 60
	check_eq "$1: no packet times out" "$(total timeouts)" 0
}
incast_of_two "25 Gbit/s" 25000 8000000
# change both ends of the cable
wire_set "$s/s0" rate 2gbit
wire_set "$r/w0" rate 2gbit
incast_of_two "2 Gbit/s" 2000 2000000

# ---- a device without a rate: loopback, with packets of 65536 bytes, the first 2 sent without a pull. Without a
# delay, each packet would be acknowledged before sendmsg() has copied the next one, and no packet would need a pull.

ip -n "$r" link set lo up
tc -n "$r" qdisc add dev lo root netem delay 10us || skip_all "no netem"
in_ns "$r" tee /proc/sys/net/ndp/initial_window >/dev/null <<<2
# check_loopback MBPS EXPECTED: check that 100 packets take the time of EXPECTED Mbit/s with line_rate_Mbps MBPS
check_loopback() {
	local us best=$((98 * 65573 * 8 / $2))
	in_ns "$r" tee /proc/sys/net/ndp/line_rate_Mbps >/dev/null <<<"$1"
	messages "message arrives over loopback with line_rate_Mbps $1" receive -n "$r" -p 9 -r 33554432 -l 6545100 -- \
		send -n "$r" -d 127.0.0.1 -p 9 -l 6545100
	us=$(total us receive)
	check "line_rate_Mbps $1 paces loopback at $2 Mbit/s: $us µs of $best µs" \
		test $((us * 100)) -ge $((best * 98)) -a $((us * 100)) -le $((best * 108))
}
check_loopback 0 10000
check_loopback 1000 1000
check_loopback 20000 20000

# ---- a long path: once its round trip was measured, the first window fills it

setup_ns a b
WIRE=(mtu 9000)
wire_ab rate 10gbit delay 250us
# 162 µs on the link, and a round trip of 500 µs for both messages
check_to "$TMP/rpc" "requests and responses of 200 kB arrive over a long path" ndp_rpc "$a" "$b" 10.0.0.2 11 200000
us=$(sed 's/.* us=\([0-9]*\).*/\1/' "$TMP/rpc") best=$((11 * (2 * 162 + 500)))
check "11 requests of 200 kB over a long path take $us µs, at most 25 % more than $best µs" \
	test "$us" -ge $best -a $((us * 100)) -le $((best * 125))
# the round trip is the peer's
job ndp_rpc "$a" "$b" 10.0.0.2 3 1000 0 1000000
sleep 0.1
messages "a new socket's message arrives over a long path" \
	receive -n "$b" -p 10 -l 200000 -- send -n "$a" -d 10.0.0.2 -p 10 -l 200000
us=$(total us receive)
check "a new socket's message of 200 kB takes $us µs, less than a round trip" test "$us" -lt 500
stop_jobs
check "all flows are freed" wait_for 20 unused
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Pulls are paced by the rate of the device that packets come by: that of ethtool, also if it changes, or else
# net.ndp.line_rate_Mbps. Too slow, and the link is idle; too fast, and switches trim more than first windows.
#
#	h1 ---- s1 +-----+
#	h2 ---- s2 |  s  | s0: ndp ---- w0 (host r)
#	           +-----+
# shellcheck disable=SC2154 # setup_ns sets the namespaces
. "$(dirname "$0")/../lib/lib.sh"
exact || skip_all "time is real"
need_closwire
need_ndp
. "$(dirname "$0")/../lib/ndp.sh"
hosts=2
star $hosts 25gbit
switch limit 8

# two WHAT MBPS BYTES: two messages at once, of so many bytes each; each sender begins with 30 packets
two() {
	local us best=$(($3 * 2 * 8 * 9038 / 8916 / $2))
	incast "$1" 1 "$3"
	us=$(said us receive)
	check "$1: $us us, the line takes $best" test "$us" -ge $best -a $((us * 100)) -le $((best * 112))
	check "$1: $(said nacks) packets are trimmed, no more than first windows" test "$(said nacks)" -le 60
	check_eq "$1: no timeout" "$(said timeouts)" 0
}
two "25 Gbit/s" 25000 8000000
# both ends of the cable
wire_set "$s/s0" rate 2gbit
wire_set "$r/w0" rate 2gbit
two "2 Gbit/s" 2000 2000000

# ---- a device that tells no rate: loopback, with packets of 65536 bytes, of which 2 are not pulled. Without a delay
# each packet is acknowledged before sendmsg() has copied the next one, so that none need be pulled.

ip -n "$r" link set lo up
tc -n "$r" qdisc add dev lo root netem delay 10us || skip_all "no netem"
in_ns "$r" tee /proc/sys/net/ndp/initial_window >/dev/null <<<2
# on_lo MBPS EXPECTED: 100 packets
on_lo() {
	local us best=$((98 * 65573 * 8 / $2))
	in_ns "$r" tee /proc/sys/net/ndp/line_rate_Mbps >/dev/null <<<"$1"
	messages "line_rate_Mbps $1" receive -n "$r" -p 9 -r 33554432 -l 6545100 -- \
		send -n "$r" -d 127.0.0.1 -p 9 -l 6545100
	us=$(said us receive)
	check "line_rate_Mbps $1: $us us, at $2 Mbit/s it were $best" \
		test $((us * 100)) -ge $((best * 98)) -a $((us * 100)) -le $((best * 108))
}
on_lo 0 10000
on_lo 1000 1000
on_lo 20000 20000
check "nothing is left" wait_for 20 unused
finish

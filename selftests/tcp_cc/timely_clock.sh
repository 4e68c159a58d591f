#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# NIC clocks that have an offset, drift, or are set while connections use them;
# links whose rate changes, and devices that are deleted. RTT samples may use
# another source for a while, but are never wrong.
#
#	+--------- a ---------+     +--------- b ---------+
#	| sender -> w0 stamps |=====| w1 -> receiver      |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
need_cc timely
setup_ns a b
. "$(dirname "$0")/../lib/timely.sh"
wire_ab rate 500mbit delay 20us
high_thresholds
# below the link's rate, so that the queue of the first window drains
params max_rate=400
stamps "$a/w0" 1

# last_rtt: last RTT of the connection, in µs
last_rtt() { info 5001 | ss_number mrtt | awk '{ print int($1 * 1000) }'; }

# plausible: is the last RTT possible on this path? With a wrong clock, it would be off by milliseconds or be 0. In
# virtual time, the path and the two hosts are the only sources of latency.
plausible() {
	local rtt
	rtt=$(last_rtt)
	echo "$rtt us"
	[ "${rtt:-0}" -ge 39 ] || return
	! exact || [ "$rtt" -le 400 ]
}

# a burst is two packets, so each ACK completes one
! exact || params seg_kb=4

long_flow cc=timely connect send=1000000
check_stamped "RTTs use hardware timestamps" 200
check "RTTs by hardware timestamps are plausible" plausible

# ---- clocks

offsets=(3600s -5ms)
[ -n "${KSFT_MACHINE_SLOW:-}" ] || offsets+=(-3600s 100ms -100ms 5ms)
before=$(cc_counter samples_rtt)
changes=$(cc_counter source_changes)
for offset in "${offsets[@]}"; do
	steps=$(nicclock "$a" w0 steps)
	wire_set "$a/w0" clock_offset "$offset"
	mark
	check "clock set by $offset: RTTs use software timestamps" wait_for 20 grown samples_sw 3
	check_stamped "clock set by $offset: RTTs use hardware timestamps again" 200
	check "clock set by $offset: RTTs are plausible" plausible
	[ -n "${KSFT_MACHINE_SLOW:-}" ] ||
		check "clock set by $offset: nicclock counts a step" test "$(nicclock "$a" w0 steps)" -gt "$steps"
done
# While hardware timestamps are used, software timestamps are not kept.
! exact || check "the first RTT after a clock step is TCP's" test $(($(cc_counter samples_rtt) - before)) -ge 1
! exact || check "each change of the RTT source is counted" \
	test $(($(cc_counter source_changes) - changes)) -ge $((2 * ${#offsets[@]}))

# near VALUE EXPECTED TOLERANCE
near() { [ "$1" -ge $(($2 - $3)) ] && [ "$1" -le $(($2 + $3)) ]; }
for drift in 200 -200; do
	wire_set "$a/w0" clock_drift ${drift}ppm
	skew() { near "$(nicclock "$a" w0 skew_ppb)" $((-drift * 1000)) 20000; }
	[ -n "${KSFT_MACHINE_SLOW:-}" ] ||
		check "nicclock measures a drift of $drift ppm" wait_for 20 skew
	check_stamped "drift of $drift ppm: RTTs use hardware timestamps" 200
	check "drift of $drift ppm: RTTs are plausible" plausible
done
wire_set "$a/w0" clock_drift 0

stamps "$a/w0" 0
mark
check "with hardware timestamps off, RTTs use software timestamps" wait_for 20 grown samples_sw 50
check_eq "with hardware timestamps off, no RTT uses them" \
	"$(mark && wait_for 20 grown samples_sw 20 && since samples_hw)" 0
stamps "$a/w0" 1
check_stamped "with hardware timestamps on again, RTTs use them" 200

# ---- interrupts

ip netns exec "$a" ethtool -C w0 rx-usecs 300
check_stamped "rx-usecs 300: RTTs use hardware timestamps" 200
check "rx-usecs 300: RTTs exclude the interrupt delay" plausible
if exact; then
	params source=sw
	check "rx-usecs 300: RTTs by software timestamps include the delay" \
		test "$(flow -p 5002 cc=timely connect send=500000 "${INFO/5001/5002}" close eof |
			ss_number mrtt | awk '{ print int($1 * 1000) }')" -ge 100
	params source=auto
else
	skip "rx-usecs 300: RTTs by software timestamps include the delay" "time is real"
fi
ip netns exec "$a" ethtool -C w0 rx-usecs 0

# ---- the link

check "all data arrives over changes of the clock" end_flow

# The tracepoint does not see the ACKs of a connection that is being closed. Their RTTs must not use its last timestamp.
ip netns exec "$a" sysctl -qw net.ipv4.tcp_wmem="4096 4000000 8000000"
mark
check "closed with data in flight: all data arrives" flow cc=timely connect send=1000000 fill close eof
check "closed with data in flight: samples are TCP's RTTs" test "$(since samples_rtt)" -ge 5
! exact || check_eq "closed with data in flight: no RTT is negative" "$(since skipped_negative)" 0
params max_rate=0
long_flow cc=timely connect send=1000000
# rate_is BPS: is this the connection's rate?
rate_is() { info 5001 | grep -qw "bw:$1bps"; }
wire_set "$a/w0" rate 100mbit
check "a connection slows down to a slower link's rate" wait_for 20 rate_is "$(line_rate 100)"
check_eq "the slower link's rate is shown" "$(nicclock "$a" w0 rate_Mbps)" 100
wire_set "$a/w0" rate 500mbit
check "a connection speeds up to a faster link's rate" wait_for 20 rate_is "$(line_rate 500)"
ip -n "$a" link set w0 carrier off
ip -n "$a" link set w0 carrier on
check_stamped "after a carrier loss, RTTs use hardware timestamps" 200
check "all data arrives over changes of the link" end_flow

# ---- VLAN devices, deleted devices

ip -n "$a" link add w0.5 link w0 type vlan id 5
ip -n "$b" link add w1.5 link w1 type vlan id 5
ip -n "$a" link set w0.5 up
ip -n "$b" link set w1.5 up
ip -n "$a" addr add 10.0.5.1/24 dev w0.5
ip -n "$b" addr add 10.0.5.2/24 dev w1.5
FLOW=(-d 10.0.5.2)
mark
check "over a VLAN all data arrives" flow cc=timely connect send=3000000 close eof
check "over a VLAN, RTTs use timestamps" test $(($(since samples_hw) + $(since samples_sw))) -ge 20
check_eq "over a VLAN, line rate is the lower device's" "$(flow cc=timely connect send=300000 "$INFO" close eof |
	ss_number bw)" "$(line_rate 500)"
FLOW=()

# without the device, a connection in FIN_WAIT1 would last for minutes
unused() { [ "$(</sys/module/tcp_timely/refcnt)" -eq 0 ]; }
check "all connections end" wait_for 30 unused
long_flow cc=timely connect send=500000
check_stamped "a new connection uses hardware timestamps" 200
ip -n "$a" link del w0
check_eq "nicclock forgets a deleted device" \
	"$(ip netns exec "$a" grep -c w0 /proc/net/closnet/nicclock)" 0
wire_ab rate 500mbit delay 20us
stamps "$a/w0" 1
mark
check "a connection continues over a new device" wait_for 60 grown samples_sw 20
check_stamped "a connection uses hardware timestamps of a new device" 200
check "all data arrives over a new device" end_flow
# all_ended: do all connections end? If not, show them; the peer may still retransmit its FIN.
all_ended() {
	wait_for 60 unused && return
	cat /sys/module/tcp_timely/refcnt
	ip netns exec "$a" ss -taneoi
	ip netns exec "$b" ss -taneoi
	return 1
}
check "all connections end after the device was replaced" all_ended
finish

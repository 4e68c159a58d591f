#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# NIC clocks that are off, drift and are set while connections use them; lines
# whose rate changes, and which go: RTTs come from another source for a while,
# or are right, but never wrong.
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
calm_params
# so that no queue stays that the first window has left
params max_rate=400
stamps "$a/w0" 1

# last_rtt: of the connection, in us
last_rtt() { info 5001 | ss_number mrtt | awk '{ print int($1 * 1000) }'; }

# plausible: is the last RTT one that this path can have? What a clock is off would be milliseconds or more, or nothing
# at all; a machine whose time is virtual has no latency but the path's and those of two hosts.
plausible() {
	local rtt
	rtt=$(last_rtt)
	echo "$rtt us"
	[ "${rtt:-0}" -ge 39 ] || return
	! exact || [ "$rtt" -le 400 ]
}

# each ACK, of two packets, completes a burst
! exact || params seg_kb=4

long_flow cc=timely connect send=1000000
check_stamped "hardware stamps" 200
check "their RTTs" plausible

# ---- clocks

offsets=(3600s -5ms)
[ -n "${KSFT_MACHINE_SLOW:-}" ] || offsets+=(-3600s 100ms -100ms 5ms)
before=$(cc_counter samples_rtt)
for offset in "${offsets[@]}"; do
	steps=$(nicclock "$a" w0 steps)
	wire_set "$a/w0" clock_offset "$offset"
	mark
	check "clock set by $offset: other RTTs" wait_for 20 grown samples_sw 3
	check_stamped "clock set by $offset: stamps again" 200
	check "clock set by $offset: they are right" plausible
	[ -n "${KSFT_MACHINE_SLOW:-}" ] ||
		check "clock set by $offset: noticed" test "$(nicclock "$a" w0 steps)" -gt "$steps"
done
# While the NIC's stamps were good, the driver's were not kept.
! exact || check "the first RTT of some is TCP's" test $(($(cc_counter samples_rtt) - before)) -ge 1
check "RTTs of two sources are not compared" grown source_changes 0

# near VALUE WANT TOLERANCE
near() { [ "$1" -ge $(($2 - $3)) ] && [ "$1" -le $(($2 + $3)) ]; }
for drift in 200 -200; do
	wire_set "$a/w0" clock_drift ${drift}ppm
	skew() { near "$(nicclock "$a" w0 skew_ppb)" $((-drift * 1000)) 20000; }
	[ -n "${KSFT_MACHINE_SLOW:-}" ] ||
		check "a drift of $drift ppm is found" wait_for 20 skew
	check_stamped "$drift ppm: stamps" 200
	check "$drift ppm: RTTs are right" plausible
done
wire_set "$a/w0" clock_drift 0

stamps "$a/w0" 0
mark
check "stamps are switched off: other RTTs" wait_for 20 grown samples_sw 50
check_eq "no more from the NIC" "$(mark && wait_for 20 grown samples_sw 20 && since samples_hw)" 0
stamps "$a/w0" 1
check_stamped "switched on: the NIC's again" 200

# ---- interrupts

ip netns exec "$a" ethtool -C w0 rx-usecs 300
check_stamped "rx-usecs: stamps" 200
check "rx-usecs: RTTs do not have the wait in them" plausible
if exact; then
	params source=sw
	check "rx-usecs: those of the driver do" test "$(flow -p 5002 cc=timely connect send=500000 \
		"run=ip netns exec $a ss -Htine dport = 5002" close eof |
		ss_number mrtt | awk '{ print int($1 * 1000) }')" -ge 100
	params source=auto
else
	skip "rx-usecs: those of the driver do" "time is real"
fi
ip netns exec "$a" ethtool -C w0 rx-usecs 0

# ---- the line

check "all bytes arrive" end_flow

# The tracepoint does not see the ACKs of a connection that is being closed: the last stamp that it saw is not theirs.
ip netns exec "$a" sysctl -qw net.ipv4.tcp_wmem="4096 4000000 8000000"
mark
check "closed with data in flight: all of it arrives" flow cc=timely connect send=1000000 fill close eof
check "RTTs are then TCP's" test "$(since samples_rtt)" -ge 5
! exact || check_eq "none is less than nothing" "$(since skipped_negative)" 0
params max_rate=0
long_flow cc=timely connect send=1000000
# paces_at BPS: does the connection?
paces_at() { info 5001 | grep -qw "bw:$1bps"; }
wire_set "$a/w0" rate 100mbit
check "a slower line: the rate is its" wait_for 20 paces_at "$(line_rate 100)"
check_eq "as nicclock says" "$(nicclock "$a" w0 rate_Mbps)" 100
wire_set "$a/w0" rate 500mbit
check "a faster line: the rate is its" wait_for 20 paces_at "$(line_rate 500)"
ip -n "$a" link set w0 carrier off
ip -n "$a" link set w0 carrier on
check_stamped "a cable that was pulled: stamps" 200
check "all bytes arrive" end_flow

# ---- devices that go

ip -n "$a" link add w0.5 link w0 type vlan id 5
ip -n "$b" link add w1.5 link w1 type vlan id 5
ip -n "$a" link set w0.5 up
ip -n "$b" link set w1.5 up
ip -n "$a" addr add 10.0.5.1/24 dev w0.5
ip -n "$b" addr add 10.0.5.2/24 dev w1.5
FLOW=(-d 10.0.5.2)
mark
check "over a VLAN: all bytes arrive" flow cc=timely connect send=3000000 close eof
check "RTTs by a stamp" test $(($(since samples_hw) + $(since samples_sw))) -ge 20
check_eq "the line's rate is that of the device below" "$(flow cc=timely connect send=300000 "$INFO" close eof |
	ss_number bw)" "$(line_rate 500)"
FLOW=()

# what still waits for the answer to its FIN would do so for minutes
unused() { [ "$(</sys/module/tcp_timely/refcnt)" -eq 0 ]; }
check "the connections have ended" wait_for 30 unused
long_flow cc=timely connect send=500000
check_stamped "stamps" 200
ip -n "$a" link del w0
check_eq "the device goes: nicclock knows it no more" \
	"$(ip netns exec "$a" grep -c w0 /proc/net/closnet/nicclock)" 0
wire_ab rate 500mbit delay 20us
stamps "$a/w0" 1
mark
check "a new one comes: the connection goes on" wait_for 60 grown samples_sw 20
check_stamped "its stamps" 200
check "and has all its bytes" end_flow
# nothing_left: or what there is; the peer may still send its FIN again and again
nothing_left() {
	wait_for 60 unused && return
	cat /sys/module/tcp_timely/refcnt
	ip netns exec "$a" ss -taneoi
	ip netns exec "$b" ss -taneoi
	return 1
}
check "nothing is left behind" nothing_left
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The cable loses frames at the configured rate, and the receiver counts them. Interrupt moderation delays interrupts by
# rx-usecs: software timestamps are late by it, hardware timestamps are not, and GRO merges the frames of an interrupt.
# An idle port has no timer.
#
#	+--------- a ---------+     +--------- b ---------+
#	| traffic -> w0       |=====| w1                  |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
setup_ns a b
wire_ab delay 1us

arrived() { [ $(($(packets "$b/w1" rx_packets) + $(packets "$b/w1" rx_crc_errors))) -ge "$1" ]; }

# lose PERCENT MIN MAX: check that MIN to MAX of 900 frames are lost
total=0
lose() {
	local before lost
	wire_set "$a/w0" loss "$1%"
	before=$(packets "$b/w1" rx_crc_errors)
	send_frames -s "$a/w0" udp4,len=100,n=900
	total=$((total + 900))
	check "each frame arrives or is counted as lost at loss $1 %" wait_for 5 arrived $total
	lost=$(($(packets "$b/w1" rx_crc_errors) - before))
	check "cable loses $2 to $3 of 900 frames at loss $1 %: $lost" test $lost -ge "$2" -a $lost -le "$3"
}
# bounds of at least six standard deviations
lose 0 0 0
lose 10 36 144
lose 50 360 540
lose 100 900 900
check_json "$(wire_json "$b/w1")" "lost frames are CRC errors" '(.stats64.rx.crc_errors // .stats64.rx.errors) >= 900'
wire_set "$a/w0" loss 0

# ---- moderation

check "ethtool sets rx-usecs" ip netns exec "$b" ethtool -C w1 rx-usecs 200
check_refused "rx-usecs above the maximum is refused" "rx-usecs must be 0 to 10000" \
	ip netns exec "$b" ethtool -C w1 rx-usecs 10001
# late FILE: the smallest delay of a software timestamp after the hardware timestamp, in µs
late() { while read -r _ _ hw _ sw; do echo $(((sw - hw) / 1000)); done <"$1" | sort -n | head -n 1; }
for usecs in 200 0; do
	ip netns exec "$b" ethtool -C w1 rx-usecs $usecs
	check_to "$TMP/stamps" "datagrams arrive with rx-usecs $usecs" \
		closwire_stamp udp -s "$a/w0" -r "$b/w1" -d 10.0.0.2 -c 10
	check "software timestamps are at least $usecs µs late with rx-usecs $usecs" test "$(late "$TMP/stamps")" -ge $usecs
	check "hardware timestamps are exact with rx-usecs $usecs" stamps_apart "$TMP/stamps" 998 1002
done
if exact; then
	check "software timestamps are not late without moderation" test "$(late "$TMP/stamps")" -lt 1
else
	skip "software timestamps are not late without moderation" "needs virtual time"
fi

# received: packets that IP has received, which counts packets merged by GRO as one
# shellcheck disable=SC2016 # awk expands
received() { ip netns exec "$b" awk '/^Ip: [0-9]/ { print $4 }' /proc/net/snmp; }

# moderated USECS PORT: send a TCP stream; set `frames`, `packets` and `interrupts` to their numbers at the receiver
moderated() {
	local receiver
	frames=$(packets "$b/w1" rx_packets)
	packets=$(received)
	interrupts=$(counter "$b/w1" rx_interrupts)
	ip netns exec "$b" ethtool -C w1 rx-usecs "$1"
	traffic tcp-receive -n "$b" -p "$2" >/dev/null &
	receiver=$!
	JOBS+=("$receiver")
	wait_for 5 listening "$2"
	traffic tcp-send -n "$a" -d 10.0.0.2 -p "$2" -c 3000000
	wait $receiver
	frames=$(($(packets "$b/w1" rx_packets) - frames))
	packets=$(($(received) - packets))
	interrupts=$(($(counter "$b/w1" rx_interrupts) - interrupts))
	note "rx-usecs $1: $frames frames, $interrupts interrupts, $packets packets after GRO"
}
moderated 100 5001
check "moderation causes at most one interrupt per 4 frames" test $((interrupts * 4)) -le $frames
check "GRO merges frames with moderation" test $((packets * 4)) -le $frames
if exact; then
	moderated 0 5002
	check "each frame causes an interrupt without moderation" test $interrupts -ge $((frames * 9 / 10))
	check "GRO merges no frames without moderation" test $packets -ge $((frames * 9 / 10))
else
	skip "each frame causes an interrupt without moderation" "needs virtual time"
fi

# ---- idle

# timers: number of armed timers of closwire
timers() { grep -c closwire /proc/timer_list; }
if [ -r /proc/timer_list ]; then
	wire_set "$a/w0" delay 1s
	send_frames -s "$a/w0" udp4
	check "a frame on the cable has a timer" test "$(timers)" -ge 1
	no_timers() { [ "$(timers)" -eq 0 ]; }
	check "idle port has no timer" wait_for 5 no_timers
else
	skip "idle port has no timer" "no /proc/timer_list"
fi
finish

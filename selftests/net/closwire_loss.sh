#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The cable loses frames as often as told, and the receiver counts them. The
# interrupt waits as long as told: software stamps get late by it, hardware
# stamps do not, and GRO merges what came meanwhile. Nothing is armed while
# nothing moves.
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

# lose PERCENT LEAST MOST: so many of 900 frames are lost
total=0
lose() {
	local before lost
	wire_set "$a/w0" loss "$1%"
	before=$(packets "$b/w1" rx_crc_errors)
	send_frames -s "$a/w0" udp4,len=100,n=900
	total=$((total + 900))
	check "loss $1 %: each frame arrives or is counted" wait_for 5 arrived $total
	lost=$(($(packets "$b/w1" rx_crc_errors) - before))
	check "loss $1 %: $lost of 900, $2 to $3" test $lost -ge "$2" -a $lost -le "$3"
}
# six standard deviations and more
lose 0 0 0
lose 10 36 144
lose 50 360 540
lose 100 900 900
check_json "$(wire_json "$b/w1")" "as CRC errors" '(.stats64.rx.crc_errors // .stats64.rx.errors) >= 900'
wire_set "$a/w0" loss 0

# ---- moderation

check "rx-usecs" ip netns exec "$b" ethtool -C w1 rx-usecs 200
check_refused "rx-usecs too long" "rx-usecs must be 0 to 10000" ip netns exec "$b" ethtool -C w1 rx-usecs 10001
# late FILE: the least that software stamps are behind hardware's, in us
late() { while read -r _ _ hw _ sw; do echo $(((sw - hw) / 1000)); done <"$1" | sort -n | head -n 1; }
for usecs in 200 0; do
	ip netns exec "$b" ethtool -C w1 rx-usecs $usecs
	check_to "$TMP/stamps" "rx-usecs $usecs: datagrams come" \
		closwire_stamp udp -s "$a/w0" -r "$b/w1" -d 10.0.0.2 -c 10
	check "rx-usecs $usecs: software stamps are late by it" test "$(late "$TMP/stamps")" -ge $usecs
	check "rx-usecs $usecs: hardware stamps are not" stamps_apart "$TMP/stamps" 998 1002
done
if exact; then
	check "without, software stamps are not late" test "$(late "$TMP/stamps")" -lt 1
else
	skip "without, software stamps are not late" "time is real"
fi

# how many packets IP has received: behind GRO, one that is merged is one
# shellcheck disable=SC2016 # awk expands
received() { ip netns exec "$b" awk '/^Ip: [0-9]/ { print $4 }' /proc/net/snmp; }

# moderated USECS PORT: a TCP stream; sets frames, packets and interrupts to what came
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
	note "rx-usecs $1: $frames frames, $interrupts interrupts, $packets packets behind GRO"
}
moderated 100 5001
check "moderated: fewer interrupts than frames" test $((interrupts * 4)) -le $frames
check "moderated: GRO merges" test $((packets * 4)) -le $frames
if exact; then
	moderated 0 5002
	check "not moderated: an interrupt for each frame" test $interrupts -ge $((frames * 9 / 10))
	check "not moderated: GRO finds nothing to merge" test $packets -ge $((frames * 9 / 10))
else
	skip "not moderated" "time is real"
fi

# ---- idle

# timers: those of closwire that are armed
timers() { grep -c closwire /proc/timer_list; }
if [ -r /proc/timer_list ]; then
	wire_set "$a/w0" delay 1s
	send_frames -s "$a/w0" udp4
	check "a frame on the cable: a timer" test "$(timers)" -ge 1
	no_timers() { [ "$(timers)" -eq 0 ]; }
	check "idle: no timer" wait_for 5 no_timers
else
	skip "idle: no timer" "no /proc/timer_list"
fi
finish

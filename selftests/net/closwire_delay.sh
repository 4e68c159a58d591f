#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Histograms of one-way delays: exact on an idle path and behind a known queue, through a bridge; waiting in the host's
# qdisc included for TCP; counts begin at zero with each measurement.
#
#	+----- a -----+   10 Gbit/s   +------ sw ------+   1 Gbit/s   +----- b -----+
#	| frames - w0 |===============| s0   br0    s1 |==============| w1          |
#	+-------------+      5 µs     +----------------+     5 µs     +-------------+
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
sw=''
setup_ns a b sw
ip link add w0 address $MAC_A netns "$a" type closwire rate 10gbit delay 5us peer name s0 netns "$sw"
ip link add w1 address $MAC_B netns "$b" type closwire rate 1gbit delay 5us peer name s1 netns "$sw"
ip -n "$sw" link add br0 type bridge || skip_all "no bridges"
for port in s0 s1; do
	ip -n "$sw" link set $port master br0 up
	ip netns exec "$sw" ethtool -K $port gro off
done
ip -n "$sw" link set br0 up
ends_up w0 w1
ip netns exec "$b" ethtool -K w1 gro off
bridge_forwards() { [ "$(bridge -n "$sw" link show | grep -c 'state forwarding')" -eq 2 ]; }
wait_for 10 bridge_forwards

# measure NS/DEV FLAG: start (1) or stop (0) a measurement
measure() { in_ns "${1%/*}" ethtool -W "${1#*/}" "$2"; }
# delays NS/DEV: set min, max and frames to the smallest and largest delay in ns and the number of frames
delays() {
	in_ns "${1%/*}" ethtool -w "${1#*/}" data "$TMP/dump" >"$TMP/about" || return
	read -r min max frames < <(od -An -v -tu8 -w8 "$TMP/dump" | awk '
		NR == 1 { min = $1 } NR == 2 { max = $1 } NR > 2 { n += $1 } END { print min, max, n + 0 }')
}
# between LEAST VALUE: true if VALUE is LEAST or a ns more; without virtual time, LEAST or more
between() { [ "$2" -ge "$1" ] && { ! exact || [ "$2" -le $(($1 + 1)) ]; }; }

check_refused "without a measurement there is no histogram" "" delays "$b/w1"
check_refused "a measurement has no flag 2" "" measure "$b/w1" 2
check "a measurement starts" measure "$b/w1" 1
delays "$b/w1"
check_eq "a new histogram is empty" "$max $frames" "0 0"

# 1526 bytes at 10 Gbit/s and at 1 Gbit/s, two cables
idle=$((1220 + 12208 + 10000))
send_frames -s "$a/w0" -c "in=$b/w1/in/1" udp4,len=1514     # the bridge learns
measure "$b/w1" 1
check "a frame arrives" send_frames -s "$a/w0" -c "in=$b/w1/in/1" udp4,len=1514
delays "$b/w1"
check_eq "a frame is counted once" "$frames" 1
check "delay of a frame is that of the idle path: $min ns" between $idle "$min"
check_eq "smallest and largest delay of a frame are equal" "$min" "$max"

check "a measurement restarts" measure "$b/w1" 1
check "a measurement of a second port starts" measure "$sw/s0" 1
# one GSO packet of 20 frames: each waits for those before it, 1538 bytes at 1 Gbit/s
check "a burst arrives" send_frames -s "$a/w0" -c "in=$b/w1/in/20" tcp4,csum=partial,gso=1460,len=$((54 + 20 * 1460))
delays "$b/w1"
check_eq "a restarted measurement counts the burst only" "$frames" 20
check "first frame of a burst has the delay of the idle path: $min ns" between $idle "$min"
check "last frame of a burst has waited for all others: $max ns" between $((idle + 19 * 12304)) "$max"
delays "$sw/s0"
check_eq "a switch's port counts the burst" "$frames" 20
check "delay at the switch is that of the first link: $min ns" between $((1220 + 5000)) "$min"
check "last frame leaves the host after all others: $max ns" between $((1220 + 19 * 1230 + 7 + 5000)) "$max"

# ---- the host's qdisc

# a frame takes 123 ms, so a slow machine has time to connect; two frames are in the ring, the others in the qdisc
wire_set "$a/w0" rate 100kbit ring 2
tc -n "$a" qdisc replace dev w0 root pfifo limit 1000
measure "$b/w1" 1
check "20 frames are sent, and a SYN behind them" send_frames -s "$a/w0" \
	-x "nsenter --net=/run/netns/$a timeout 20 bash -c ': >/dev/tcp/10.0.0.2/9' || true" udp4,n=20,len=1514
delays "$b/w1"
if exact || [ "$max" -ge $((8 * 123040000)) ]; then
	check "delay of a TCP packet includes its wait in the host's qdisc: $max ns" [ "$max" -ge $((8 * 123040000)) ]
else
	skip "delay of a TCP packet includes its wait in the host's qdisc" "the machine connected too late"
fi
wire_set "$a/w0" rate 10gbit ring 256

# ---- the end of a measurement

check "a measurement stops" measure "$b/w1" 0
check_refused "a stopped measurement has no histogram" "" delays "$b/w1"
check "a stopped measurement stops again" measure "$b/w1" 0
check "a port is deleted during its measurement" ip -n "$sw" link del s0
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Priority flow control (802.1Qbb): frames of a paused priority are held, and other priorities pass if they have a ring
# of their own. A pause ends when a resume frame arrives, and by itself to the nanosecond. Both sides count each pause
# frame and the time that each priority was paused.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> w0        |=====| w1 -> stamps        |
#	|                  <--|-----|--- pause frames     |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
setup_ns a b
WIRE=(numtxqueues 2)
wire_ab delay 1us rate 1gbit
. "$(dirname "$0")/../lib/pause.sh"
tc -n "$a" qdisc replace dev w0 root pfifo # the default one has priorities

# paused_ns PRIO: time in ns during which the priority was paused
paused_ns() { counter "$a/w0" "rx_prio$1_paused_ns"; }

# frames COUNT SPEC...: send frames; true if COUNT frames arrive
frames() {
	local count=$1
	shift
	send_frames -T -s "$a/w0" -c "in=$b/w1/in/$count" "$@"
}

# order: print the first digit of each received frame's index, in the order of arrival
order() { awk '{ print int($2 / 10) }' "$TMP/result" | paste -sd ''; }

# ---- one ring

ip netns exec "$a" ethtool -L w0 tx 1
check "frames pass without a pause" frames 10 udp4,n=10
slow_pause 3
check "frames of priority 0 pass while priority 3 is paused" frames 10 udp4,n=10
check "an unused paused priority does not stop the link" test "$(counter "$a/w0" tx_paused)" -eq 0
check_to "$TMP/result" "frames of priority 3 and all frames behind them arrive after the resume frame" \
	send_frames -T -s "$a/w0" -c "in=$b/w1/in/20" \
	-x "closwire_raw pause -s $b/w1 3=0" \
	udp4,n=10,prio=3 udp4,n=10
paused=$((paused + 1))
check_eq "frames of one ring leave in order after a pause" "$(order)" 00000000001111111111
check_eq "the pause stopped the link once" "$(counter "$a/w0" tx_paused)" 1

# the priority of a VLAN tag overrides the socket's
if ip -n "$a" link add link w0 name w0.5 type vlan id 5 egress-qos-map 0:6; then
	ip -n "$a" link set w0.5 up
	slow_pause 6
	check "untagged frames pass while PCP 6 is paused" frames 5 udp4,n=5
	check "a frame with PCP 6 enters the ring" send_frames -s "$a/w0" udp4,vlan=off
	check_eq "a pause of priority 6 holds the frame with PCP 6" "$(counter "$a/w0" tx_paused)" 2
	pause 6=0
	check "frames pass after priority 6 is resumed" frames 5 udp4,n=5
else
	skip "a pause of priority 6 holds the frame with PCP 6" "no VLAN devices"
fi

# ---- two rings

ip netns exec "$a" ethtool -L w0 tx 2
tc -n "$a" qdisc replace dev w0 root mqprio num_tc 2 map 0 0 0 1 0 0 0 0 queues 1@0 1@1 hw 0
slow_pause 3
check_to "$TMP/result" "frames of both rings arrive" send_frames -T -s "$a/w0" -c "in=$b/w1/in/20" \
	-x "sleep 0.2; closwire_raw pause -s $b/w1 3=0" udp4,n=10,prio=3 udp4,n=10
paused=$((paused + 1))
check_eq "frames of the other ring pass during the pause" "$(order)" 11111111110000000000
tc -n "$a" qdisc del dev w0 root

# ---- the end of a pause

# 1000 quanta at 1 Gbit/s are 512 µs. The pause frame takes 576 ns on the link and 1 µs on the cable. Then a frame takes
# 64 ns for its preamble, after which it is stamped 1 µs later at the other end. Interrupt moderation has no influence.
before=$(paused_ns 0)
if exact; then
	for usecs in 0 300; do
		ip netns exec "$a" ethtool -C w0 rx-usecs $usecs
		sent=$(closwire_raw pause -t -s "$b/w1" 0=1000)
		paused=$((paused + 1))
		frames 1 udp4 >"$TMP/result"
		read -r _ _ _ _ arrival <"$TMP/result"
		waited=$((arrival - sent - 576 - 1000 - 64 - 1000))
		check "a pause of 512000 ns ends after $waited ns with rx-usecs $usecs" \
			test $waited -ge 512000 -a $waited -le 512001
	done
	ip netns exec "$a" ethtool -C w0 rx-usecs 0
	check_eq "paused time is counted to the ns" "$(paused_ns 0)" $((before + 2 * 512000))
else
	skip "a pause of 512000 ns ends exactly" "needs virtual time"
fi
before=$(paused_ns 0)
pause 0=100
check "a pause ends without a resume frame" frames 10 udp4,n=10
check_eq "a pause without a resume frame is counted to the ns" "$(paused_ns 0)" $((before + 51200))
pause 0=0 7=0
check "a resume frame without a pause has no effect" frames 10 udp4,n=10

# ---- paused time

# longer PRIO NS: true if the priority has been paused for more than NS
longer() { [ "$(paused_ns "$1")" -gt "$2" ]; }

slow_pause 2
before=$(paused_ns 2)
check "paused time grows while a pause lasts" wait_for 5 longer 2 "$before"
pause 2=0
before=$(paused_ns 2)
check "frames of priority 2 pass after the resume frame" frames 10 udp4,n=10,prio=2
check_eq "paused time does not grow after the resume frame" "$(paused_ns 2)" "$before"
slow_pause 2
ip -n "$a" link set w0 down
before=$(paused_ns 2)
ip -n "$a" link set w0 up
wait_for 5 has_carrier "$a" w0
ip -n "$a" neigh replace 10.0.0.2 lladdr "$MAC_B" nud permanent dev w0
check "a port that goes down is not paused when it comes up" frames 10 udp4,n=10,prio=2
check_eq "paused time does not grow while the port is down" "$(paused_ns 2)" "$before"
check_eq "paused time is counted by priority" "$(paused_ns 1)" 0

# ---- counters

sum=0
for prio in 0 1 2 3 4 5 6 7; do
	sent=$(counter "$b/w1" tx_prio${prio}_pause)
	check_eq "w0 receives as many pause frames of priority $prio as w1 sends" \
		"$(counter "$a/w0" rx_prio${prio}_pause)" "$sent"
	sum=$((sum + sent))
done
check_eq "both sides count all pause frames" \
	"$(mac_ctrl "$b/w1" MACControlFramesTransmitted) $(mac_ctrl "$a/w0" MACControlFramesReceived)" "$paused $paused"
check_eq "pause frames are not counted as data" "$(packets "$a/w0" rx_packets)" "$(packets "$b/w1" tx_packets)"

# ---- pause frames of another module

sender=$CLOSNET_TESTBIN/${CLOSNET_KERNEL:-}/pfc_sender.ko
# send NS DEV PRIO QUANTA
send() { ip netns exec "$1" insmod "$sender" dev="$2" prio="$3" quanta="$4" && rmmod pfc_sender; }
if [ -e "$sender" ]; then
	check "closwire_pfc_xmit() sends a pause frame" send "$b" w1 7 65535
	paused=$((paused + 1))
	check "a pause frame of closwire_pfc_xmit() arrives" \
		wait_for 5 at_least $paused mac_ctrl "$a/w0" MACControlFramesReceived
	check_eq "a pause frame of closwire_pfc_xmit() has its priority" "$(counter "$a/w0" rx_prio7_pause)" $((sent + 1))
	check_refused "closwire_pfc_xmit() refuses other devices" "not supported" send "$b" lo 7 1
	ip -n "$a" link set w0 carrier off
	check_refused "closwire_pfc_xmit() fails without carrier" "down" send "$b" w1 7 1
	ip -n "$a" link set w0 carrier on
	wait_for 5 has_carrier "$b" w1
	# peer_rate: the rate of w1's peer, w0, as closwire_pfc_peer_Mbps() returns it
	peer_rate() {
		ip netns exec "$b" insmod "$sender" dev=w1 prio=7 quanta=0
		cat /sys/module/pfc_sender/parameters/peer_Mbps
		rmmod pfc_sender
		paused=$((paused + 1))
	}
	for rate in 100kbit=1 40gbit=40000 1gbit=1000; do
		wire_set "$a/w0" rate "${rate%=*}"
		peer_rate >"$TMP/result"
		check_eq "closwire_pfc_peer_Mbps() returns the peer's rate of ${rate%=*}" "$(<"$TMP/result")" "${rate#*=}"
	done
else
	skip "closwire_pfc_xmit() sends a pause frame" "no pfc_sender.ko: selftests/run builds it"
fi

# ---- other MAC control frames

# an 802.3x pause frame, a truncated PFC frame, an empty frame
head=0180c200000102000000000b8808
check "malformed MAC control frames are sent" closwire_raw hex -s "$b/w1" "${head}0001ffff" "${head}0101000f" "$head"
check "malformed MAC control frames are counted" wait_for 5 at_least 3 mac_ctrl "$a/w0" UnsupportedOpcodesReceived
check "malformed MAC control frames pause no priority" frames 10 udp4,n=10
check "TSO packets with the type of MAC control frames are sent" closwire_raw segments -s "$b/w1" -c 4
check "each of their 32 segments is a MAC control frame" wait_for 5 at_least 35 mac_ctrl "$a/w0" UnsupportedOpcodesReceived

# pause_stats NS/DEV: numbers of 802.3x pause frames sent and received
pause_stats() {
	in_ns "${1%/*}" ethtool -I -a "${1#*/}" | awk '$1 ~ /_pause_frames:/ { print $2 }' | paste -sd ' '
}
check_eq "ethtool -I -a counts the pause frame of 802.3x that w1 sent" "$(pause_stats "$b/w1")" "1 0"
check_eq "ethtool -I -a counts the pause frame of 802.3x that w0 received" "$(pause_stats "$a/w0")" "0 1"
check "ethtool -a shows that 802.3x pause is off" eval \
	"ip netns exec $a ethtool -a w0 | awk '/^RX:/ { r = \$2 } /^TX:/ { t = \$2 } END { exit !(r == \"off\" && t == \"off\") }'"
repeated() {
	ip netns exec "$a" ethtool -S w0 |
		grep -E '[rt]x_(frames|bytes|pause_frames|lost|dropped_length|dropped_carrier|ctrl)'
}
check "ethtool -S repeats no standard counter" eval "! repeated"

# ---- peers of different rates

# 1000 quanta are 51.2 µs at w0's 10 Gbit/s, but 5.12 s at w1's 100 kbit/s
wire_set "$a/w0" rate 10gbit
before=$(paused_ns 4)
pause 4=1000
wire_set "$b/w1" rate 100kbit
check "the receiving port's rate determines the duration of a pause" wait_for 5 frames 10 udp4,n=10,prio=4
before=$(($(paused_ns 4) - before))
check "a pause of 1000 quanta at 10 Gbit/s lasts 51200 ns: $before" test $before -ge 51199 -a $before -le 51200
wire_set "$a/w0" rate 1gbit
wire_set "$b/w1" rate 1gbit

# ---- a flood

check "a flood of pause frames is sent" closwire_raw pause -s "$b/w1" -c 3000 0=1 1=1 5=65535
all_arrived() {
	[ "$(mac_ctrl "$a/w0" MACControlFramesReceived)" -eq "$(mac_ctrl "$b/w1" MACControlFramesTransmitted)" ]
}
check "each sent pause frame arrives" wait_for 5 all_arrived
check "each pause frame of the flood is sent or counted as a drop" \
	test $(($(mac_ctrl "$b/w1" MACControlFramesTransmitted) + $(counter "$b/w1" tx_dropped_ctrl))) -eq $((paused + 3 + 32 + 3000))
check "frames pass after a flood of pause frames" frames 10 udp4,n=10
finish

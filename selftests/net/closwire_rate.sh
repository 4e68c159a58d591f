#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Frames arrive (max(length, 60) + 24) * 8 / rate apart, for frames of any origin, and `delay` after they left, by the
# receiver's hardware timestamps. These are computed, so that a slow machine gives the same ones.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> w0        |=====| w1 -> stamps        |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
setup_ns a b
WIRE=(mtu 9000)
wire_ab delay 5us
ip netns exec "$b" ethtool -K w1 gro off

# spaced FILE PICOSECONDS: true if the frames' timestamps are multiples of PICOSECONDS after the first, rounded to a ns
spaced() {
	local first='' n=0 ns want
	while read -r _ _ _ _ ns; do
		first=${first:-$ns}
		want=$((first + n * $2 / 1000))
		if [ "$ns" -lt $((want - 1)) ] || [ "$ns" -gt $((want + 1)) ]; then
			echo "frame $n: $((ns - first)) ns after the first, not $((want - first))"
			return 1
		fi
		n=$((n + 1))
	done <"$1"
	[ "$n" -gt 10 ] || { echo "only $n frames" && return 1; }
}

# picoseconds LENGTH BITS_PER_SECOND: set `ps` to the transmission time of a frame in ps
picoseconds() { ps=$((($1 + 24) * 8 * 1000000000000 / $2)); }

# cut NAME LENGTH BITS_PER_SECOND KIND HEADER PAYLOAD: send one GSO packet of 40 segments with PAYLOAD bytes each; check
# that they leave as 40 frames that take as long as LENGTH bytes
cut() {
	local ps spec=$4,csum=partial,gso=$6,len=$(($5 + 40 * $6))
	picoseconds "$2" "$3"
	check_to "$TMP/stamps" "$1: 40 segments arrive as whole frames" \
		send_frames -T -s "$a/w0" -c "in=$b/w1/in/40" "$spec"
	check "$1: segments arrive $ps ps apart" spaced "$TMP/stamps" "$ps"
}

rates=({1,10,100}000000000 12345678904)
exact && rates+=({25,40,1000}000000000 100000000)
for bits in "${rates[@]}"; do
	wire_set "$a/w0" rate "${bits}bit"
	cut "$bits bit/s" 1514 "$bits" tcp4 54 1460
done
wire_set "$a/w0" rate 10gbit
cut "IPv6" 1514 10000000000 tcp6 74 1440
cut "shortest segments" 62 10000000000 tcp4 54 8
if send_frames -s "$a/w0" udp4,csum=partial,gso=1000,len=8042 2>/dev/null; then
	cut "UDP" 1042 10000000000 udp4 42 1000
	cut "UDP over IPv6" 1514 10000000000 udp6 62 1452
else
	skip "UDP: segments arrive spaced by the rate" "packet sockets of this kernel do not support UDP GSO"
fi
if ip -n "$a" link add link w0 name w0.5 type vlan id 5; then
	ip -n "$a" link set w0.5 up
	cut "VLAN tag" 1518 10000000000 tcp4,vlan=off 58 1460
else
	skip "VLAN tag: segments arrive spaced by the rate" "no VLAN devices"
fi

# ---- frame by frame

# A pause holds the frames in the ring until the rate is set.
limit=/sys/class/net/w0/queues/tx-0/byte_queue_limits/limit_min
ip netns exec "$a" test ! -e $limit || ip netns exec "$a" tee $limit >/dev/null <<<10000000
send_frames -s "$a/w0" udp4 # BQL reads limit_min when a frame has left
pauses=0

# frames NAME LENGTH GBIT SPEC: send 50 frames one by one and check the spacing
frames() {
	local ps
	picoseconds "$2" "${3}000000000"
	wire_set "$a/w0" rate 1mbit
	closwire_raw pause -s "$b/w1" 0=65535
	pauses=$((pauses + 1))
	wait_for 5 at_least $pauses mac_ctrl "$a/w0" MACControlFramesReceived
	check_to "$TMP/stamps" "$1: 50 frames arrive whole" send_frames -T -s "$a/w0" -c "in=$b/w1/in/50" \
		-x "ip -n $a link set w0 type closwire rate ${3}gbit; closwire_raw pause -s $b/w1 0=0" "$4,n=50"
	pauses=$((pauses + 1))
	check "$1: frames arrive $ps ps apart" spaced "$TMP/stamps" "$ps"
	check "$1: frames arrive in order" sort -c -n -k2 "$TMP/stamps"
}
frames "1514 bytes" 1514 10 udp4,len=1514
frames "42 bytes, padded" 60 1 udp4,len=42
frames "60 bytes" 60 1 udp4,len=60
frames "61 bytes" 61 1 udp4,len=61
frames "non-linear skb" 9014 100 udp4,len=9014,csum=partial,lin=94
frames "VLAN tags in the frame" 1000 25 udp4,vlan=qinq,len=1000

# ---- the cable

for delay in 0 1 777777; do
	wire_set "$a/w0" rate 10gbit delay ${delay}ns
	check_to "$TMP/stamps" "20 datagrams arrive with a delay of $delay ns" \
		closwire_stamp udp -s "$a/w0" -r "$b/w1" -d 10.0.0.2 -c 20
	check "a delay of $delay ns is exact" stamps_apart "$TMP/stamps" $((delay - 2)) $((delay + 2))
done

# The timer may fire a fraction of a nanosecond late, which clocks round up.
if exact; then
	wire_set "$a/w0" rate 10gbit delay 5us
	closwire_stamp udp -s "$a/w0" -r "$b/w1" -d 10.0.0.2 -c 20 -l 1472 >"$TMP/stamps"
	way=$(while read -r _ _ _ tx rx; do echo $((rx - tx)); done <"$TMP/stamps" | sort -u)
	check "software timestamps on an idle link are 1526 * 0.8 ns + 5 µs apart: $way" \
		test "$way" = 6220 -o "$way" = 6221
fi

# Later frames do not overtake frames on the cable when its delay shrinks.
wire_set "$a/w0" delay 200ms
send_frames -T -s "$a/w0" -c "in=$b/w1/in/20" \
	-x "ip -n $a link set w0 type closwire delay 0" udp4,n=20 >"$TMP/stamps" &
sender=$!
JOBS+=("$sender")
wait_for 5 at_least $(($(packets "$a/w0" tx_packets) + 1)) packets "$a/w0" tx_packets || true
check "all frames arrive when the delay shrinks" wait $sender
check "frames arrive in order when the delay shrinks" sort -c -n -k2 "$TMP/stamps"
finish

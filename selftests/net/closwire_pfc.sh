#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Priority pause (802.1Qbb): frames of a paused priority wait, others pass where
# they have a ring of their own; the pause ends when it is lifted, and by
# itself to the nanosecond; every frame of it is counted on both sides, and so is
# how long each priority was paused.
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

# paused_ns PRIO: how long pause frames have held it
paused_ns() { counter "$a/w0" "rx_prio$1_paused_ns"; }

# frames COUNT SPEC...: COUNT frames come within a moment; fewer is all that may come
frames() {
	local count=$1
	shift
	send_frames -T -s "$a/w0" -c "in=$b/w1/in/$count" "$@"
}

# priorities: of each frame that came, the first digit of its index
order() { awk '{ print int($2 / 10) }' "$TMP/result" | paste -sd ''; }

# ---- one ring

ip netns exec "$a" ethtool -L w0 tx 1
check "no pause" frames 10 udp4,n=10
slow_pause 3
check "priority 3 is paused: 0 passes" frames 10 udp4,n=10
check "it has no time to pause" test "$(counter "$a/w0" tx_paused)" -eq 0
check_to "$TMP/result" "3 waits, and all behind it, until it is lifted" \
	send_frames -T -s "$a/w0" -c "in=$b/w1/in/20" \
	-x "closwire_raw pause -s $b/w1 3=0" \
	udp4,n=10,prio=3 udp4,n=10
paused=$((paused + 1))
check_eq "in order" "$(order)" 00000000001111111111
check_eq "the line stood still once" "$(counter "$a/w0" tx_paused)" 1

# a VLAN tag's priority goes before the socket's
if ip -n "$a" link add link w0 name w0.5 type vlan id 5 egress-qos-map 0:6; then
	ip -n "$a" link set w0.5 up
	slow_pause 6
	check "PCP 6 is paused: 0 passes" frames 5 udp4,n=5
	check "a frame with a tag is sent" send_frames -s "$a/w0" udp4,vlan=off
	check_eq "and waits" "$(counter "$a/w0" tx_paused)" 2
	pause 6=0
	check "until the pause is lifted" frames 5 udp4,n=5
else
	skip "VLAN tag" "no VLAN devices"
fi

# ---- two rings

ip netns exec "$a" ethtool -L w0 tx 2
tc -n "$a" qdisc replace dev w0 root mqprio num_tc 2 map 0 0 0 1 0 0 0 0 queues 1@0 1@1 hw 0
slow_pause 3
check_to "$TMP/result" "the other ring goes on" send_frames -T -s "$a/w0" -c "in=$b/w1/in/20" \
	-x "sleep 0.2; closwire_raw pause -s $b/w1 3=0" udp4,n=10,prio=3 udp4,n=10
paused=$((paused + 1))
check_eq "and is through before" "$(order)" 11111111110000000000
tc -n "$a" qdisc del dev w0 root

# ---- the end of a pause

# 1000 quanta at 1 Gbit/s are 512 us. Before, the pause frame takes 576 ns on
# the line and 1 us on the cable; after, a frame is stamped behind its preamble
# of 64 ns, 1 us later at the other end. An interrupt that is held back matters
# not.
before=$(paused_ns 0)
if exact; then
	for usecs in 0 300; do
		ip netns exec "$a" ethtool -C w0 rx-usecs $usecs
		sent=$(closwire_raw pause -t -s "$b/w1" 0=1000)
		paused=$((paused + 1))
		frames 1 udp4 >"$TMP/result"
		read -r _ _ _ _ came <"$TMP/result"
		waited=$((came - sent - 576 - 1000 - 64 - 1000))
		check "rx-usecs $usecs: a pause of 512000 ns ends after $waited ns" \
			test $waited -ge 512000 -a $waited -le 512001
	done
	ip netns exec "$a" ethtool -C w0 rx-usecs 0
	check_eq "both are counted, to the ns" "$(paused_ns 0)" $((before + 2 * 512000))
else
	skip "the end of a pause, exactly" "time is real"
fi
before=$(paused_ns 0)
pause 0=100
check "a short pause ends by itself" frames 10 udp4,n=10
check_eq "and is counted, to the ns" "$(paused_ns 0)" $((before + 51200))
pause 0=0 7=0
check "lifting where there is no pause" frames 10 udp4,n=10

# ---- how long it was paused

# longer PRIO NS: has the priority been paused for more than NS?
longer() { [ "$(paused_ns "$1")" -gt "$2" ]; }

slow_pause 2
before=$(paused_ns 2)
check "the time counts while a pause is on" wait_for 5 longer 2 "$before"
pause 2=0
before=$(paused_ns 2)
check "frames pass when it is lifted" frames 10 udp4,n=10,prio=2
check_eq "and no time counts" "$(paused_ns 2)" "$before"
slow_pause 2
ip -n "$a" link set w0 down
before=$(paused_ns 2)
ip -n "$a" link set w0 up
wait_for 5 has_carrier "$a" w0
ip -n "$a" neigh replace 10.0.0.2 lladdr "$MAC_B" nud permanent dev w0
check "a port that goes down is not paused when it comes up" frames 10 udp4,n=10,prio=2
check_eq "nor is the time counted" "$(paused_ns 2)" "$before"
check_eq "other priorities have their own" "$(paused_ns 1)" 0

# ---- counters

sum=0
for prio in 0 1 2 3 4 5 6 7; do
	sent=$(counter "$b/w1" tx_prio${prio}_pause)
	check_eq "priority $prio: sent as received" "$(counter "$a/w0" rx_prio${prio}_pause)" "$sent"
	sum=$((sum + sent))
done
check_eq "all pause frames are counted" \
	"$(mac_ctrl "$b/w1" MACControlFramesTransmitted) $(mac_ctrl "$a/w0" MACControlFramesReceived)" "$paused $paused"
check_eq "none as data" "$(packets "$a/w0" rx_packets)" "$(packets "$b/w1" tx_packets)"

# ---- pause frames of another module

sender=$CLOSNET_TESTBIN/${CLOSNET_KERNEL:-}/pfc_sender.ko
# send NS DEV PRIO QUANTA
send() { ip netns exec "$1" insmod "$sender" dev="$2" prio="$3" quanta="$4" && rmmod pfc_sender; }
if [ -e "$sender" ]; then
	check "a module has one sent" send "$b" w1 7 65535
	paused=$((paused + 1))
	check "it comes" wait_for 5 at_least $paused mac_ctrl "$a/w0" MACControlFramesReceived
	check_eq "for its priority" "$(counter "$a/w0" rx_prio7_pause)" $((sent + 1))
	check_refused "not by other devices" "not supported" send "$b" lo 7 1
	ip -n "$a" link set w0 carrier off
	check_refused "not without carrier" "down" send "$b" w1 7 1
	ip -n "$a" link set w0 carrier on
	wait_for 5 has_carrier "$b" w1
	# w0 counts the pauses that w1 sends at its own rate
	# peer_rate: the rate that the module is given for w1
	peer_rate() {
		ip netns exec "$b" insmod "$sender" dev=w1 prio=7 quanta=0
		cat /sys/module/pfc_sender/parameters/peer_Mbps
		rmmod pfc_sender
		paused=$((paused + 1))
	}
	for rate in 100kbit=1 40gbit=40000 1gbit=1000; do
		wire_set "$a/w0" rate "${rate%=*}"
		peer_rate >"$TMP/result"
		check_eq "a module learns the peer's rate of ${rate%=*}" "$(<"$TMP/result")" "${rate#*=}"
	done
else
	skip "closwire_pfc_xmit()" "no pfc_sender.ko: selftests/run builds it"
fi

# ---- MAC control frames of other kinds

# opcode of 802.3x's pause, a cut PFC frame, an empty one
head=0180c200000102000000000b8808
check "malformed MAC control frames" closwire_raw hex -s "$b/w1" "${head}0001ffff" "${head}0101000f" "$head"
check "malformed MAC control frames are counted" wait_for 5 at_least 3 mac_ctrl "$a/w0" UnsupportedOpcodesReceived
check "and pause nothing" frames 10 udp4,n=10


# pause_stats NS/DEV: pause frames of 802.3x, sent and received
pause_stats() {
	in_ns "${1%/*}" ethtool -I -a "${1#*/}" | awk '$1 ~ /_pause_frames:/ { print $2 }' | paste -sd ' '
}
check_eq "ethtool -I -a counts the pause frame of 802.3x that w1 sent" "$(pause_stats "$b/w1")" "1 0"
check_eq "ethtool -I -a counts the pause frame of 802.3x that w0 received" "$(pause_stats "$a/w0")" "0 1"
check "ethtool -a shows that such pauses are off" eval \
	"ip netns exec $a ethtool -a w0 | awk '/^RX:/ { r = \$2 } /^TX:/ { t = \$2 } END { exit !(r == \"off\" && t == \"off\") }'"
repeated() {
	ip netns exec "$a" ethtool -S w0 |
		grep -E '[rt]x_(frames|bytes|pause_frames|lost|dropped_length|dropped_carrier|ctrl)'
}
check "ethtool -S repeats no standard counter" eval "! repeated"

# ---- peers of different rates

# 1000 quanta are 51.2 us at w0's 10 Gbit/s, 5.12 s at w1's 100 kbit/s
wire_set "$a/w0" rate 10gbit
before=$(paused_ns 4)
pause 4=1000
wire_set "$b/w1" rate 100kbit
check "a pause counts at the rate of the port that obeys it" wait_for 5 frames 10 udp4,n=10,prio=4
before=$(($(paused_ns 4) - before))
check "a pause of 1000 quanta is 51200 ns at 10 Gbit/s: $before" test $before -ge 51199 -a $before -le 51200
wire_set "$a/w0" rate 1gbit
wire_set "$b/w1" rate 1gbit

# ---- a flood

check "a flood of pause frames" closwire_raw pause -s "$b/w1" -c 3000 0=1 1=1 5=65535
came() { [ "$(mac_ctrl "$a/w0" MACControlFramesReceived)" -eq "$(mac_ctrl "$b/w1" MACControlFramesTransmitted)" ]; }
check "what is sent comes" wait_for 5 came
check "each is sent, or counted as dropped" \
	test $(($(mac_ctrl "$b/w1" MACControlFramesTransmitted) + $(counter "$b/w1" tx_dropped_ctrl))) -eq $((paused + 3 + 3000))
check "afterwards all is as before" frames 10 udp4,n=10
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# closwire on several CPUs: both ports transmit on all TX queues, while settings, carrier, MTU, queues and timestamping
# change, statistics are read, and other pairs are created and deleted.
#
#	+--------- a ---------+     +--------- b ---------+
#	| traffic -> w0       |=====| w1 <- traffic       |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2154,SC2317 # setup_ns sets a and b; functions are called through loop
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/smp.sh"
need_closwire
setup_ns a b
WIRE=(numtxqueues 4)
wire_ab rate 200mbit delay 20us

settings() {
	local rate
	for rate in 1gbit 100mbit 20mbit; do
		wire_set "$a/w0" rate "$rate" delay 10us loss 1% ring 16 clock_drift 1ppm || return
		wire_set "$b/w1" rate "$rate" delay 0 loss 0 ring 512 clock_offset 1us || return
	done
}

statistics() {
	ip -n "$a" -s -d link show w0 && ip -n "$b" -s link && in_ns "$b" cat /proc/net/dev &&
		in_ns "$a" ethtool -S w0 && in_ns "$b" ethtool -S w1 && in_ns "$a" ethtool -T w0
}

queues() {
	in_ns "$a" ethtool -L w0 tx 1 && in_ns "$a" ethtool -G w0 tx 8 && in_ns "$a" ethtool -L w0 tx 4 &&
		in_ns "$b" ethtool -G w1 tx 64
}

timestamping() {
	closwire_stamp config "$a/w0" 1 1 && closwire_stamp config "$b/w1" 1 1 &&
		closwire_stamp config "$a/w0" 0 0 && closwire_stamp config "$b/w1" 0 0
}

carrier_and_mtu() {
	ip -n "$a" link set w0 down && ip -n "$a" link set w0 up mtu 1400 && ip -n "$b" link set w1 down &&
		ip -n "$b" link set w1 mtu 9000 up && ip -n "$a" link set w0 mtu 9000 &&
		ip -n "$a" neigh replace 10.0.0.2 lladdr "$MAC_B" nud permanent dev w0 &&
		ip -n "$b" neigh replace 10.0.0.1 lladdr "$MAC_A" nud permanent dev w1 && sleep 0.3
}

other_pair() {
	ip netns add "$a-x" && ip link add x0 netns "$a-x" numtxqueues 4 type closwire rate 100mbit peer name x1 netns "$b" &&
		ip -n "$a-x" -batch - <<-END && ip -n "$b" link set x1 up && traffic udp -n "$a-x" -d 10.0.1.2 -p 9 -c 50
			link set x0 up
			addr add 10.0.1.1/24 dev x0
			neigh add 10.0.1.2 lladdr $MAC_B nud permanent dev x0
		END
	ip netns del "$a-x"
}
defer "ip netns del $a-x 2>/dev/null"

for i in 1 2 3 4; do
	job traffic udp -n "$a" -d 10.0.0.2 -p $i -l 1000 >/dev/null 2>&1
done
job traffic udp -n "$b" -d 10.0.0.1 -p 5 -l 1400 >/dev/null 2>&1
job traffic udp -n "$b" -d 10.0.0.1 -p 6 -l 8000 >/dev/null 2>&1
loop "settings change" settings
loop "statistics are read" statistics
loop "timestamping is switched on and off" timestamping
loop "rings and channels are resized" queues
loop "carrier and MTU change" carrier_and_mtu
loop "another pair is created and deleted" other_pair
stress "closwire under load"
finish

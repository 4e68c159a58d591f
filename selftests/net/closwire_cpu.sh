#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Costs of the host's CPU, to the nanosecond: packets wait for the core that sends and for the core that receives, GRO
# merges waiting frames, and a full RX ring loses frames. In virtual time only.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> w0        |=====| w1 -> stamps        |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
exact || skip_all "times are exact in virtual time only"
setup_ns a b
WIRE=(txqueuelen 5000)
wire_ab rate 10gbit delay 5us
ip netns exec "$b" ethtool -K w1 gro off

# costs NS/DEV PACKET FRAME KB: set the costs in ns
costs() { wire_set "$1" cpu_packet "$2ns" cpu_frame "$3ns" cpu_kb "$4ns"; }
# differ FILE FROM TO EXPECTED: true if column TO of FILE is EXPECTED after column FROM in each line, or a ns more
differ() {
	awk -v from="$2" -v to="$3" -v ns="$4" '{ d = substr($to, length($to) - 14) - substr($from, length($from) - 14) }
		d < ns || d > ns + 1 { print "line " NR ": " d; bad = 1 } END { exit bad || !NR }' "$1"
}
# spaced FILE COLUMN LINES EXPECTED: true if the column's first LINES are EXPECTED ns apart, with an error of a ns
spaced() {
	awk -v to="$2" -v ns="$4" -v lines="$3" 'NR <= lines { t = substr($to, length($to) - 14); d = t - last; last = t }
		NR > 1 && NR <= lines && (d < ns - 1 || d > ns + 1) { print "line " NR ": " d; bad = 1 }
		END { exit bad || NR < lines }' "$1"
}
# longest NAME NS: check the longest one-way delay of frames to w1 since its measurement began
longest() {
	local max
	in_ns "$b" ethtool -w w1 data "$TMP/dump" >/dev/null
	max=$(od -An -v -tu8 -w8 "$TMP/dump" | awk 'NR == 2 { print $1 }')
	check "$1: $max ns, not $2" test "$max" -ge "$2" -a "$max" -le $(($2 + 2))
}
missed() { packets "$b/w1" rx_missed_errors; }
received() { packets "$b/w1" rx_packets; }

# ---- each packet by itself; 1514 bytes: 1220.8 ns on the line, 1478 ns at 1000 ns per 1024 bytes

stamp=(closwire_stamp udp -s "$a/w0" -r "$b/w1" -d 10.0.0.2 -l 1472)
"${stamp[@]}" -c 20 >"$TMP/free"
check "without costs, a datagram arrives in the time of the link" differ "$TMP/free" 4 5 6220
costs "$a/w0" 2000 300 1000
"${stamp[@]}" -c 20 >"$TMP/sent"
check "a sent packet reaches the line after cpu_packet" differ "$TMP/sent" 4 2 2006
check "a sent packet arrives later by cpu_packet" differ "$TMP/sent" 4 5 8220
costs "$a/w0" 0 0 0
costs "$b/w1" 2000 300 1000
"${stamp[@]}" -c 20 >"$TMP/received"
check "a received frame reaches the stack after cpu_packet and cpu_frame" differ "$TMP/received" 4 5 8520
check "a received frame reaches the NIC without delay" differ "$TMP/received" 2 3 5000

# ---- packets that wait

costs "$a/w0" 2000 300 1000
costs "$b/w1" 0 0 0
"${stamp[@]}" -x -c 100 >"$TMP/sent"
check "sent packets follow each other after cpu_packet and cpu_kb" spaced "$TMP/sent" 2 100 3478
check_eq "waiting for the CPU is no pause" "$(counter "$a/w0" tx_paused)" 0
costs "$a/w0" 0 0 0
costs "$b/w1" 20000 300 1000
"${stamp[@]}" -x -c 100 >"$TMP/received"
# the first is alone; the next batch has the 17 that arrive in the time of the first, 21778 ns
check "frames of a batch reach the stack together" spaced <(sed -n 2,18p "$TMP/received") 5 17 0
check "a batch takes a cpu_frame for each frame" spaced <(sed -n '1p;2p' "$TMP/received") 5 2 $((21478 + 17 * 300))
check "a batch delays the next one by its packets and bytes" \
	spaced <(sed -n '2p;19p' "$TMP/received") 5 2 $((17 * 20000 + 17 * 1478 + 64 * 300))

# ---- GRO: two GSO packets of 40 frames each, the second one during the first batch

# bursts on|off [FRAMES]: send them, and wait for FRAMES
bursts() {
	sleep 0.1 # until the CPU is idle
	ip netns exec "$b" ethtool -K w1 gro "$1"
	in_ns "$b" ethtool -W w1 1
	# GRO changes what arrives: packet sockets are behind it
	send_frames -s "$a/w0" ${2:+-c "in=$b/w1/in/$2"} tcp4,csum=partial,gso=1460,len=$((54 + 40 * 1460)),n=2
}
# BQL must not keep the second one in the qdisc; it reads limit_min when a frame has left
limit=/sys/class/net/w0/queues/tx-0/byte_queue_limits/limit_min
ip netns exec "$a" test ! -e $limit || ip netns exec "$a" tee $limit >/dev/null <<<10000000
send_frames -s "$a/w0" udp4
costs "$b/w1" 2000 100000 1000
# frames: 1 of 80, then 64, then 15; bytes of 65 of them delay the last batch, and packets of the first 65
frames=$((6220 + 80 * 100000 + 65 * 1478))
check "two bursts arrive without GRO" bursts off 80
longest "without GRO, each frame costs a packet" $((frames + 65 * 2000 + 2000))
check "two bursts are sent with GRO" bursts on
sleep 0.1
longest "with GRO, merged frames cost one packet" $((frames + 3 * 2000 + 2000))
ip netns exec "$b" ethtool -K w1 gro off

# ---- the RX ring

sleep 0.1
costs "$b/w1" 1000000 0 0
before=$(received)
check "frames beyond the RX ring are lost" send_frames -s "$a/w0" -c "in=$b/w1/in/1025" udp4,len=60,n=3000
check_eq "the RX ring holds 1024 frames beside the one in the CPU" $(($(received) - before)) 1025
check_eq "each frame that finds the RX ring full is counted" "$(missed)" 1975
before=$(received)
check "frames are sent to a busy host" send_frames -s "$a/w0" udp4,n=200
costs "$b/w1" 0 0 0
check "waiting frames are received when the costs end" wait_for 5 at_least $((before + 200)) received
costs "$b/w1" 1000000 0 0
costs "$a/w0" 1000000 0 0
check "frames are sent by a busy host" send_frames -s "$a/w0" udp4,n=10
sleep 0.005
dropped=$(counter "$b/w1" rx_dropped_down)
send_frames -s "$a/w0" udp4,n=200
costs "$a/w0" 0 0 0
check "a port goes down while its frames wait for the CPU" ip -n "$b" link set w1 down
check "frames that wait for the CPU of a port that goes down are counted" \
	test "$(counter "$b/w1" rx_dropped_down)" -gt "$dropped"
ip -n "$b" link set w1 up
wait_for 5 has_carrier "$a" w0
costs "$b/w1" 0 0 0
"${stamp[@]}" -c 20 >"$TMP/free"
check "without costs again, a datagram arrives in the time of the link" differ "$TMP/free" 4 5 6220
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Several priorities paused at once: expired pauses beside lasting ones, a lost resume frame, a new rate, pauses under
# traffic with short rings. The port never loops, and sends every frame in the end.
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> w0        |=====| w1 -> frames        |
#	|                  <--|-----|--- pause frames     |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
setup_ns a b
WIRE=(numtxqueues 8)
wire_ab delay 1us rate 1gbit
. "$(dirname "$0")/../lib/pause.sh"
ip netns exec "$a" ethtool -L w0 tx 1
tc -n "$a" qdisc replace dev w0 root pfifo # the default one has priorities

# slow_pauses PRIO=QUANTA...: pause priorities at 100 kbit/s, at which 65535 quanta last 335 s and 1 quantum 5 ms
slow_pauses() {
	wire_set "$a/w0" rate 100kbit
	pause "$@"
	wire_set "$a/w0" rate 1gbit
}
arrived() { [ "$(packets "$b/w1" rx_packets)" -ge "$1" ]; }

# held PRIO NAME: check that a frame of that priority is held until a resume frame arrives
held() {
	local before
	before=$(packets "$b/w1" rx_packets)
	check "$2: a frame of the paused priority enters the ring" send_frames -s "$a/w0" "udp4,prio=$1"
	check_eq "$2: the frame is held" "$(packets "$b/w1" rx_packets)" "$before"
	pause "$1=0"
	check "$2: a resume frame releases the frame" wait_for 5 arrived $((before + 1))
}

for ring in 2 8 256; do
	wire_set "$a/w0" ring $ring
	slow_pauses 5=1 3=65535
	sleep 0.05
	held 3 "ring $ring, one of two pauses over"
	slow_pauses 0=1 1=2 2=3 3=4 4=5 5=6 6=7 7=65535
	sleep 0.1
	held 7 "ring $ring, seven of eight pauses over"
done

# priority 4's resume frame is lost; its pause expires while priority 3 is paused
slow_pauses 3=65535 4=20
wire_set "$b/w1" loss 100%
closwire_raw pause -s "$b/w1" 4=0
check "the cable loses a resume frame" wait_for 5 eval "[ \$(packets $a/w0 rx_crc_errors) -eq 1 ]"
wire_set "$b/w1" loss 0
check "a pause whose resume frame is lost ends by itself" \
	send_frames -s "$a/w0" -c "in=$b/w1/in/1" udp4,prio=4
held 3 "after the lost resume frame of another priority"

# the rate changes while several priorities are paused
slow_pauses 2=3 6=65535
send_frames -s "$a/w0" udp4,prio=6,n=5
for rate in 1tbit 1kbit 10gbit; do
	wire_set "$a/w0" rate $rate
done
before=$(packets "$b/w1" rx_packets)
pause 6=0
check "frames that were held during rate changes arrive" wait_for 5 arrived $((before + 5))

# ---- under traffic

ip netns exec "$a" ethtool -L w0 tx 8
tc -n "$a" qdisc replace dev w0 root mqprio num_tc 8 map 0 1 2 3 4 5 6 7 \
	queues 1@0 1@1 1@2 1@3 1@4 1@5 1@6 1@7 hw 0
wire_set "$a/w0" rate 10gbit
lossless() { [ "$(packets "$a/w0" tx_packets)" -eq "$(packets "$b/w1" rx_packets)" ]; }
for ring in 2 8; do
	wire_set "$a/w0" ring $ring
	for tos in 0 8 16 24; do # priorities 0, 2, 6 and 4
		job traffic udp -n "$a" -d 10.0.0.2 -p 9 -l 1400 -t $tos -g 20
	done
	# pauses of 51 ns to 33 µs for one to eight priorities, some with an immediate resume frame
	for i in 1 2 3 4 5; do
		closwire_raw pause -s "$b/w1" -c 20 0=1 2=10 4=100 6=640
		closwire_raw pause -s "$b/w1" -c 20 0=640 1=1 2=2 3=1 4=640 5=3 6=1 7=10
		closwire_raw pause -s "$b/w1" 2=65535 6=65535
		closwire_raw pause -s "$b/w1" 0=1 2=0
		sleep 0.002
	done
	stop_jobs
	closwire_raw pause -s "$b/w1" {0..7}=0
	check "pauses under traffic lose no frame with ring $ring" wait_for 60 lossless
done
check "pauses under traffic stop the link at least 5 times" test "$(counter "$a/w0" tx_paused)" -ge 5
check "all frames arrive after pauses under traffic" send_frames -s "$a/w0" -c "in=$b/w1/in/20" udp4,n=20
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A port that is busy pushes back: the ring stops its queue, the qdisc queues
# and drops, the device drops nothing, and in the end all is empty. Several
# queues share the line.
#
#	+--------- a ---------+     +--------- b ---------+
#	| traffic -> w0       |=====| w1                  |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
need_ndp
setup_ns a b
WIRE=(mtu 9000 numtxqueues 4 txqueuelen 20)
wire_ab rate 20mbit delay 10us
ip netns exec "$a" ethtool -L w0 tx 1

root() { tc -n "$a" -s -j qdisc show dev w0 root; }
empty() { all_zero "$(root)"; }
queued() { [[ $(root) =~ \"drops\":[1-9].*\"backlog\":[1-9] ]]; }
# all that left the qdisc has come, none was dropped on the way
lossless() {
	[ "$(packets "$a/w0" tx_packets)" -eq "$(packets "$b/w1" rx_packets)" ] || return
	[ "$(packets "$a/w0" tx_carrier_errors)" -eq 0 ] && [ "$(packets "$a/w0" tx_dropped)" -eq 0 ]
}
# what BQL lets into the ring of queue 0, and how much is in it, in bytes
bql() { ip netns exec "$a" cat "/sys/class/net/w0/queues/tx-0/byte_queue_limits/$1"; }

# overload WHAT QDISC...: twice what the line can take
overload() {
	local what=$1
	shift
	tc -n "$a" qdisc replace dev w0 root "$@"
	job traffic udp -n "$a" -d 10.0.0.2 -p 9 -l 1400 -q
	check "$what: the qdisc queues, and drops" wait_for 10 queued
	if [ -n "$(bql limit 2>/dev/null)" ]; then
		check "$what: BQL holds the ring short" test "$(bql inflight)" -le 20000
	fi
	stop_jobs
	wire_set "$a/w0" rate 10gbit
	check "$what: empty in the end" wait_for 10 empty
	check "$what: the device drops nothing" wait_for 5 lossless
	wire_set "$a/w0" rate 20mbit
}
overload pfifo pfifo limit 20
overload fq fq limit 20
overload prio prio
overload ndp ndp limit 4 hlimit 500 norts match all
overload tbf tbf rate 5mbit burst 9000 limit 20000
tc -n "$a" qdisc replace dev w0 root pfifo limit 1000

# ---- the ring

# BQL would stop the queue before the ring is full.
ip netns exec "$a" tee /sys/class/net/w0/queues/tx-0/byte_queue_limits/limit_min >/dev/null 2>&1 <<<10000000 || true
ip netns exec "$a" ethtool -G w0 tx 8
wire_set "$a/w0" rate 1mbit
check_json "$(wire_json "$a/w0")" "ethtool sets the ring, ip shows it" '.linkinfo.info_data.ring == 8'
check "a short ring: 50 frames come" send_frames -s "$a/w0" -c "in=$b/w1/in/50" udp4,n=50
check "it was full, and stopped the queue" test "$(counter "$a/w0" tx_ring_full)" -ge 5
wire_set "$a/w0" rate 20mbit
check_refused "a ring too short" "tx must be 2 to 16384 packets" ip netns exec "$a" ethtool -G w0 tx 1
check_refused "a ring too long" "" ip netns exec "$a" ethtool -G w0 tx 16385

job traffic udp -n "$a" -d 10.0.0.2 -p 9 -l 1400 -g 4
for ((i = 0; i < 5; i++)); do
	for ring in 2 16384 3 64; do
		echo "link set w0 type closwire ring $ring rate $((ring * 10 + i))mbit"
	done
done >"$TMP/changes"
check "the ring changes under load" ip -n "$a" -batch "$TMP/changes"
ip netns exec "$a" ethtool -G w0 tx 2
ip netns exec "$a" ethtool -G w0 tx 256
stop_jobs
check "empty in the end" wait_for 10 empty
check "nothing is lost" wait_for 5 lossless

# ---- TCP

wire_set "$a/w0" rate 10gbit delay 5us ring 256
wire_set "$b/w1" rate 10gbit delay 5us
tc -n "$a" qdisc replace dev w0 root fq
ip -n "$a" link set w0 mtu 1500
ip -n "$b" link set w1 mtu 1500
# received PORT BYTES OPTION...: a TCP stream, checked in each byte
transfer() {
	local port=$1 bytes=$2 receiver
	shift 2
	traffic tcp-receive -n "$b" -p "$port" >"$TMP/tcp" &
	receiver=$!
	JOBS+=("$receiver")
	wait_for 5 listening "$port"
	traffic tcp-send -n "$a" -d 10.0.0.2 -p "$port" -c "$bytes" "$@"
	wait $receiver
	check_eq "TCP $*: each byte arrives right" "$(<"$TMP/tcp")" "received $bytes"
}
sent=$(packets "$a/w0" tx_bytes)
transfer 5001 20000000
check "with the headers of 1500-byte frames" \
	test $(($(packets "$a/w0" tx_bytes) - sent)) -ge $((20000000 * 1514 / 1448))
# The most is 1448 / 1538 * 10 Gbit/s = 9.415 Gbit/s.
if exact; then
	job traffic tcp-receive -n "$b" -p 5003 >/dev/null
	wait_for 5 listening 5003
	job traffic tcp-send -n "$a" -d 10.0.0.2 -p 5003 -c 60000000
	sleep 0.01
	frames=$(packets "$b/w1" rx_packets) began=${EPOCHREALTIME/./}
	sleep 0.03
	frames=$(($(packets "$b/w1" rx_packets) - frames)) us=$((${EPOCHREALTIME/./} - began))
	stop_jobs
	check "at line rate: $((frames * 1448 * 8 / us)) of 10000 Mbit/s" test $((frames * 1448 * 8)) -ge $((us * 9400))
else
	skip "at line rate" "time is real"
fi
transfer 5002 5000000 -f
check_eq "zero-copy: each sender gets its memory back" \
	"$(traffic udp -n "$a" -d 10.0.0.2 -p 9 -l 1400 -c 20 -Z)" "completed 20"$'\n'"sent 20 failed 0"

# ---- several queues

check "4 TX queues" ip netns exec "$a" ethtool -L w0 tx 4
check_refused "5 of 4 TX queues" "" ip netns exec "$a" ethtool -L w0 tx 5
check "mqprio with 4 classes" tc -n "$a" qdisc replace dev w0 root handle 100: mqprio \
	num_tc 4 map 0 1 2 3 0 0 0 0 queues 1@0 1@1 1@2 1@3 hw 0
for q in 0 1 2 3; do
	ip netns exec "$a" tee /sys/class/net/w0/queues/tx-$q/byte_queue_limits/limit_min >/dev/null 2>&1 <<<1000000 || true
done
# BQL looks at that when a frame has left
send_frames -s "$a/w0" udp4,prio=0 udp4,prio=1 udp4,prio=2 udp4,prio=3
wire_set "$a/w0" rate 1mbit
closwire_raw pause -s "$b/w1" {0..3}=65535
wait_for 5 at_least 1 mac_ctrl "$a/w0" MACControlFramesReceived
check_to "$TMP/result" "4 rings at once: all come" send_frames -s "$a/w0" -c "in=$b/w1/in/40" \
	-x "closwire_raw pause -s $b/w1 0=0 1=0 2=0 3=0" \
	udp4,n=10,prio=3 udp4,n=10,prio=2 udp4,n=10,prio=1 udp4,n=10,prio=0
# of any 4 frames in a row, one is from each
turns=$(awk '{ printf "%d", $2 / 10 }' "$TMP/result")
note "rings: $turns"
check "4 rings at once: served in turn" grep -qE '^((0321){10}|(3210){10}|(2103){10}|(1032){10})$' <<<"$turns"
check "fewer queues" eval "tc -n $a qdisc del dev w0 root && ip netns exec $a ethtool -L w0 tx 1"
check "one still carries" send_frames -s "$a/w0" -c "in=$b/w1/in/20" udp4,n=20
check "without loss" wait_for 5 lossless

# ---- pktgen

# pktgen DEVICE COMMAND...
pktgen() { ip netns exec "$a" tee "/proc/net/pktgen/$1" >/dev/null <<<"${*:2}"; }
modprobe -q pktgen 2>/dev/null || true
if exact; then
	skip "pktgen" "it spins, and time stands still"
elif ! ip netns exec "$a" test -e /proc/net/pktgen/kpktgend_0; then
	skip "pktgen" "not in this kernel"
else
	pktgen kpktgend_0 add_device w0
	check_refused "pktgen may not send one packet many times" "" pktgen w0 clone_skb 10
	pktgen w0 count 2000
	pktgen w0 pkt_size 1000
	pktgen w0 dst_mac $MAC_B
	before=$(packets "$b/w1" rx_packets)
	check "pktgen sends past the qdisc" pktgen pgctrl start
	check "all come" wait_for 5 at_least $((before + 2000)) packets "$b/w1" rx_packets
	pktgen kpktgend_0 rem_device_all
fi
finish

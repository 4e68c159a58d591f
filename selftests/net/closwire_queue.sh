#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Backpressure of a busy port: the full ring stops its queue, the qdisc queues and drops, the device drops no frames,
# and in the end all queues are empty. Several TX queues share the link.
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
# lossless: true if each frame that left the qdisc has arrived and the device dropped none
lossless() {
	[ "$(packets "$a/w0" tx_packets)" -eq "$(packets "$b/w1" rx_packets)" ] || return
	[ "$(packets "$a/w0" tx_carrier_errors)" -eq 0 ] && [ "$(packets "$a/w0" tx_dropped)" -eq 0 ]
}
# bql limit|inflight: BQL's limit for the ring of queue 0, and the bytes in the ring
bql() { ip netns exec "$a" cat "/sys/class/net/w0/queues/tx-0/byte_queue_limits/$1"; }

# overload NAME QDISC...: send more than the link's rate through the qdisc
overload() {
	local what=$1
	shift
	tc -n "$a" qdisc replace dev w0 root "$@"
	job traffic udp -n "$a" -d 10.0.0.2 -p 9 -l 1400 -q
	check "$what: qdisc queues and drops packets of an overloaded port" wait_for 10 queued
	if [ -n "$(bql limit 2>/dev/null)" ]; then
		check "$what: BQL keeps the ring short" test "$(bql inflight)" -le 20000
	fi
	stop_jobs
	wire_set "$a/w0" rate 10gbit
	check "$what: qdisc drains after the overload" wait_for 10 empty
	check "$what: device drops no packets" wait_for 5 lossless
	wire_set "$a/w0" rate 20mbit
}
overload pfifo pfifo limit 20
overload fq fq limit 20
overload prio prio
overload ndp ndp limit 4 hlimit 500 norts match all
overload tbf tbf rate 5mbit burst 9000 limit 20000
tc -n "$a" qdisc replace dev w0 root pfifo limit 1000

# ---- the ring

# keep BQL from stopping the queue before the ring is full
ip netns exec "$a" tee /sys/class/net/w0/queues/tx-0/byte_queue_limits/limit_min >/dev/null 2>&1 <<<10000000 || true
ip netns exec "$a" ethtool -G w0 tx 8
wire_set "$a/w0" rate 1mbit
check_json "$(wire_json "$a/w0")" "ip shows the ring that ethtool has set" '.linkinfo.info_data.ring == 8'
check "50 frames arrive through a ring of 8" send_frames -s "$a/w0" -c "in=$b/w1/in/50" udp4,n=50
check "a full ring stops the queue" test "$(counter "$a/w0" tx_ring_full)" -ge 5
wire_set "$a/w0" rate 20mbit
check_refused "ethtool cannot set a ring below the minimum" \
	"tx must be 2 to 16384 packets" ip netns exec "$a" ethtool -G w0 tx 1
check_refused "ethtool cannot set a ring above the maximum" "" ip netns exec "$a" ethtool -G w0 tx 16385

job traffic udp -n "$a" -d 10.0.0.2 -p 9 -l 1400 -g 4
for ((i = 0; i < 5; i++)); do
	for ring in 2 16384 3 64; do
		echo "link set w0 type closwire ring $ring rate $((ring * 10 + i))mbit"
	done
done >"$TMP/changes"
check "ring and rate change under load" ip -n "$a" -batch "$TMP/changes"
ip netns exec "$a" ethtool -G w0 tx 2
ip netns exec "$a" ethtool -G w0 tx 256
stop_jobs
check "qdisc drains after ring changes" wait_for 10 empty
check "ring changes lose no frame" wait_for 5 lossless

# ---- TCP

wire_set "$a/w0" rate 10gbit delay 5us ring 256
wire_set "$b/w1" rate 10gbit delay 5us
tc -n "$a" qdisc replace dev w0 root fq
ip -n "$a" link set w0 mtu 1500
ip -n "$b" link set w1 mtu 1500
# transfer PORT BYTES OPTION...: send a TCP stream and check each byte
transfer() {
	local port=$1 bytes=$2 receiver
	shift 2
	traffic tcp-receive -n "$b" -p "$port" >"$TMP/tcp" &
	receiver=$!
	JOBS+=("$receiver")
	wait_for 5 listening "$port"
	traffic tcp-send -n "$a" -d 10.0.0.2 -p "$port" -c "$bytes" "$@"
	wait $receiver
	check_eq "each byte of a TCP stream arrives intact, options: $*" "$(<"$TMP/tcp")" "received $bytes"
}
sent=$(packets "$a/w0" tx_bytes)
transfer 5001 20000000
check "tx_bytes counts the headers of each frame of 1514 bytes" \
	test $(($(packets "$a/w0" tx_bytes) - sent)) -ge $((20000000 * 1514 / 1448))
# The maximum is 1448 / 1538 * 10 Gbit/s = 9.415 Gbit/s.
if exact; then
	job traffic tcp-receive -n "$b" -p 5003 >/dev/null
	wait_for 5 listening 5003
	job traffic tcp-send -n "$a" -d 10.0.0.2 -p 5003 -c 60000000
	sleep 0.01
	frames=$(packets "$b/w1" rx_packets) began=${EPOCHREALTIME/./}
	sleep 0.03
	frames=$(($(packets "$b/w1" rx_packets) - frames)) us=$((${EPOCHREALTIME/./} - began))
	stop_jobs
	check "TCP reaches line rate: $((frames * 1448 * 8 / us)) of 10000 Mbit/s" \
		test $((frames * 1448 * 8)) -ge $((us * 9400))
else
	skip "TCP reaches line rate" "needs virtual time"
fi
transfer 5002 5000000 -f
check_eq "zero-copy sender gets a completion for each datagram" \
	"$(traffic udp -n "$a" -d 10.0.0.2 -p 9 -l 1400 -c 20 -Z)" "completed 20"$'\n'"sent 20 failed 0"

# ---- several queues

check "ethtool sets 4 TX queues" ip netns exec "$a" ethtool -L w0 tx 4
check_refused "ethtool cannot set more TX queues than the port has" "" ip netns exec "$a" ethtool -L w0 tx 5
check "port accepts mqprio with 4 classes" tc -n "$a" qdisc replace dev w0 root handle 100: mqprio \
	num_tc 4 map 0 1 2 3 0 0 0 0 queues 1@0 1@1 1@2 1@3 hw 0
for q in 0 1 2 3; do
	ip netns exec "$a" tee /sys/class/net/w0/queues/tx-$q/byte_queue_limits/limit_min >/dev/null 2>&1 <<<1000000 || true
done
# BQL reads limit_min when a frame has left
send_frames -s "$a/w0" udp4,prio=0 udp4,prio=1 udp4,prio=2 udp4,prio=3
wire_set "$a/w0" rate 1mbit
closwire_raw pause -s "$b/w1" {0..3}=65535
wait_for 5 at_least 1 mac_ctrl "$a/w0" MACControlFramesReceived
check_to "$TMP/result" "all frames of 4 rings arrive" send_frames -s "$a/w0" -c "in=$b/w1/in/40" \
	-x "closwire_raw pause -s $b/w1 0=0 1=0 2=0 3=0" \
	udp4,n=10,prio=3 udp4,n=10,prio=2 udp4,n=10,prio=1 udp4,n=10,prio=0
# of any 4 consecutive frames, one is from each ring
turns=$(awk '{ printf "%d", $2 / 10 }' "$TMP/result")
note "rings: $turns"
check "4 rings are served round robin" grep -qE '^((0321){10}|(3210){10}|(2103){10}|(1032){10})$' <<<"$turns"
check "ethtool reduces the TX queues to one" \
	eval "tc -n $a qdisc del dev w0 root && ip netns exec $a ethtool -L w0 tx 1"
check "all frames arrive after the TX queues are reduced" send_frames -s "$a/w0" -c "in=$b/w1/in/20" udp4,n=20
check "changes of the number of TX queues lose no frame" wait_for 5 lossless

# ---- pktgen

# pktgen DEVICE COMMAND...
pktgen() { ip netns exec "$a" tee "/proc/net/pktgen/$1" >/dev/null <<<"${*:2}"; }
modprobe -q pktgen 2>/dev/null || true
if exact; then
	skip "pktgen's packets arrive" "pktgen spins, and virtual time stands still"
elif ! ip netns exec "$a" test -e /proc/net/pktgen/kpktgend_0; then
	skip "pktgen's packets arrive" "no pktgen in this kernel"
else
	pktgen kpktgend_0 add_device w0
	check_refused "pktgen may not send one skb several times" "" pktgen w0 clone_skb 10
	pktgen w0 count 2000
	pktgen w0 pkt_size 1000
	pktgen w0 dst_mac $MAC_B
	before=$(packets "$b/w1" rx_packets)
	check "pktgen sends without the qdisc" pktgen pgctrl start
	check "pktgen's packets arrive" wait_for 5 at_least $((before + 2000)) packets "$b/w1" rx_packets
	pktgen kpktgend_0 rem_device_all
fi
finish

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Measures NDP, TCP and UDP sockets with streams, in a guest whose clock counts instructions.
# Usage: sockets.sh PROGRAMS MIB     PROGRAMS: directory of streams; MIB: data sent per measurement
# Prints lines CASE<tab>MTU<tab>FLOWS<tab>PAYLOAD<tab>RESULT; PAYLOAD: bytes per packet; RESULT is the line of streams.
# Environment: CLOSNET_MODDIR (directory of ndp.ko)
set -eu
streams=$1/streams
bytes=$(($2 << 20))
call=131072 # bytes

# offloads MTU SEGMENTS TSO GRO: configure both devices; SEGMENTS: segments per GSO packet, 1: no GSO
offloads() {
	local ns
	for ns in a b; do
		ip -n $ns link set v mtu "$1" gso_max_segs "$2"
		ip netns exec $ns ethtool -K v tso "$3" tx-udp-segmentation "$3" gro "$4"
	done
}

# ndp_gso PACKETS: number of packets that NDP may send as one GSO packet
ndp_gso() {
	local ns
	for ns in a b; do ip netns exec $ns sysctl -q net.ndp.gso_packets="$1"; done
}

# measure CASE PROTOCOL PAYLOAD [DATAGRAMS]: measure calls of $call bytes, or of DATAGRAMS datagrams
measure() {
	local size=$call each=$call
	[ $# -eq 3 ] || size=$3 each=$(($3 * $4))
	printf '%s\t%s\t%s\t%s\t' "$1" "$mtu" "$flows" "$3"
	"$streams" "$2" "$flows" "$size" $((call * (flows > 1 ? 1 : 8) / each + 1)) $((bytes / flows / each))
}

. "$(dirname "$0")/pair.sh"

for mtu in 1500 9000; do
	udp=$((mtu - 28))
	for flows in 1 64; do
		offloads $mtu 1 off off
		measure ndp ndp $((mtu - 84))
		measure tcp tcp $((mtu - 52))
		measure udp udp $udp 1
		offloads $mtu 65535 off on
		measure tcp-gso tcp $((mtu - 52))
		offloads $mtu 65535 on off
		measure tcp-tso tcp $((mtu - 52))
		measure udp-tso udp-gso $udp $((65000 / udp))
		ndp_gso 64
		measure ndp-tso ndp $((mtu - 84))
		ndp_gso 1
	done
done

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Measures requests and responses of NDP, TCP and UDP, in a guest whose clock counts instructions.
# Usage: rpc.sh PROGRAMS COUNT     PROGRAMS: directory of rpc; COUNT: requests per measurement
# Prints lines CASE<tab>MTU<tab>SIZE<tab>RESULT; RESULT is the line of rpc. UDP has sizes of one packet.
# Environment: CLOSNET_MODDIR (directory of ndp.ko)
set -eu
rpc=$1/rpc
count=$2

# measure CASE PROTOCOL SIZE
measure() {
	printf '%s\t%s\t%s\t' "$1" "$mtu" "$3"
	"$rpc" "$2" "$3" 64 "$count"
}

. "$(dirname "$0")/pair.sh"

for mtu in 1500 9000; do
	for ns in a b; do ip -n $ns link set v mtu $mtu; done
	for size in 100 1000 10000 64000; do
		measure ndp ndp $size
		for ns in a b; do ip netns exec $ns sysctl -q net.ndp.gso_packets=64; done
		measure ndp-tso ndp $size
		for ns in a b; do ip netns exec $ns sysctl -q net.ndp.gso_packets=1; done
		measure tcp tcp $size
		[ $size -gt $((mtu - 28)) ] || measure udp udp $size
	done
done

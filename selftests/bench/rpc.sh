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

echo "# kernel $(uname -r)"
sed -n 's/^model name[^:]*:/# CPU/p' /proc/cpuinfo
insmod "$CLOSNET_MODDIR/ndp.ko"
ip netns add a
ip netns add b
# one queue; without IPv6, the devices transmit only the benchmark's packets
ip link add v netns a type veth peer name v netns b
for ns in a b; do
	ip netns exec $ns sysctl -q net.ipv6.conf.v.disable_ipv6=1 net.ipv4.tcp_no_metrics_save=1
	ip -n $ns link set v up
	ip -n $ns link set lo up
done
ip -n a addr add 10.0.0.1/24 dev v
ip -n b addr add 10.0.0.2/24 dev v

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

# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Sourced: two namespaces with NDP, a (10.0.0.1) and b (10.0.0.2), joined by a veth pair "v"; prints lines about the machine.
# Environment: CLOSNET_MODDIR (directory of ndp.ko)
echo "# kernel $(uname -r)"
sed -n 's/^model name[^:]*:/# CPU/p' /proc/cpuinfo
insmod "$CLOSNET_MODDIR/ndp.ko"
ip netns add a
ip netns add b
# one queue; without IPv6, the devices transmit only the benchmark's packets
ip link add v netns a type veth peer name v netns b
for ns in a b; do
	# no saved TCP metrics: each measurement is independent of the previous one
	ip netns exec $ns sysctl -q net.ipv6.conf.v.disable_ipv6=1 net.ipv4.tcp_no_metrics_save=1
	ip -n $ns link set v up
	ip -n $ns link set lo up
done
ip -n a addr add 10.0.0.1/24 dev v
ip -n b addr add 10.0.0.2/24 dev v

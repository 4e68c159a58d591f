#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Measures tunnels with tunnel_bench, in a guest whose clock counts instructions.
# Usage: tunnel.sh MODULES COUNT    MODULES: directory of tunnel_bench.ko; COUNT: packets per measurement
# Prints lines CASE<tab>PACKET<tab>RESULT; RESULT is a line of tunnel_bench. IPv4 packets have IPv4 outside, IPv6 IPv6.
# Environment: CLOSNET_MODDIR (directory of closfab.ko), IP_LIB_DIR (directory of the plug-ins)
# shellcheck disable=SC2016 # the inner shell expands
set -eu
parameter=/sys/module/tunnel_bench/parameters/run
count=$2

# measure CASE: one measurement of each packet
measure() {
	local packet line
	for packet in udp4 udp6; do
		echo "$packet $count" >$parameter || { dmesg | tail -n 3 >&2 && exit 1; }
		read -r line <$parameter
		printf '%s\t%s\t%s\n' "$1" "$packet" "$line"
	done
}

# at NAMESPACE COMMAND...
at() {
	if [ "$1" = 1 ]; then "${@:2}"; else ip netns exec b "${@:2}"; fi
}

# end NAMESPACE DEV ADDRESS4 ADDRESS6 NEXT4 NEXT6: set up a device with a neighbour
end() {
	at "$1" ip link set "$2" addrgenmode none up
	at "$1" ip addr add "$3" dev "$2"
	at "$1" ip addr add "$4" dev "$2" nodad
	at "$1" ip neigh add "$5" lladdr 02:00:00:00:00:01 dev "$2" nud permanent
	at "$1" ip neigh add "$6" lladdr 02:00:00:00:00:01 dev "$2" nud permanent
}

# paths NAMESPACE OFFSET OTHER TO4 TO6 [OPTION...]: routes by four devices
paths() {
	local i v4=() v6=()
	for i in 1 2 3 4; do
		v4+=(nexthop via "10.$i.0.$3" dev "bench$((i + $2))")
		v6+=(nexthop via "fd0$i::$3" dev "bench$((i + $2))")
	done
	at "$1" ip route replace "$4" "${v4[@]}"
	at "$1" ip -6 route replace "$5" "${v6[@]}"
}

# leaf NAMESPACE NUMBER OTHER OFFSET: one of the two leaves, 10.98.0.NUMBER and fd98::NUMBER
leaf() {
	local i
	at "$1" sh -c 'for f in ipv4/ip_forward ipv6/conf/all/forwarding ipv4/fib_multipath_hash_policy \
		ipv6/fib_multipath_hash_policy; do echo 1 >/proc/sys/net/$f; done
		echo 0 >/proc/sys/net/ipv4/ip_early_demux
		for f in /proc/sys/net/ipv4/conf/*/rp_filter; do echo 0 >$f; done'
	at "$1" ip link set lo up
	at "$1" ip addr add "10.98.0.$2/32" dev lo
	at "$1" ip addr add "fd98::$2/128" dev lo
	for i in 1 2 3 4; do
		end "$1" "bench$((i + $4))" "10.$i.0.$2/24" "fd0$i::$2/64" "10.$i.0.$3" "fd0$i::$3"
	done
	paths "$1" "$4" "$3" "10.98.0.$3/32" "fd98::$3/128"
}

# closfab OPTION...: measure a mode
closfab() {
	local name=$1 n
	shift
	for n in 1 2; do
		at $n ip link add fab4 type closfab local 10.98.0.$n "$@"
		at $n ip link add fab6 type closfab local fd98::$n "$@"
		at $n ip link set fab4 up
		at $n ip link set fab6 up
	done
	ip route replace 10.99.0.0/16 encap ip dst 10.98.0.2 dev fab4
	ip -6 route replace fd63::/64 encap ip6 dst fd98::2 dev fab6
	measure "$name"
	ip route del 10.99.0.0/16
	ip -6 route del fd63::/64
	for n in 1 2; do
		at $n ip link del fab4
		at $n ip link del fab6
	done
}

echo "# kernel $(uname -r)"
sed -n 's/^model name[^:]*:/# CPU/p' /proc/cpuinfo
insmod "$1/tunnel_bench.ko"
echo 0 >/proc/sys/net/ipv6/conf/default/router_solicitations
ip netns add b
for i in 5 6 7 8 9; do
	ip link set bench$i netns b
done
leaf 1 1 2 0
leaf 2 2 1 4
end 1 bench0 10.0.0.1/24 fd00::1/64 10.0.0.2 fd00::2
end 2 bench9 10.9.0.1/24 fd09::1/64 10.9.0.2 fd09::2
at 2 ip route add 10.99.0.0/16 via 10.9.0.2
at 2 ip -6 route add fd63::/64 via fd09::2

paths 1 0 2 10.99.0.0/16 fd63::/64
measure forward
ip route del 10.99.0.0/16
ip -6 route del fd63::/64

modprobe vxlan
for n in 1 2; do
	at $n ip link add vx0 address 02:00:00:00:00:0$n type vxlan external dstport 4789 udp6zerocsumrx
	at $n ip link set vx0 addrgenmode none up
	at $n ip addr add 10.97.0.$n/24 dev vx0
	at $n ip addr add fd97::$n/64 dev vx0 nodad
done
ip neigh add 10.97.0.2 lladdr 02:00:00:00:00:02 dev vx0 nud permanent
ip neigh add fd97::2 lladdr 02:00:00:00:00:02 dev vx0 nud permanent
ip route add 10.99.0.0/16 encap ip id 1 src 10.98.0.1 dst 10.98.0.2 via 10.97.0.2 dev vx0
ip -6 route add fd63::/64 encap ip6 id 1 src fd98::1 dst fd98::2 via fd97::2 dev vx0
measure vxlan
ip link del vx0
at 2 ip link del vx0

insmod "$CLOSNET_MODDIR/closfab.ko"
for select in random rr quality drill; do
	closfab reorder-$select mode reorder select $select
done
closfab reorder-key mode reorder select rr key 00112233445566778899aabbccddeeff
closfab conweave mode conweave
closfab cell-700 mode cell cell_size 700

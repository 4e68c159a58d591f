#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Measures ways of forwarding with forward_bench, in a guest whose clock counts instructions.
# Usage: forward.sh MODULES COUNT    MODULES: directory of forward_bench.ko, fib_bpf.elf; COUNT: packets per measurement
# Prints lines CASE<tab>PACKET<tab>RESULT; RESULT is a line of forward_bench.
# Environment: CLOSNET_MODDIR (directory of act_lb.ko), TC_LIB_DIR (directory of the plug-ins)
set -eu
parameter=/sys/module/forward_bench/parameters/run
count=$2

# measure CASE PACKET...: one measurement of each packet
measure() {
	local packet line
	for packet in "${@:2}"; do
		echo "$packet $count" >$parameter || { dmesg | tail -n 3 >&2 && exit 1; }
		read -r line <$parameter
		printf '%s\t%s\t%s\n' "$1" "$packet" "$line"
	done
}

sysctl() { echo "$2" >"/proc/sys/net/$1"; }

# routes HOP...: routes to the packets' destinations by these next hops
routes() {
	local hop v4=() v6=()
	for hop in "$@"; do
		v4+=(nexthop via "10.$hop.0.2" dev "bench$hop")
		v6+=(nexthop via "fd0$hop::2" dev "bench$hop")
	done
	ip route replace 10.99.0.0/16 "${v4[@]}"
	ip -6 route replace fd63::/64 "${v6[@]}"
}

echo "# kernel $(uname -r)"
sed -n 's/^model name[^:]*:/# CPU/p' /proc/cpuinfo
insmod "$1/forward_bench.ko"
sysctl ipv6/conf/default/router_solicitations 0
sysctl ipv4/ip_forward 1
sysctl ipv6/conf/all/forwarding 1
sysctl ipv4/ip_early_demux 0 # a router has no sockets; with 1, the stack needs more instructions
for i in 0 1 2 3 4; do
	ip link set bench$i addrgenmode none up
	sysctl ipv4/conf/bench$i/rp_filter 0
	ip addr add 10.$i.0.1/24 dev bench$i
	ip addr add fd0$i::1/64 dev bench$i nodad
	ip neigh add 10.$i.0.2 lladdr 02:00:00:00:00:01 dev bench$i nud permanent
	ip neigh add fd0$i::2 lladdr 02:00:00:00:00:01 dev bench$i nud permanent
done

routes 1
measure single udp4 udp6
routes 1 2 3 4
for policy in 0 1; do
	sysctl ipv4/fib_multipath_hash_policy $policy
	sysctl ipv6/fib_multipath_hash_policy $policy
	measure stack-l$((3 + policy)) udp4 udp6
done
measure stack-nic udp4-hashed udp6-hashed

tc qdisc add dev bench0 clsact
tc filter add dev bench0 ingress bpf direct-action object-file "$1/fib_bpf.elf" section classifier
measure bpf udp4 udp6
tc filter del dev bench0 ingress

# flows enter the table with their second packet, before the measurement
nft -f - <<-'EOF'
	table inet bench {
		flowtable flows { hook ingress priority 0; devices = { bench0, bench1, bench2, bench3, bench4 }; }
		chain forward { type filter hook forward priority 0; meta l4proto udp flow add @flows; }
	}
EOF
measure flowtable udp4 udp6
nft delete table inet bench

insmod "$CLOSNET_MODDIR/act_lb.ko"
# lb CASE REASONS OPTION...: measure the action; REASONS: grep pattern of the reasons to leave packets to the stack
lb() {
	tc filter add dev bench0 ingress matchall action lb "${@:3}"
	measure "$1" udp4 udp6
	if tc -s filter show dev bench0 ingress | grep passed | grep -qvE "$2"; then
		tc -s filter show dev bench0 ingress >&2
		echo "act_lb has left packets to the stack" >&2
		exit 1
	fi
	tc filter del dev bench0 ingress
}
for granularity in packet flowlet flow; do
	for select in hash random rr quality drill; do
		lb "lb-$granularity-$select" none granularity $granularity select $select
	done
done
for glb in tell choose; do
	lb lb-$glb none granularity packet glb $glb
done
routes 1
lb lb-single '^ *passed single [0-9]+p *$' granularity packet

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A pause lasts as long as it must, and ends when the settings of the pool
# change so that it need not be; nothing is lost, and the sums stay right.
# shellcheck disable=SC2154 # variables of lib/sch_pool.sh
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/sch_pool.sh"

fill
waits=$(dcqcn_stat "$s/p3" qlen)
check "a pause is refreshed while it lasts" wait_for 20 sent p1 xoff_frames 4
check_eq "and is not taken back" "$(ingress p1 xon_frames)" 0
# a machine that is late lets a pause of 34 ms end
if exact; then
	check_eq "it holds what comes" "$(dcqcn_stat "$s/p3" qlen)" "$waits"
else
	skip "it holds what comes" "time is real"
fi
go_on "refreshed"
check "then XON" sent p1 xon_frames 1
xoff=$(ingress p1 xoff_frames)
sleep 0.1
check_eq "no refreshing without a pause" "$(ingress p1 xoff_frames)" "$xoff"

for change in "xoff 200000" "xoff dynamic" "xoff auto" "pfc none" "pfc 0-2,4-7"; do
	fill
	# shellcheck disable=SC2086 # words
	port p1 $change
	check_eq "$change: XON" "$(ingress p1 xon_frames)" 1
	check "$change: the others come in" wait_for 5 waiting 59
	go_on "$change"
done

setup p1
port p1 xoff 200000
blast 60
check "59 packets are below 200000 bytes" wait_for 5 waiting 59
check_eq "no pause" "$(ingress p1 xoff_frames)" 0
port p1 xoff 60000
check "they are above 60000" test "$(ingress p1 xoff_frames)" -ge 1
check_eq "and stay so" "$(ingress p1 xon_frames)" 0
# 59 packets are 89326 bytes, 2 MTU are 3000
port p1 xoff 92325
check_eq "less than 2 MTU below is not enough" "$(ingress p1 xon_frames)" 0
port p1 xoff 92326
check_eq "2 MTU below is" "$(ingress p1 xon_frames)" 1
go_on "thresholds up and down"

# ---- a peer that counts quanta at another rate

# 65535 quanta are 3.4 ms at 10 Gbit/s, and would be refreshed after 16.8 ms at the port's own rate
if exact; then
	wire_set "$h1/w0" rate 10gbit
	fill
	waits=$(dcqcn_stat "$s/p3" qlen)
	check "a peer with a faster line: its pause is refreshed" wait_for 20 sent p1 xoff_frames 4
	sleep 0.05
	check_eq "a peer with a faster line stays paused" "$(dcqcn_stat "$s/p3" qlen)" "$waits"
	go_on "a peer with a faster line"
	wire_set "$h1/w0" rate 1gbit
else
	skip "a peer with a faster line" "time is real"
fi

# ---- devices that are no ports

# no_port DEV: it is refused
no_port() {
	check_refused "$1 is no port" "have a cable" tc -n "$s" qdisc replace dev "$1" root dcqcn pool two
	check_eq "$1 has no dcqcn then" "$(tc -n "$s" qdisc show dev "$1" | grep -c dcqcn)" 0
}
no_port br0
ip -n "$s" link add link p1 name p1.9 type vlan id 9 && no_port p1.9 && ip -n "$s" link del p1.9
ip -n "$s" link add d0 type dummy
ip -n "$s" link add link d0 name m1 type macvlan && no_port m1 && ip -n "$s" link del m1
check_refused "lo is no port" "Ethernet devices" tc -n "$s" qdisc replace dev lo root dcqcn pool two

# ---- a VLAN

# frames of VLAN 5 come in by p1.5, which is p1; its bridge has no port p1
if ip -n "$s" link add link p1 name p1.5 type vlan id 5; then
	ip -n "$s" link add br5 type bridge mcast_snooping 0
	ip -n "$s" link set p1.5 master br5 up
	ip -n "$s" link set p3 master br5
	ip -n "$s" link set br5 up
	bridge -n "$s" fdb add "$mac" dev p3 master static
	ip -n "$h1" link add link w0 name w0.5 type vlan id 5
	ip -n "$h1" link set w0.5 up
	ip -n "$h1" addr del 10.0.0.1/24 dev w0
	ip -n "$h1" addr add 10.0.0.1/24 dev w0.5
	ip -n "$h1" neigh replace 10.0.0.3 lladdr "$mac" dev w0.5 nud permanent
	setup p1
	blast 10
	check "what comes by a VLAN waits" wait_for 5 waiting 9
	check_eq "and is charged to its device" "$(ingress p1 ingress_bytes)" $((9 * 1514))
else
	skip "VLAN" "no VLAN devices"
fi
finish

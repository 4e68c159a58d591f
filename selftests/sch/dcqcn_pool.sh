#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A port refreshes its pause while it is above the threshold, and sends XON when a
# new setting of the pool ends the reason. No packet is lost, and the sums of the
# pool stay correct.
# shellcheck disable=SC2154 # variables of lib/sch_pool.sh
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/sch_pool.sh"

fill
qlen=$(dcqcn_stat "$s/p3" qlen)
check "XOFF is sent again while the reason lasts" wait_for 20 sent p1 xoff_frames 4
check_eq "no XON is sent while the reason lasts" "$(ingress p1 xon_frames)" 0
# in real time, a pause of 34 ms may expire before it is refreshed
if exact; then
	check_eq "a refreshed pause stops the peer" "$(dcqcn_stat "$s/p3" qlen)" "$qlen"
else
	skip "a refreshed pause stops the peer" "time is real"
fi
resume "refreshed pause"
check "XON is sent when the queue has drained" sent p1 xon_frames 1
xoff=$(ingress p1 xoff_frames)
sleep 0.1
check_eq "no XOFF is sent after XON" "$(ingress p1 xoff_frames)" "$xoff"

for change in "xoff 200000" "xoff dynamic" "xoff auto" "pfc none" "pfc 0-2,4-7"; do
	fill
	# shellcheck disable=SC2086 # words
	port p1 $change
	check_eq "$change: XON is sent" "$(ingress p1 xon_frames)" 1
	check "$change: the peer sends the remaining packets" wait_for 5 waiting 59
	resume "$change"
done

setup p1
port p1 xoff 200000
blast 60
check "59 packets are queued below xoff 200000" wait_for 5 waiting 59
check_eq "no XOFF is sent below the threshold" "$(ingress p1 xoff_frames)" 0
port p1 xoff 60000
check "lowering the threshold below the queue sends XOFF" test "$(ingress p1 xoff_frames)" -ge 1
check_eq "lowering the threshold sends no XON" "$(ingress p1 xon_frames)" 0
# 59 packets are 89326 bytes, 2 MTU are 3000
port p1 xoff 92325
check_eq "no XON is sent less than 2 MTU below the threshold" "$(ingress p1 xon_frames)" 0
port p1 xoff 92326
check_eq "XON is sent 2 MTU below the threshold" "$(ingress p1 xon_frames)" 1
resume "thresholds up and down"

# ---- a peer with another rate, which counts its quanta faster

# 65535 quanta are 3.4 ms at 10 Gbit/s. At the port's own rate, the refresh would follow after 16.8 ms.
if exact; then
	wire_set "$h1/w0" rate 10gbit
	fill
	qlen=$(dcqcn_stat "$s/p3" qlen)
	check "XOFF for a peer with a faster link is sent again" wait_for 20 sent p1 xoff_frames 4
	sleep 0.05
	check_eq "a peer with a faster link stays paused" "$(dcqcn_stat "$s/p3" qlen)" "$qlen"
	resume "peer with a faster link"
	wire_set "$h1/w0" rate 1gbit
else
	skip "a peer with a faster link stays paused" "time is real"
fi

# ---- devices without a cable

# check_no_pool DEV: dcqcn refuses a pool on DEV
check_no_pool() {
	check_refused "a pool on $1 is refused" "needs a device with queues" tc -n "$s" qdisc replace dev "$1" root dcqcn pool two
	check_eq "$1 has no dcqcn after a refused pool" "$(tc -n "$s" qdisc show dev "$1" | grep -c dcqcn)" 0
}
check_no_pool br0
ip -n "$s" link add link p1 name p1.9 type vlan id 9 && check_no_pool p1.9 && ip -n "$s" link del p1.9
ip -n "$s" link add d0 type dummy
ip -n "$s" link add link d0 name m1 type macvlan && check_no_pool m1 && ip -n "$s" link del m1
check_refused "a pool on lo is refused" "needs an Ethernet device" tc -n "$s" qdisc replace dev lo root dcqcn pool two

# ---- an impossible rate

# headroom_at MBPS: headroom of a tap that reports this rate
headroom_at() {
	in_ns "$s" ethtool -s t0 speed "$1" autoneg off
	tc -n "$s" qdisc replace dev t0 root dcqcn pool three buffer 1000mb
	dcqcn_stat "$s/t0" pool_headroom_bytes
	tc -n "$s" qdisc del dev t0 root
}
if ip -n "$s" tuntap add t0 mode tap && ip -n "$s" link set t0 up && in_ns "$s" ethtool -s t0 speed 1000; then
	highest=$(headroom_at 2000000)
	check "headroom of a port of 2 Tbit/s is above that of 1 Gbit/s" test "$highest" -gt "$(headroom_at 1000)"
	check_eq "a rate above 2 Tbit/s counts as 2 Tbit/s" "$(headroom_at 4294967294)" "$highest"
	ip -n "$s" link del t0
else
	skip "a rate above 2 Tbit/s counts as 2 Tbit/s" "no taps that report a rate"
fi

# ---- a VLAN

# Frames of VLAN 5 arrive at p1.5, a device on p1. The bridge of VLAN 5 has no port p1.
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
	check "packets of a VLAN are queued" wait_for 5 waiting 9
	check_eq "packets of a VLAN are charged to the lower device" "$(ingress p1 ingress_bytes)" $((9 * 1514))
else
	skip "packets of a VLAN are charged to the lower device" "no VLAN devices"
fi
finish

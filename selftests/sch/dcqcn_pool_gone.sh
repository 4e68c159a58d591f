#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Ports, devices and namespaces are deleted while packets are queued: no peer
# stays paused, and the sums of the pool stay correct. Pause frames also pass
# another driver, veth.
# shellcheck disable=SC2317,SC2154 # functions are called by check and wait_for; variables of lib/sch_pool.sh
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/sch_pool.sh"

fill
pauses_before=$(counter "$s/p1" tx_prio3_pause)
tc -n "$s" qdisc del dev p1 root
check "a port that leaves the pool sends XON" xon_sent
check "packets of a port outside the pool are queued without a pause" wait_for 5 waiting 59
check "a port that left the pool is not counted" dcqcn_is "$s/p3" pool_ports 1
port p1
check_eq "a port that returns to the pool has no bytes charged" "$(ingress p1 ingress_bytes)" 0
resume "port that left the pool and returned"

fill
pauses_before=$(counter "$s/p1" tx_prio3_pause)
tc -n "$s" qdisc del dev p3 root
check "deleting the qdisc with the queued packets sends XON" wait_for 5 xon_sent
port p3
check "the packets of a deleted qdisc are not charged" empty
check "a port with a new qdisc is in the pool again" dcqcn_is "$s/p3" pool_ports 2

fill
ip -n "$s" link set p3 down
check "setting the egress device down sends XON" sent p1 xon_frames 1
check "setting the egress device down empties the pool" wait_for 5 empty
ip -n "$s" link set p3 up
wait_for 5 has_carrier "$h3" w0

fill
ip -n "$h1" link set w0 down
port p3 rate 0
check "the pool drains while the paused peer is down" wait_for 10 empty
pauses_before=$(counter "$s/p1" tx_prio3_pause)
sleep 0.2
check_eq "no pause frame is sent while the peer is down" "$(counter "$s/p1" tx_prio3_pause)" "$pauses_before"
ip -n "$h1" link set w0 up
wait_for 5 has_carrier "$h1" w0
ip -n "$h1" neigh replace 10.0.0.3 lladdr "$mac" dev w0 nud permanent
frames_before=$(frames)
blast 10
check "packets of the peer pass when it is up again" wait_for 10 frames_arrived $((frames_before + 10))

# ---- another driver

setup v1
ip -n "$h1" addr del 10.0.0.1/24 dev w0
ip -n "$h1" addr add 10.0.0.1/24 dev v0
ip -n "$h1" neigh replace 10.0.0.3 lladdr "$mac" dev v0 nud permanent
tc -n "$h1" qdisc add dev v0 root dcqcn prio 3
# opcode, priority 3; 65535 or 0 quanta
pause='match u32 0x01010008 0xffffffff at 0 match u16'
# shellcheck disable=SC2086 # words
if tc -n "$h1" qdisc add dev v0 clsact &&
	tc -n "$h1" filter add dev v0 ingress prio 1 protocol 0x8808 u32 $pause 0xffff 0xffff at 10 action drop &&
	tc -n "$h1" filter add dev v0 ingress prio 2 protocol 0x8808 u32 $pause 0 0xffff at 10 action drop; then
	# matched PRIO COUNT: has the filter PRIO matched COUNT packets?
	matched() {
		[[ $(tc -n "$h1" -s -j filter show dev v0 ingress prio "$1") =~ \"packets\":([0-9]+) ]] &&
			[ "${BASH_REMATCH[1]}" -ge "$2" ]
	}
	blast 60
	check "veth: the peer receives XOFF" wait_for 5 matched 1 1
	check "veth: the peer receives XOFF again" wait_for 20 matched 1 3
	check "veth: no XON is sent while the reason lasts" test "$(ingress v1 xon_frames)" -eq 0
	port p3 rate 0
	check "veth: the peer receives XON" wait_for 5 matched 2 1
	check "veth: all packets arrive" wait_for 10 frames_arrived $((frames_before + 60))
	check "veth: the pool is empty" empty
	setup v1
	blast 60
	wait_for 5 sent v1 xoff_frames 1
	tc -n "$s" qdisc del dev v1 root
	check "veth: a port that leaves the pool sends XON" wait_for 5 matched 2 2
	# 20000 bytes hold 13 frames, the headroom 6
	setup v1
	port v1 headroom 10000 xoff 20000
	blast 60
	check "peer that ignores XOFF: packets above the headroom are dropped" wait_for 5 sent v1 dropped_packets 40
	check_eq "peer that ignores XOFF: packets within the headroom are queued" "$(dcqcn_stat "$s/p3" qlen)" 19
	check_eq "peer that ignores XOFF: the qdisc counts the same drops" \
		"$(dcqcn_stat "$s/p3" dropped_headroom_packets) $(dcqcn_stat "$s/p3" drops)" "40 40"
	port p3 rate 0
	check "peer that ignores XOFF: the queued packets arrive" wait_for 10 frames_arrived $((frames_before + 20))
else
	skip "veth: the peer receives XOFF" "no clsact or u32"
fi
ip -n "$h1" link del v0

# ---- devices and namespaces deleted under traffic

ip -n "$h1" addr add 10.0.0.1/24 dev w0
ip -n "$h1" neigh replace 10.0.0.3 lladdr "$mac" dev w0 nud permanent
fill
ip -n "$s" link del p1
check "a deleted ingress device is not counted in the pool" dcqcn_is "$s/p3" pool_ports 1
check "packets of a deleted ingress device stay queued" dcqcn_has "$s/p3" pool_bytes 1
port p3 rate 0
check "packets of a deleted ingress device leave the pool empty" wait_for 5 empty

ip link add w0 netns "$h1" numtxqueues 8 type closwire rate 1gbit peer name p1 netns "$s" numtxqueues 8
ip -n "$h1" link set w0 up
ip -n "$s" link set p1 master br0 up
wait_for 5 has_carrier "$h1" w0
ip -n "$h1" addr add 10.0.0.1/24 dev w0
ip -n "$h1" neigh add 10.0.0.3 lladdr "$mac" dev w0 nud permanent
setup p1
job traffic udp -n "$h1" -d 10.0.0.3 -p 9 -c 0 -l 1472 -t 96 >/dev/null
wait_for 5 sent p1 xoff_frames 1
gone() { ! ip -n "$h1" link show w0; }
ip netns del "$s"
check "deleting the switch's namespace under traffic deletes its cables" wait_for 10 gone
stop_jobs
ip netns add "$s"
ip netns del "$h1"
ip netns add "$h1"
check "sch_dcqcn unloads after its namespaces were deleted" rmmod sch_dcqcn
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Whatever goes while packets wait, nobody stays paused, and the pool's sums
# stay right: ports, devices, namespaces. Pause frames by another driver.
# shellcheck disable=SC2317,SC2154 # functions are called by check and wait_for; variables of lib/sch_pool.sh
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/sch_pool.sh"

fill
told=$(counter "$s/p1" tx_prio3_pause)
tc -n "$s" qdisc del dev p1 root
check "a port leaves: XON" lifted
check "the others come in, and are not protected" wait_for 5 waiting 59
check "the port is one no more" dcqcn_is "$s/p3" pool_ports 1
port p1
check_eq "it is back: nothing is charged to it" "$(ingress p1 ingress_bytes)" 0
go_on "a port that left and came"

fill
told=$(counter "$s/p1" tx_prio3_pause)
tc -n "$s" qdisc del dev p3 root
check "the port where they wait goes: XON" wait_for 5 lifted
port p3
check "nothing of them is left" empty
check "two ports as before" dcqcn_is "$s/p3" pool_ports 2

fill
ip -n "$s" link set p3 down
check "p3 goes down: what waits is dropped, XON" sent p1 xon_frames 1
check "nothing is left" wait_for 5 empty
ip -n "$s" link set p3 up
wait_for 5 has_carrier "$h3" w0

fill
ip -n "$h1" link set w0 down
port p3 rate 0
check "the peer is down: what waits leaves" wait_for 10 empty
told=$(counter "$s/p1" tx_prio3_pause)
sleep 0.2
check_eq "the peer is down: no frame is sent" "$(counter "$s/p1" tx_prio3_pause)" "$told"
ip -n "$h1" link set w0 up
wait_for 5 has_carrier "$h1" w0
ip -n "$h1" neigh replace 10.0.0.3 lladdr "$mac" dev w0 nud permanent
had=$(frames)
blast 10
check "it is up again: its packets pass" wait_for 10 came $((had + 10))

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
	# matched PRIO COUNT: of the filter
	matched() {
		[[ $(tc -n "$h1" -s -j filter show dev v0 ingress prio "$1") =~ \"packets\":([0-9]+) ]] &&
			[ "${BASH_REMATCH[1]}" -ge "$2" ]
	}
	blast 60
	check "veth: XOFF comes" wait_for 5 matched 1 1
	check "and again" wait_for 20 matched 1 3
	check "no XON yet" test "$(ingress v1 xon_frames)" -eq 0
	port p3 rate 0
	check "veth: XON comes" wait_for 5 matched 2 1
	check "all come" wait_for 10 came $((had + 60))
	check "the pool is empty" empty
	setup v1
	blast 60
	wait_for 5 sent v1 xoff_frames 1
	tc -n "$s" qdisc del dev v1 root
	check "veth leaves: XON comes" wait_for 5 matched 2 2
	# 20000 bytes hold 13 frames, the headroom 6
	setup v1
	port v1 headroom 10000 xoff 20000
	blast 60
	check "a peer that does not obey: the headroom is full" wait_for 5 sent v1 dropped_packets 40
	check_eq "a peer that does not obey: no more than it wait" "$(dcqcn_stat "$s/p3" qlen)" 19
	check_eq "a peer that does not obey: the queue counts the same drops" \
		"$(dcqcn_stat "$s/p3" dropped_headroom_packets) $(dcqcn_stat "$s/p3" drops)" "40 40"
	port p3 rate 0
	check "a peer that does not obey: the others come" wait_for 10 came $((had + 20))
else
	skip "pause frames of another driver" "no clsact or u32"
fi
ip -n "$h1" link del v0

# ---- whatever goes under traffic

ip -n "$h1" addr add 10.0.0.1/24 dev w0
ip -n "$h1" neigh replace 10.0.0.3 lladdr "$mac" dev w0 nud permanent
fill
ip -n "$s" link del p1
check "the device goes that brought the packets in" dcqcn_is "$s/p3" pool_ports 1
check "they stay" dcqcn_has "$s/p3" pool_bytes 1
port p3 rate 0
check "they leave, and the pool is empty" wait_for 5 empty

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
check "a switch goes under traffic: its cable is unplugged" \
	wait_for 10 gone
stop_jobs
ip netns add "$s"
ip netns del "$h1"
ip netns add "$h1"
check "nobody needs the module any more" rmmod sch_dcqcn
finish

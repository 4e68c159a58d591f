#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Who is paused may go on when the settings change or when the port that paused
# it goes; and whatever goes while packets wait, the pool's sums stay right.
#
#	+- h1 --+     +------- s --------+     +-- h3 -+
#	| w0    |=====| p1    bridge  p3 |=====| w0    |
#	| v0    |=====| v1               |     |       |
#	+-------+     +------------------+     +-------+
#
# w0 and p1 are closwire; v0 and v1 are veth, for pause frames that another
# driver sends. p3 stops when a shaper holds its packets.
# shellcheck disable=SC2317,SC2154 # functions are called by check and wait_for; setup_ns sets the namespaces
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
need_dcqcn
setup_ns h1 h3 s
ip link add w0 netns "$h1" numtxqueues 8 type closwire rate 1gbit peer name p1 netns "$s" numtxqueues 8
ip link add p3 netns "$s" type closwire rate 1gbit peer name w0 netns "$h3"
ip link add v0 netns "$h1" type veth peer name v1 netns "$s"
ip -n "$s" link add br0 type bridge || skip_all "no bridge"
for p in p1 p3 v1; do
	ip -n "$s" link set "$p" master br0 up
	ip -n "$s" link set "$p" type bridge_slave learning off
done
ip -n "$s" link set br0 up
ip -n "$h1" link set w0 up
ip -n "$h1" link set v0 up
ip -n "$h3" link set w0 up
mac=$(ip -n "$h3" -j link show w0 | jq -r '.[0].address')
bridge -n "$s" fdb add "$mac" dev p3 master static
ip -n "$h3" addr add 10.0.0.3/24 dev w0
# nobody listens: h3 says so, and shall ask nobody where to
ip -n "$h3" neigh add 10.0.0.1 lladdr $MAC_A dev w0 nud permanent
ip -n "$h1" addr add 10.0.0.1/24 dev w0
ip -n "$h1" neigh add 10.0.0.3 lladdr "$mac" dev w0 nud permanent
tc -n "$h1" qdisc add dev w0 root dcqcn # tells closwire a frame's priority
wait_for 5 has_carrier "$h1" w0
wait_for 5 has_carrier "$h3" w0

port() { tc -n "$s" qdisc replace dev "$1" root dcqcn pool one "${@:2}"; }
pool() { tc -n "$s" -s -j qdisc show dev p3 | jq -e ".[0] | $1"; }
ingress() { tc -n "$s" -s -j qdisc show dev "$1" | jq ".[0].prio[3].$2"; }
sent() { [ "$(ingress "$1" "$2")" -ge "$3" ]; }
frames() { counter "$h3/w0" rx_frames; }
came() { [ "$(frames)" -ge "$1" ]; }
waiting() { pool ".qlen == $1"; }
empty() { pool '.pool_bytes == 0'; }
blast() { traffic udp -n "$h1" -d 10.0.0.3 -p 9 -c "$1" -l 1472 -t 96 -b 400000 >/dev/null; }

# setup PORT: a pool of it and p3 without traces of what was before; p3 sends a frame, and no more
setup() {
	for p in p1 v1 p3; do tc -n "$s" qdisc del dev "$p" root 2>/dev/null || true; done
	port "$1" headroom 400000 xoff 60000
	port p3 rate 1kbit
	had=$(frames)
}
# fill: 60 frames for p3; the first goes, 39 are within the threshold, then p1 is paused
fill() {
	setup p1
	blast 60
	wait_for 5 sent p1 xoff_frames 1
}
# go_on WHAT: all 60 come, and the sums are right
go_on() {
	port p3 rate 0
	check "$1: all come" wait_for 10 came $((had + 60))
	check_eq "$1: no more" "$(frames)" $((had + 60))
	check "$1: the pool is empty" empty
	check_eq "$1: so is the port's part of it" "$(ingress p1 ingress_bytes)" 0
}

# ---- settings

fill
waits=$(pool .qlen)
check "a pause is refreshed while it lasts" wait_for 20 sent p1 xoff_frames 4
check_eq "and is no pause less" "$(pool .qlen) $(ingress p1 xon_frames)" "$waits 0"
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
check_eq "they are above 60000" "$(ingress p1 xoff_frames) $(ingress p1 xon_frames)" "1 0"
# 59 packets are 89326 bytes, 2 MTU are 3000
port p1 xoff 92325
check_eq "less than 2 MTU below is not enough" "$(ingress p1 xon_frames)" 0
port p1 xoff 92326
check_eq "2 MTU below is" "$(ingress p1 xon_frames)" 1
go_on "thresholds up and down"

# ---- what goes

# lifted: has p1 sent XOFF, and one frame more?
lifted() { [ "$(counter "$s/p1" tx_prio3_pause)" -eq $((told + 1)) ]; }
fill
told=$(counter "$s/p1" tx_prio3_pause)
tc -n "$s" qdisc del dev p1 root
check "a port leaves: XON" lifted
check "the others come in, and are not protected" wait_for 5 waiting 59
check "the port is one no more" pool '.pool_ports == 1'
port p1
check_eq "it is back: nothing is charged to it" "$(ingress p1 ingress_bytes)" 0
go_on "a port that left and came"

fill
told=$(counter "$s/p1" tx_prio3_pause)
tc -n "$s" qdisc del dev p3 root
check "the port where they wait goes: XON" wait_for 5 lifted
port p3
check "nothing of them is left" pool '.pool_bytes == 0 and .pool_ports == 2'

fill
ip -n "$s" link set p3 down
check "p3 goes down: what waits is dropped, XON" sent p1 xon_frames 1
check "nothing is left" wait_for 5 empty
ip -n "$s" link set p3 up
wait_for 5 has_carrier "$h3" w0

# ---- another driver

setup v1
ip -n "$h1" addr del 10.0.0.1/24 dev w0
ip -n "$h1" addr add 10.0.0.1/24 dev v0
ip -n "$h1" neigh replace 10.0.0.3 lladdr "$mac" dev v0 nud permanent
tc -n "$h1" qdisc add dev v0 root dcqcn
# opcode, priority 3; 65535 or 0 quanta
pause='match u32 0x01010008 0xffffffff at 0 match u16'
# shellcheck disable=SC2086 # words
if tc -n "$h1" qdisc add dev v0 clsact &&
	tc -n "$h1" filter add dev v0 ingress prio 1 protocol 0x8808 u32 $pause 0xffff 0xffff at 10 action drop &&
	tc -n "$h1" filter add dev v0 ingress prio 2 protocol 0x8808 u32 $pause 0 0xffff at 10 action drop; then
	# matched PRIO COUNT: of the filter
	matched() {
		tc -n "$h1" -s -j filter show dev v0 ingress prio "$1" |
			jq -e "[.. | .stats?.packets // empty] | max >= $2" >/dev/null
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
else
	skip "pause frames of another driver" "no clsact or u32"
fi
ip -n "$h1" link del v0

# ---- whatever goes under traffic

ip -n "$h1" addr add 10.0.0.1/24 dev w0
ip -n "$h1" neigh replace 10.0.0.3 lladdr "$mac" dev w0 nud permanent
fill
ip -n "$s" link del p1
check "the device goes that brought the packets in" pool '.pool_ports == 1 and .pool_bytes > 0'
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

# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A switch whose ports share a dcqcn pool; all traffic has priority 3
#
#	+- h1 --+     +------- s --------+     +-- h3 -+
#	| w0    |=====| p1    bridge  p3 |=====| w0    |
#	| v0    |=====| v1               |     |       |
#	+-------+     +------------------+     +-------+
#
# w0 and p1 are closwire ports. v0 and v1 are veth, for pause frames on a device of another driver. p3 stops
# sending while a shaper holds its packets.
# shellcheck disable=SC2317,SC2154 # functions are called by check and wait_for; setup_ns sets the namespaces
. "$LIB_TOP/selftests/lib/dcqcn.sh"
need_closwire
need_dcqcn
setup_ns h1 h3 s
ip link add w0 netns "$h1" numtxqueues 8 type closwire rate 1gbit peer name p1 netns "$s" numtxqueues 8
ip link add p3 netns "$s" type closwire rate 1gbit peer name w0 netns "$h3"
ip link add v0 netns "$h1" type veth peer name v1 netns "$s"
# without snooping, the bridge sends no frames of its own
ip -n "$s" link add br0 type bridge mcast_snooping 0 || skip_all "no bridge"
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
# A permanent neighbour, so that h3 sends no ARP request for the address of its port unreachable messages
ip -n "$h3" neigh add 10.0.0.1 lladdr "$MAC_A" dev w0 nud permanent
ip -n "$h1" addr add 10.0.0.1/24 dev w0
ip -n "$h1" neigh add 10.0.0.3 lladdr "$mac" dev w0 nud permanent
tc -n "$h1" qdisc add dev w0 root dcqcn prio 3
wait_for 5 has_carrier "$h1" w0
wait_for 5 has_carrier "$h3" w0

port() { tc -n "$s" qdisc replace dev "$1" root dcqcn prio 3 pool one "${@:2}"; }
ingress() { dcqcn_stat "$s/$1" "$2" 3; }
sent() { dcqcn_has "$s/$1" "$2" "$3" 3; }
frames() { packets "$h3/w0" rx_packets; }
frames_arrived() { [ "$(frames)" -ge "$1" ]; }
waiting() { dcqcn_is "$s/p3" qlen "$1"; }
empty() { dcqcn_is "$s/p3" pool_bytes 0; }
blast() { traffic udp -n "$h1" -d 10.0.0.3 -p 9 -c "$1" -l 1472 -t 96 -b 400000 >/dev/null; }

# refresh frames may also be sent meanwhile in real time, so only virtual time permits an exact count
pauses_before=0
# xon_sent: true if p1 has sent one more pause frame, the XON, than `pauses_before`
xon_sent() {
	local n=$(($(counter "$s/p1" tx_prio3_pause) - pauses_before))
	if exact; then [ $n -eq 1 ]; else [ $n -ge 1 ]; fi
}

# setup PORT: make a new pool of PORT and p3, and let p3 send only one frame
setup() {
	for p in p1 v1 p3; do tc -n "$s" qdisc del dev "$p" root 2>/dev/null || true; done
	port "$1" headroom 400000 xoff 60000
	port p3 rate 1kbit
	frames_before=$(frames)
}
# fill: send 60 frames to p3. It sends the first, 39 fit below the XOFF threshold, then p1 is paused.
fill() {
	setup p1
	blast 60
	wait_for 5 sent p1 xoff_frames 1
}
# resume NAME: release p3 and check that all 60 frames arrive and the pool is empty
resume() {
	port p3 rate 0
	check "$1: all 60 frames arrive" wait_for 10 frames_arrived $((frames_before + 60))
	check_eq "$1: no other frame arrives" "$(frames)" $((frames_before + 60))
	check "$1: the pool is empty" empty
	check_eq "$1: no bytes remain charged to the port" "$(ingress p1 ingress_bytes)" 0
}

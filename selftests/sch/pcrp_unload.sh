#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Qdiscs, devices, namespaces and the module are removed while sender and receiver are active, with GRANTs in flight,
# packets in the window, waiting flows and running timers. Traffic continues, the module can be unloaded, and no memory
# is used after it was freed.
# shellcheck disable=SC2317 # functions are called through check and wait_for
#
#	+---------- a ----------+     +---------- b ----------+
#	| w0: pcrp with window  |=====| w1: pcrp with window  |
#	+-----------------------+     +-----------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_sch pcrp
need_closwire
c=''
setup_ns a b
. "$(dirname "$0")/../lib/pcrp_pair.sh"
OPTIONS=(chain 20000 window 100us)

# busy: are sender and receiver active at both ends, with packets in the window?
busy() {
	local at
	for at in "$a/w0" "$b/w1"; do
		reaches "$at" grants_received 20 && reaches "$at" grants_sent 20 && reaches "$at" window_packets 100 ||
			return
	done
}

# both COMMAND ARGUMENT...: run a tc command for the qdiscs of both ends
both() { tc -n "$a" qdisc "$1" dev w0 root "${@:2}" && tc -n "$b" qdisc "$1" dev w1 root "${@:2}"; }

# changes of the active qdiscs
change_window() { both change pcrp window off && both change pcrp window 50us; }
replace() { pcrp_new "$a/w0" "${OPTIONS[@]}" && pcrp_new "$b/w1" "${OPTIONS[@]}"; }
down_up() { ip -n "$a" link set w0 down && ip -n "$a" link set w0 up; }
reload() { both del && rmmod sch_pcrp && load_module sch_pcrp && both add pcrp "${OPTIONS[@]}"; }

# until_stop FROM TO ADDRESS PORT: a connection that sends until $TMP/stop exists; each byte is checked
until_stop() { tcp_flow -s "$1" -r "$2" -d "$3" -p "$4" connect until="$TMP/stop" close eof; }

# start: start connections in both directions, and datagrams
start() {
	rm -f "$TMP/stop"
	until_stop "$a" "$b" 10.0.0.2 1 &
	pids=($!)
	until_stop "$a" "$b" 10.0.0.2 2 &
	pids+=($!)
	until_stop "$b" "$a" 10.0.0.1 3 &
	pids+=($!)
	job traffic udp -n "$a" -d 10.0.0.2 -p 9 -l 1400 -c 0 >/dev/null
}

# ---- namespaces, while flows wait

# wait_in_b WHAT: make flows of b wait for GRANTs
wait_in_b() {
	tc -n "$b" qdisc add dev v1 root pcrp chain 10000 first 10000 hold 10s rate 100mbit window 1ms
	for i in 1 2 3; do
		echo "traffic udp -n $b -d 203.0.113.1 -p $i -c 50 -l 1000 >/dev/null"
	done >"$TMP/flows"
	check_to "$TMP/talk" "$1: three flows send REQUESTs" pcrp_talk -s "$a/v0" answer=10000 "sh=sh $TMP/flows" wait=50 \
		request request:udp4:sport=9 data
	check_json "$(pcrp_stats "$b/v1")" "$1: three flows wait for GRANTs, and two flows arrive" \
		'.flows_waiting == 3 and .qlen > 90 and .rx_flows == 2'
}
link_b() {
	link_ab
	ip -n "$b" -batch - <<-END
		addr add 203.0.113.2/24 dev v1
		neigh add 203.0.113.1 lladdr $MAC_A nud permanent dev v1
	END
}
if exact; then
	link_b
	wait_in_b "device moves to another namespace"
	check "a device with waiting flows moves to another namespace" ip -n "$b" link set v1 netns "$a"
	check "a device that moves to another namespace loses its qdisc" \
		[ "$(tc -n "$a" -j qdisc show dev v1 | grep -c pcrp)" = 0 ]
	check "sch_pcrp unloads after its device has moved" rmmod sch_pcrp
	load_module sch_pcrp
	ip -n "$a" link del v0
	link_b
	wait_in_b "namespace is deleted"
else
	skip "a device with waiting flows moves to another namespace" "in real time, PROBEs are answered too late"
	link_b
	tc -n "$b" qdisc add dev v1 root pcrp rate 1mbit window 1ms
	traffic udp -n "$b" -d 203.0.113.1 -p 9 -c 50 -l 1000 >/dev/null
fi
gone() { ! ip -n "$a" link show v0; }
ip netns del "$b"
NAMESPACES=("$a")
check "a namespace with waiting flows can be deleted" wait_for 10 gone
check "sch_pcrp unloads after its namespace was deleted" wait_for 5 rmmod sch_pcrp
load_module sch_pcrp

# ---- qdiscs, under traffic in both directions

setup_ns c
b=$c
wire_ab rate 1gbit delay 5us
both add pcrp "${OPTIONS[@]}"
start

for i in 1 2 3; do
	check "sender and receiver are active before replacement $i" wait_for 10 busy
	check "active qdiscs can be replaced, $i" replace
done
check "sender and receiver are active after replacements" wait_for 10 busy
check "the window can be switched off and on with packets in it" change_window
check "sender and receiver are active after changes of the window" wait_for 10 busy
check "an active qdisc can be deleted" tc -n "$a" qdisc del dev w0 root
check "a qdisc can be added under traffic" tc -n "$a" qdisc add dev w0 root pcrp "${OPTIONS[@]}"

# ---- the module

for i in 1 2 3; do
	check "sender and receiver are active before reload $i" wait_for 10 busy
	check "the module can be reloaded under traffic, $i" reload
done
check "sender and receiver are active after reloads" wait_for 10 busy
touch "$TMP/stop"
check_job "all data arrives despite replaced qdiscs and reloads" "${pids[@]}"
stop_jobs
check "no packet stays queued after reloads" wait_for 5 settled "$a/w0" "$b/w1"

# ---- devices

start
check "sender and receiver are active before the device goes down" wait_for 10 busy
check "a device goes down and up under traffic" down_up
ip -n "$a" neigh replace 10.0.0.2 lladdr $MAC_B nud permanent dev w0
tc -n "$a" qdisc replace dev w0 root pcrp "${OPTIONS[@]}"
touch "$TMP/stop"
check_job "all data arrives after the device was down" "${pids[@]}"
stop_jobs

start
check "sender and receiver are active before the device is deleted" wait_for 10 busy
check "a device can be deleted under traffic" ip -n "$a" link del w0
for pid in "${pids[@]}"; do
	kill "$pid"
	wait "$pid" || true
done
stop_jobs
check "sch_pcrp unloads after its device was deleted" wait_for 5 rmmod sch_pcrp
load_module sch_pcrp
finish

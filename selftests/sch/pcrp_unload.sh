#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Whatever goes while both halves are at work (grants on their way, packets in the window, flows that wait, timers):
# qdiscs, the module, devices, namespaces. The traffic goes on, nothing holds the module, nothing is used after it went.
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

# busy: are both halves at work at both sides? Then one or more packets are in the window.
busy() {
	local at
	for at in "$a/w0" "$b/w1"; do
		reaches "$at" grants_received 20 && reaches "$at" grants_sent 20 && reaches "$at" window_packets 100 ||
			return
	done
}

# both COMMAND ARGUMENT...: tc's, for the qdisc of either side
both() { tc -n "$a" qdisc "$1" dev w0 root "${@:2}" && tc -n "$b" qdisc "$1" dev w1 root "${@:2}"; }

# other_window, replaced, down_up, reload: of what is at work
other_window() { both change pcrp window off && both change pcrp window 50us; }
replaced() { pcrp_new "$a/w0" "${OPTIONS[@]}" && pcrp_new "$b/w1" "${OPTIONS[@]}"; }
down_up() { ip -n "$a" link set w0 down && ip -n "$a" link set w0 up; }
reload() { both del && rmmod sch_pcrp && load_module sch_pcrp && both add pcrp "${OPTIONS[@]}"; }

# until_stop FROM TO ADDRESS PORT: a connection that sends until it is to stop; each byte is checked
until_stop() { tcp_flow -s "$1" -r "$2" -d "$3" -p "$4" connect until="$TMP/stop" close eof; }

# start: connections both ways, and datagrams
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

# wait_in_b: at b, flows wait for grants that do not come
wait_in_b() {
	tc -n "$b" qdisc add dev v1 root pcrp chain 10000 first 10000 hold 10s rate 100mbit window 1ms
	for i in 1 2 3; do
		echo "traffic udp -n $b -d 203.0.113.1 -p $i -c 50 -l 1000 >/dev/null"
	done >"$TMP/flows"
	check_to "$TMP/said" "$1: flows ask" pcrp_talk -s "$a/v0" answer=10000 "sh=sh $TMP/flows" wait=50 \
		request request:udp4:sport=9 data
	check_json "$(pcrp_stats "$b/v1")" "$1: they wait, and so do others for what b grants" \
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
	wait_in_b "to another namespace"
	check "the device goes there" ip -n "$b" link set v1 netns "$a"
	check "without its qdisc" [ "$(tc -n "$a" -j qdisc show dev v1 | grep -c pcrp)" = 0 ]
	check "nothing holds the module" rmmod sch_pcrp
	load_module sch_pcrp
	ip -n "$a" link del v0
	link_b
	wait_in_b "a namespace"
else
	skip "flows that wait" "the machine is late: probes are not answered in time"
	link_b
	tc -n "$b" qdisc add dev v1 root pcrp rate 1mbit window 1ms
	traffic udp -n "$b" -d 203.0.113.1 -p 9 -c 50 -l 1000 >/dev/null
fi
gone() { ! ip -n "$a" link show v0; }
ip netns del "$b"
NAMESPACES=("$a")
check "the namespace goes, with all that waits" wait_for 10 gone
check "nothing holds the module" wait_for 5 rmmod sch_pcrp
load_module sch_pcrp

# ---- qdiscs, under traffic both ways

setup_ns c
b=$c
wire_ab rate 1gbit delay 5us
both add pcrp "${OPTIONS[@]}"
start

for i in 1 2 3; do
	check "both halves are at work" wait_for 10 busy
	check "replaced" replaced
done
check "both halves are at work" wait_for 10 busy
check "the window is closed, and opened" other_window
check "both halves are at work" wait_for 10 busy
check "deleted at one side" tc -n "$a" qdisc del dev w0 root
check "and made again" tc -n "$a" qdisc add dev w0 root pcrp "${OPTIONS[@]}"

# ---- the module

for i in 1 2 3; do
	check "both halves are at work" wait_for 10 busy
	check "module: unloaded, loaded" reload
done
check "both halves are at work" wait_for 10 busy
touch "$TMP/stop"
check_job "all bytes have arrived" "${pids[@]}"
stop_jobs
check "nothing is left queued" wait_for 5 settled "$a/w0" "$b/w1"

# ---- devices

start
check "both halves are at work" wait_for 10 busy
check "a device goes down, and comes again" down_up
ip -n "$a" neigh replace 10.0.0.2 lladdr $MAC_B nud permanent dev w0
tc -n "$a" qdisc replace dev w0 root pcrp "${OPTIONS[@]}"
touch "$TMP/stop"
check_job "all bytes have arrived" "${pids[@]}"
stop_jobs

start
check "both halves are at work" wait_for 10 busy
check "devices go" ip -n "$a" link del w0
for pid in "${pids[@]}"; do
	kill "$pid"
	wait "$pid" || true
done
stop_jobs
check "nothing holds the module" wait_for 5 rmmod sch_pcrp
load_module sch_pcrp
finish

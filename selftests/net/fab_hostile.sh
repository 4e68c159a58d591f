#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# closfab survives forged packets, peers that restart, and removal under traffic.
# shellcheck disable=SC2154,SC2034,SC2119,SC2317 # lb_net sets the namespaces, and uses rate; check calls functions
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/fab.sh"
need_fab
rate=1gbit
fab_net
here=$(dirname "$0")
in_ns "$r" tee /proc/sys/net/ipv4/conf/{all,rh}/rp_filter >/dev/null <<<0
in_ns "$r" tee /proc/sys/net/ipv4/conf/{all,rh}/accept_local >/dev/null <<<1
in_ns "$t" tee /proc/sys/net/ipv4/conf/{all,t0,t1,t2,t3}/rp_filter >/dev/null <<<0
# forge KIND FROM COUNT: a stranger, h, sends packets to t's device
forge() { in_ns "$h" python3 "$here/fab_forge.py" "$1" "$2" 10.9.0.2 "$3"; }
pings() { in_ns "$h" ping -q -c 1 -W 1 10.0.2.2; }
wait_for 5 pings

# ---- strangers

forge garbage 10.0.1.1 2000
check "malformed packets are counted" wait_for 5 at_least 1000 counter "$t/fab0" rx_malformed
check "after malformed packets, pings are answered" pings
before=$(received)
forge inject 10.0.1.1 10
check "without a key, strangers can inject packets" wait_for 5 at_least $((before + 10)) received
job forge numbers 10.9.0.1 3000
check_eq "while a stranger forges the peer's numbers, all bytes arrive" "$(transfer 300000)" 300000
stop_jobs
check_eq "afterwards, all bytes arrive" "$(transfer 100000)" 100000
before=$(counter "$t/fab0" rx_broken_cells)
forge partial 10.9.0.1 50
check "memory of cells without the rest of their packet is freed" \
	wait_for 5 at_least $((before + 50)) counter "$t/fab0" rx_broken_cells
fab_del
fab_add mode cell flows 1
wait_for 5 pings
job traffic udp -n "$h" -d 10.0.2.2 -p 9 -l 1000 -i 1000 >/dev/null
check "cells arrive" wait_for 5 at_least $(($(received) + 20)) received
cookie=$(in_ns "$t" closnet fab flows -j | jq '((.flows[0].instance + 1) % 65536) * 65536')
before=$(counter "$t/fab0" rx_broken_cells)
in_ns "$h" python3 "$here/fab_forge.py" epoch 10.9.0.1 10.9.0.2 1 "$cookie" 1
check "a forged instance begins the bucket anew" wait_for 5 at_least 1 counter "$t/fab0" rx_restarts
check "after a forged instance, cells arrive" wait_for 5 at_least $(($(received) + 100)) received
check "a forged instance costs less than 10 packets" \
	[ $(($(counter "$t/fab0" rx_broken_cells) - before)) -lt 50 ]
stop_jobs
key=00112233445566778899aabbccddeeff
fab_del
fab_add key $key
check "with a key, pings are answered" wait_for 5 pings
before=$(received)
forge inject 10.9.0.1 10
check "with a key, packets of strangers are counted" wait_for 5 counted "$t/fab0" rx_not_authentic 10
check_eq "with a key, strangers cannot inject packets" "$(received)" "$before"
check_eq "with a key, all bytes arrive" "$(transfer 300000)" 300000
check_eq "ip does not show the key" "$(ip -n "$r" -d link show fab0 | grep -c $key)" 0
fab_del
fab_add key $key
ip -n "$r" link del fab0
fab_leaf "$r" 1 2 10.0.2.0/24 fd00:2::/64
check_refused "packets without the key are dropped" "" pings

# ---- restart

fab_del
# one bucket: a new device has another hash
fab_add mode conweave flows 1
wait_for 5 pings
for mode in conweave reorder cell; do
	fab_set mode $mode
	traffic udp -n "$h" -d 10.0.2.2 -p 9 -c 50 -l 1000 >/dev/null
	ip -n "$r" link del fab0
	fab_leaf "$r" 1 2 10.0.2.0/24 fd00:2::/64 mode $mode flows 1
	before=$(received)
	traffic udp -n "$h" -d 10.0.2.2 -p 9 -c 50 -l 1000 >/dev/null
	check "$mode: after a restart of the peer, its packets arrive" wait_for 5 at_least $((before + 50)) received
done
check "restarts are counted" at_least 1 counter "$t/fab0" rx_restarts

# ---- removal under traffic

job traffic udp -n "$h" -d 10.0.2.2 -p 9 -l 1000
flows() { wait_for 5 at_least $(($(received) + 20)) received; }
delays 5us 300us 600us 900us
check "traffic flows over links of different delay" flows
for mode in reorder cell conweave; do
	fab_set mode $mode
	check "$mode: traffic flows" flows
	check "$mode: the receiver goes down and up" eval "ip -n $t link set fab0 down && ip -n $t link set fab0 up"
	fab_routes "$t" 1 10.0.1.0/24 fd00:1::/64
	check "$mode: traffic flows again" flows
	check "$mode: a link fails" ip -n "$r" link set u1 down
	check "$mode: traffic flows by the other links" flows
	ip -n "$r" link set u1 up
done
check "both devices are deleted under traffic" fab_del
fab_add
check "traffic flows by new devices" flows
check "the receiver's namespace is deleted under traffic" eval "ip netns del $t && ip netns add $t"
check "the module is unloaded under traffic" wait_for 10 rmmod closfab
stop_jobs
finish

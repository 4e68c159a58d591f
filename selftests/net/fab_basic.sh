#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# closfab carries IPv4 and IPv6 in IPv4 and IPv6, in each mode, over links of different delay, and delivers TCP's
# segments in order.
# shellcheck disable=SC2154,SC2034,SC2119,SC2317 # lb_net sets the namespaces, and uses rate; check calls functions
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/fab.sh"
need_fab
rate=1gbit
fab_net

for outer in 4 6; do
	fab_del
	fab_add
	check "IPv4 in IPv$outer: a ping is answered" wait_for 5 in_ns "$h" ping -q -c 1 -W 1 10.0.2.2
	check "IPv6 in IPv$outer: a ping is answered" wait_for 5 in_ns "$h" ping -q -c 1 -W 1 fd00:2::2
	before=$(out_of_order)
	check_eq "IPv$outer, links of equal delay: all bytes arrive" "$(transfer 300000)" 300000
	check_eq "IPv$outer, links of equal delay: TCP sees no reordering" "$(out_of_order)" "$before"
done
outer=4
delays 5us 200us 400us 800us
# conweave: times for these delays, instead of a fabric
for settings in reorder "cell cell_size 512" \
	"conweave theta_inactive 5ms theta_resume_extra 1ms theta_resume_default 5ms"; do
	fab_del
	# shellcheck disable=SC2086 # words
	fab_add mode $settings wait_max 50ms
	mode=${settings%% *}
	check "$mode: a ping is answered" wait_for 5 in_ns "$h" ping -q -c 1 -W 1 10.0.2.2
	before=$(out_of_order)
	check_eq "$mode: all bytes arrive" "$(transfer 1000000)" 1000000
	check_eq "$mode: all bytes arrive by IPv6" "$(transfer 300000 fd00:2::2)" 300000
	check_in_time "$mode: TCP sees no reordering" "$(out_of_order)" "$before"
	# rx_skipped counts multicast packets that were sent before the other device was up
	check_in_time "$mode: no packet is out of order" "$(sum rx_late rx_unheld rx_stray rx_unordered)" 0
	check_eq "$mode: no packet is malformed" "$(sum rx_malformed rx_not_authentic)" 0
	check_in_time "$mode: no packet is lost" "$(sum rx_duplicate rx_broken_cells rx_backlog)" 0
	outer=6
	fab_del
	# shellcheck disable=SC2086 # words
	fab_add mode $settings wait_max 50ms
	check_eq "$mode, IPv6 underlay: all bytes arrive" "$(transfer 300000)" 300000
	check_in_time "$mode, IPv6 underlay: no packet is out of order" "$(sum rx_late rx_unheld rx_stray rx_unordered)" 0
	outer=4
	note "$(in_ns "$t" ethtool -S fab0 | grep -v ' 0$')"
	note "$(in_ns "$r" ethtool -S fab0 | grep -v ' 0$')"
done
fab_del
fab_add
transfer 300000 >/dev/null
check "reorder: packets were held" at_least 10 counter "$t/fab0" rx_released
for i in 0 1 2 3; do
	check "reorder: link $i carries packets" at_least 20 packets "$r/u$i" tx_packets
done

# ---- dumps

dump() { in_ns "$t" closnet fab "$1"; }
# more flows: one connection can have one bucket
for i in 1 2 3 4 5 6 7 8; do
	traffic udp -n "$h" -d 10.0.2.2 -p $i -c 1 >/dev/null
done
check "closnet fab shows the peer with its paths" grep -q "peer 10.9.0.1 paths [1-4] .*wait_ns [1-9]" <(dump peers)
buckets() { dump flows | grep -c "peer 10.9.0.1 bucket .* next .* held_packets 0"; }
check "closnet fab shows flow buckets" wait_for 5 at_least 2 buckets
check_json "$(in_ns "$t" closnet fab -j)" "JSON has both tables" \
	'.peers[0].peer == "10.9.0.1" and .peers[0].wait_ns > 0 and (.flows | length) >= 2 and .flows[0].held_bytes == 0'
check_refused "without CAP_NET_ADMIN, closnet fab shows nothing" "Operation not permitted" \
	setpriv --bounding-set -net_admin ip netns exec "$t" closnet fab
check_refused "closnet fab refuses an unknown table" '"x" is not peers or flows' closnet fab x

# ---- MTU

check_refused "a packet that does not fit is answered by ICMP" "mtu" \
	in_ns "$h" ping -c 2 -W 1 -M 'do' -s 1450 10.0.2.2
ip -n "$r" link set fab0 mtu 1500
ip -n "$h" route flush cache
check_refused "a packet that does not fit the path is answered by ICMP" "mtu = 1452" \
	in_ns "$h" ping -c 2 -W 1 -M 'do' -s 1440 10.0.2.2
ip -n "$r" link set fab0 mtu 1424
check "a large packet is fragmented" in_ns "$h" ping -q -c 1 -W 2 -M dont -s 3000 10.0.2.2

ip -n "$r" link set fab0 mtu 1500
ip -n "$t" link set fab0 mtu 1500
fab_set mode cell cell_size 9000
ip -n "$h" route flush cache
check "cells fit the path" in_ns "$h" ping -q -c 1 -W 2 -M 'do' -s 1472 10.0.2.2
for i in 0 1 2 3; do
	ip -n "$r" link set u$i mtu 1300
	ip -n "$t" link set t$i mtu 1300
done
for outer in 4 6; do
	fab_del
	fab_add
	check "IPv6 packets of 1280 bytes pass an IPv$outer underlay with an MTU of 1300" \
		wait_for 5 in_ns "$h" ping -q -c 1 -W 1 -M 'do' -s 1232 fd00:2::2
done
outer=4
for i in 0 1 2 3; do
	ip -n "$r" link set u$i mtu 1500
	ip -n "$t" link set t$i mtu 1500
done

# ---- peers

fab_del
fab_add
ip -n "$r" link del fab0
ip -n "$r" link add fab0 type closfab remote 10.9.0.2
ip -n "$r" route change 10.9.0.2 nexthop via 10.1.0.2 dev u0 nexthop via 10.1.1.2 dev u1
ip -n "$r" link set fab0 up
ip -n "$r" route replace 10.0.2.0/24 dev fab0
before=$(received)
traffic udp -n "$h" -d 10.0.2.2 -p 9 -c 50 -l 1000 >/dev/null
check "without a local address, packets arrive" wait_for 5 at_least $((before + 50)) received
check "without a local address, the peer sees one address" test "$(dump peers | grep -c "peer 10.1.")" = 1
fab_del
fab_add

# ---- configuration

check_json "$(ip -n "$r" -d -j link show fab0 | unwrap)" \
	"local address is shown" '.linkinfo.info_data.local == "10.9.0.1"' \
	"mode is shown" '.linkinfo.info_data.mode == "reorder"' \
	"MTU leaves room for headers" '.mtu == 1424'
check_refused "a multicast address is refused" "local and remote must be unicast" \
	ip -n "$h" link add fab1 type closfab local 224.0.0.1
check_refused "cells of 63 bytes are refused" "cell_size must be 64 to 9000 bytes" \
	ip -n "$h" link add fab1 type closfab cell_size 63
check_refused "the key cannot be changed" "local, remote, port and key cannot be changed" \
	ip -n "$r" link set fab0 type closfab key 00112233445566778899aabbccddeeff
finish

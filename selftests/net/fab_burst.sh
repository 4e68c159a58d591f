#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# closfab divides a burst among two links of different rates: packets that were sent since the last sample of the load
# count. Otherwise the whole burst would take links that were idle before, half of it the slow one.
# shellcheck disable=SC2154,SC2034,SC2119 # lb_net sets the namespaces, and uses rate
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/fab.sh"
need_fab
# the burst reaches the leaf within a sample's interval of 16 us
rate=10gbit
fab_net
wire_set "$r/u0" rate 250mbit
wire_set "$r/u3" rate 1gbit
ip -n "$r" route replace 10.9.0.2/32 src 10.9.0.1 nexthop via 10.1.0.2 dev u0 nexthop via 10.1.3.2 dev u3
sent() { packets "$r/u$1" tx_packets; }

for settings in "reorder select quality" "reorder select drill" "cell cell_size 256 select quality"; do
	fab_del
	# shellcheck disable=SC2086 # words
	fab_add mode $settings
	wait_for 5 in_ns "$h" ping -q -c 1 -W 1 10.0.2.2
	slow=$(sent 0) fast=$(sent 3)
	for i in {1..20}; do
		traffic udp -n "$h" -d 10.0.2.2 -p 9 -l 100 -c 100 >/dev/null
		sleep 0.01
	done
	slow=$(($(sent 0) - slow)) fast=$(($(sent 3) - fast))
	# 80 % is ideal; bands of the load are rough. At random, it is 50 %, with a standard deviation of 1.1
	check "$settings: the fast link carries two thirds of bursts" test $((3 * fast)) -ge $((2 * (fast + slow)))
	note "$slow packets by the slow link, $fast by the fast one"
done
finish

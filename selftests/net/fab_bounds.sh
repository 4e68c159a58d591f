#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Strangers cannot make closfab use more memory than its limits, nor hold it longer than wait_max.
# shellcheck disable=SC2154,SC2034,SC2119,SC2317 # lb_net sets the namespaces, and uses rate; check calls functions
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/fab.sh"
need_fab
rate=10gbit
fab_net peers 8 limit 1000000 flow_limit 10000 wait_max 2s
here=$(dirname "$0")
in_ns "$r" tee /proc/sys/net/ipv4/conf/{all,rh}/rp_filter >/dev/null <<<0
in_ns "$r" tee /proc/sys/net/ipv4/conf/{all,rh}/accept_local >/dev/null <<<1
in_ns "$t" tee /proc/sys/net/ipv4/conf/{all,t0,t1,t2,t3}/rp_filter >/dev/null <<<0
# forge KIND FROM COUNT: a stranger, h, sends packets to t's device
forge() { in_ns "$h" python3 "$here/fab_forge.py" "$1" "$2" 10.9.0.2 "$3"; }
pings() { in_ns "$h" ping -q -c 1 -W 1 10.0.2.2; }
flows() { in_ns "$t" closnet fab -j | jq "$1"; }
held() { flows '[.flows[].held_bytes] | add // 0'; }
wait_for 5 pings

forge holes 10.9.0.3 8192
check "packets for which there is no room are counted" at_least 6000 sum rx_unheld
flows . >"$TMP/flows"
note "held: $(held) bytes"
check_json "$(cat "$TMP/flows")" \
	"held packets stay below limit" '[.flows[].held_bytes] | add | . > 500000 and . <= 1000000' \
	"a flow stays below flow_limit" '[.flows[].held_bytes] | max <= 10000'
check "the most bytes held at a time are counted" at_least 500000 sum rx_held_bytes_max
check "they stay below limit, too" [ "$(sum rx_held_bytes_max)" -le 1000000 ]
check_eq "meanwhile, all bytes of others arrive" "$(transfer 300000)" 300000
none_held() { [ "$(held)" = 0 ]; }
check "held packets are released after wait_max" wait_for 5 none_held

before=$(sum rx_unordered)
forge peers - 3000
check_json "$(flows .)" "strangers create 8 peers at most" '.peers | length == 8'
check "packets of further peers are delivered without order" at_least $((before + 2900)) sum rx_unordered
check_eq "afterwards, all bytes of others arrive" "$(transfer 300000)" 300000
check "their packets are released, too" wait_for 5 none_held

fab_set wait_max 100ms
before=$(sum rx_broken_cells)
forge drip 10.9.0.1 400
check "a packet whose cells come slowly is dropped after wait_max" at_least $((before + 1)) sum rx_broken_cells
check "pings are answered" pings
finish

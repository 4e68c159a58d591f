#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# closnet pcrp: it shows what the kernel has counted, and its thresholds come to the qdiscs.
# What the kernel takes from whom is tested by pcrp_genl.sh.
# shellcheck disable=SC2317 # functions are called through check
#
#	+------ a ------+     +------ b ------+
#	| w0: pcrp      |=====| w1            |
#	+---------------+     +---------------+
. "$(dirname "$0")/../lib/lib.sh"
need_sch pcrp
need_closwire
setup_ns a b
wire_ab rate 10gbit
tc -n "$a" qdisc add dev w0 root handle 1: pcrp chain 20kb

# pcrp ARGUMENT...: closnet pcrp in namespace a
pcrp() { ip netns exec "$a" closnet pcrp "$@"; }

# datagram BYTES: a flow of one datagram, or of its fragments
datagram() {
	traffic udp -n "$a" -d 10.0.0.2 -p 9 -l "$1" -c 1 >"$TMP/sent"
}

# spec: the thresholds that the qdisc goes by
spec() { tc -n "$a" -s -j qdisc show dev w0 | jq -c '.[0].spec_bytes'; }

# uses THRESHOLDS: does the qdisc go by them, once it has had something to send?
uses() {
	datagram 100
	[ "$(spec)" = "$1" ]
}

# flows COUNT: have so many ended?
flows() { pcrp -j | grep -q "\"flows\": $1,"; }

check_eq "nothing has ended yet" "$(pcrp)" "thresholds: none, each qdisc has its own
updates: 0
flows: 0, 0 bytes"
check_json "$(pcrp -j)" "in JSON neither" \
	'. == {thresholds_bytes: null, updates: 0, flows: 0, bytes: 0, sizes_flows: [range(42) | 0]}'

datagram 1000
datagram 100
datagram 1000
check "all end" wait_for 10 flows 3
check_eq "sizes, in text" "$(pcrp get | tail -n +3)" "flows: 3, 2100 bytes
bytes                                 flows up to here
64 to 127                                 1     33.33%
128 to 255                                0     33.33%
256 to 511                                0     33.33%
512 to 1023                               2    100.00%"
check_json "$(pcrp get -j)" "sizes, in JSON" '.flows == 3 and .bytes == 2100 and .sizes_flows[7] == 1
	and .sizes_flows[10] == 2 and (.sizes_flows | add) == 3 and (.sizes_flows | length) == 42'
check_json "$(ip netns exec "$b" closnet pcrp -j)" "not of another namespace" '.flows == 0'

check_eq "without thresholds the qdisc has its own" "$(spec)" "[5120,20480,81920]"
check "set" pcrp set 2kb 20kb 200kib
check_eq "and shown" "$(pcrp | head -n 2)" "thresholds: P0 2000 P1 20000 P2 204800 bytes
updates: 1"
check_json "$(pcrp -j)" "and in JSON" '.thresholds_bytes == [2000, 20000, 204800] and .updates == 1'
check "the qdisc goes by them" wait_for 10 uses "[2000,20000,204800]"
tc -n "$a" qdisc change dev w0 root handle 1: pcrp spec 1:2:3
check_eq "its own come first" "$(spec)" "[1,2,3]"
tc -n "$a" qdisc change dev w0 root handle 1: pcrp spec auto
check_eq "until it has none" "$(spec)" "[2000,20000,204800]"

check_refused "what does not ascend" "closnet pcrp: thresholds must ascend" pcrp set 2kb 1kb 3kb
check_refused "what is too much" "thresholds must be 1 to 1099511627776 bytes" pcrp set 1kb 2kb 1200gb
check_refused "without CAP_NET_ADMIN" "closnet pcrp: closnet_pcrp: Operation not permitted" \
	setpriv --bounding-set -net_admin ip netns exec "$a" closnet pcrp set 1kb 2kb 3kb
check_json "$(pcrp -j)" "are refused, and change nothing" \
	'.thresholds_bytes == [2000, 20000, 204800] and .updates == 1'

check "reset" pcrp reset
check_json "$(pcrp -j)" "there are none" '.thresholds_bytes == null and .updates == 2'
check "the qdisc has its own again" wait_for 10 uses "[5120,20480,81920]"

# documented: has closnet(8) each key of the JSON?
documented() {
	local key
	for key in $(pcrp -j | jq -r 'keys[]'); do
		grep -qw "$key" "$LIB_TOP/Documentation/man/closnet.8" || { echo "it lacks $key"; return 1; }
	done
}
check "closnet(8) has all numbers" documented
finish

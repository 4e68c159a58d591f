#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# closnet pcrp shows the kernel's statistics and sets the thresholds of the qdiscs. pcrp_genl.sh tests ranges and
# permissions.
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

# pcrp ARGUMENT...: run closnet pcrp in namespace a
pcrp() { ip netns exec "$a" closnet pcrp "$@"; }

# datagram BYTES: send a flow of one datagram
datagram() {
	traffic udp -n "$a" -d 10.0.0.2 -p 9 -l "$1" -c 1 >"$TMP/sent"
}

# spec: the thresholds in use by the qdisc
spec() { tc -n "$a" -s -j qdisc show dev w0 | jq -c '.[0].spec_bytes'; }

# uses THRESHOLDS: does the qdisc use them, after it has sent a packet?
uses() {
	datagram 100
	[ "$(spec)" = "$1" ]
}

# flows COUNT: have COUNT flows finished?
flows() { pcrp -j | grep -q "\"flows\": $1,"; }

check_eq "at first, the text shows no flows and no thresholds" "$(pcrp)" "thresholds: not set, each qdisc uses its defaults
updates: 0
flows: 0, 0 bytes"
check_json "$(pcrp -j)" "at first, the JSON has no flows and no thresholds" \
	'. == {thresholds_bytes: null, updates: 0, flows: 0, bytes: 0, sizes_flows: [range(42) | 0]}'

datagram 1000
datagram 100
datagram 1000
check "three flows are counted as finished" wait_for 10 flows 3
check_eq "the text has the histogram of flow sizes" "$(pcrp get | tail -n +3)" "flows: 3, 2100 bytes
bytes                                 flows cumulative
64 to 127                                 1     33.33%
128 to 255                                0     33.33%
256 to 511                                0     33.33%
512 to 1023                               2    100.00%"
check_json "$(pcrp get -j)" "the JSON has the histogram of flow sizes" \
	'.flows == 3 and .bytes == 2100 and .sizes_flows[7] == 1 and .sizes_flows[10] == 2
	 and (.sizes_flows | add) == 3 and (.sizes_flows | length) == 42'
check_json "$(ip netns exec "$b" closnet pcrp -j)" "flows are counted in their own namespace" '.flows == 0'

check_eq "without thresholds the qdisc uses its default" "$(spec)" "[5120,20480,81920]"
check "thresholds can be set" pcrp set 2kb 20kb 200kib
check_eq "the text shows thresholds that were set" "$(pcrp | head -n 2)" \
	"thresholds: P0 2000 P1 20000 P2 204800 bytes
updates: 1"
check_json "$(pcrp -j)" "the JSON has thresholds that were set" \
	'.thresholds_bytes == [2000, 20000, 204800] and .updates == 1'
check "the qdisc uses thresholds that were set" wait_for 10 uses "[2000,20000,204800]"
tc -n "$a" qdisc change dev w0 root handle 1: pcrp spec 1:2:3
check_eq "option spec overrides the thresholds" "$(spec)" "[1,2,3]"
tc -n "$a" qdisc change dev w0 root handle 1: pcrp spec auto
check_eq "spec auto uses the thresholds again" "$(spec)" "[2000,20000,204800]"

check_refused "thresholds that do not ascend are refused" "closnet pcrp: thresholds must ascend" pcrp set 2kb 1kb 3kb
check_refused "a threshold above 2^40 bytes is refused" "thresholds must be 1 to 1099511627776 bytes" \
	pcrp set 1kb 2kb 1200gb
check_refused "set without CAP_NET_ADMIN is refused" "closnet pcrp: closnet_pcrp: Operation not permitted" \
	setpriv --bounding-set -net_admin ip netns exec "$a" closnet pcrp set 1kb 2kb 3kb
check_json "$(pcrp -j)" "refused commands leave the thresholds unchanged" \
	'.thresholds_bytes == [2000, 20000, 204800] and .updates == 1'

check "thresholds can be reset" pcrp reset
check_json "$(pcrp -j)" "after a reset there are no thresholds" '.thresholds_bytes == null and .updates == 2'
check "after a reset the qdisc uses its default" wait_for 10 uses "[5120,20480,81920]"

# documented: does closnet(8) have each key of the JSON?
documented() {
	local key
	for key in $(pcrp -j | jq -r 'keys[]'); do
		grep -qw "$key" "$LIB_TOP/Documentation/man/closnet.8" || { echo "it lacks $key"; return 1; }
	done
}
check "closnet(8) documents each key of the JSON" documented
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A host that sends for some ms and is idle for up to 10 s in between has its
# RTTs from the NIC; and the map lives on other packets that the device
# receives, as long as timely has asked about it.
#
#	+--------- a ---------+     +--------- b ---------+
#	| sender -> w0 stamps |=====| w1 -> receiver      |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
exact || skip_all "a machine that is late has stamps that look so: virtual time only"
need_closwire
need_cc timely
setup_ns a b
. "$(dirname "$0")/../lib/timely.sh"
wire_ab rate 1gbit delay 10us
calm_params
params seg_kb=4
stamps "$a/w0" 1
wire_set "$a/w0" clock_offset 37s
wire_set "$a/w0" clock_drift 50ppm

# share: of the RTTs since `mark`, those from the NIC, in percent
share() {
	awk -v hw="$(since samples_hw)" -v sw="$(since samples_sw)" -v rtt="$(since samples_rtt)" \
		'BEGIN { printf "%d\n", 100 * hw / (hw + sw + rtt) }'
}

# test_period SECONDS: bursts of 800 kB, 7 ms, that far apart
test_period() {
	local i steps=()
	for ((i = 0; i < 6; i++)); do
		steps+=(send=800000 "run=sleep $1")
	done
	mark
	check "bursts each $1 s: all bytes arrive" flow cc=timely connect "${steps[@]}" close eof
	check "bursts each $1 s: the NIC has at least 95 % of the RTTs: $(share) %" test "$(share)" -ge 95
	check_eq "bursts each $1 s: the clock has not stepped" "$(nicclock "$a" w0 steps)" 0
}

for period in 0.1 0.2 0.3 0.5 3 10; do
	test_period $period
done
check "other packets arrive" ip netns exec "$b" ping -q -c 100 -i 0.01 10.0.0.1
check_eq "they keep the map alive" "$(nicclock "$a" w0 state)" synchronised
finish

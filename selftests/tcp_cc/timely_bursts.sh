#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A host that sends in bursts with idle periods of up to 10 s still gets its RTTs
# from hardware timestamps. nicclock keeps its map of the NIC's clock up to date
# with any packets that the device receives.
#
#	+--------- a ---------+     +--------- b ---------+
#	| sender -> w0 stamps |=====| w1 -> receiver      |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
exact || skip_all "virtual time only: scheduling delays would distort the timestamps"
need_closwire
need_cc timely
setup_ns a b
. "$(dirname "$0")/../lib/timely.sh"
wire_ab rate 1gbit delay 10us
high_thresholds
params seg_kb=4
stamps "$a/w0" 1
wire_set "$a/w0" clock_offset 37s
wire_set "$a/w0" clock_drift 50ppm

# share: percentage of RTTs since `mark` that use hardware timestamps
share() {
	awk -v hw="$(since samples_hw)" -v sw="$(since samples_sw)" -v rtt="$(since samples_rtt)" \
		'BEGIN { printf "%d\n", 100 * hw / (hw + sw + rtt) }'
}

# test_period SECONDS: send bursts of 800 kB (7 ms), SECONDS apart
test_period() {
	local i steps=()
	for ((i = 0; i < 6; i++)); do
		steps+=(send=800000 "run=sleep $1")
	done
	mark
	check "bursts every $1 s: all data arrives" flow cc=timely connect "${steps[@]}" close eof
	check "bursts every $1 s: at least 95 % of the RTTs ($(share) %) use hardware timestamps" test "$(share)" -ge 95
	check_eq "bursts every $1 s: nicclock sees no clock step" "$(nicclock "$a" w0 steps)" 0
}

for period in 0.1 0.2 0.3 0.5 3 10; do
	test_period $period
done
check "ping gets replies" ip netns exec "$b" ping -q -c 100 -i 0.01 10.0.0.1
check_eq "packets of other programs keep nicclock synchronised" "$(nicclock "$a" w0 state)" synchronised
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A timestamp in a driver's own format (igc, tsnep) is a pointer into a receive
# buffer, which may have been freed when tcp_timely sees it. tcp_timely must not
# dereference it and uses software timestamps instead.
#
#	+--------- a ---------+     +--------- b ---------+
#	| sender -> w0 stamps |=====| w1 -> receiver      |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
module=$CLOSNET_TESTBIN/${CLOSNET_KERNEL:-}/driver_stamp.ko
[ -e "$module" ] || skip_all "no driver_stamp.ko; selftests/run builds it"
need_closwire
need_cc timely
setup_ns a b
. "$(dirname "$0")/../lib/timely.sh"
wire_ab rate 500mbit delay 20us
high_thresholds
stamps "$a/w0" 1
ip netns exec "$a" insmod "$module" dev=w0
defer "rmmod driver_stamp"
mark
check "all data arrives with timestamps in a driver's own format" flow cc=timely connect send=3000000 close eof
check_eq "timestamps in a driver's own format are not read" "$(</sys/module/driver_stamp/parameters/reads)" 0
check_eq "no RTT uses a timestamp in a driver's own format" "$(since samples_hw)" 0
check "RTTs use software timestamps" grown samples_sw 10
finish

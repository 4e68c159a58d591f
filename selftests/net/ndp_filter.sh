#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Filters of sockets (SO_ATTACH_FILTER) and BPF programs of control groups: packets that they drop are lost, and the
# sender gets an error.
#
#	+--------- a ---------+     +--------- b ---------+
#	| ndp_api -> w0       |=====| w1 -> ndp_api       |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2154 # setup_ns sets a and b
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
. "$(dirname "$0")/../lib/ndp.sh"
setup_ns a b
wire_ab rate 500mbit delay 5us
api filter
dropped=$(snmp "$b" InFiltered)
check "packets dropped by a socket filter are counted" test "$dropped" -gt 0
check_eq "only the receiver counts packets dropped by a socket filter" "$(snmp "$a" InFiltered)" 0
mkdir "$TMP/groups"
if mount -t cgroup2 none "$TMP/groups" 2>/dev/null; then
	defer "rmdir $TMP/groups/ndp; umount $TMP/groups"
	mkdir "$TMP/groups/ndp"
	NDP_CGROUP=$TMP/groups api cgroup
	check "packets dropped by a control group are counted" test "$(snmp "$b" InFiltered)" -gt "$dropped"
else
	skip "packets dropped by a control group are counted" "no cgroup2"
fi
check "all flows are freed" wait_for 10 unused
finish

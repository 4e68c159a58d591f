#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Filters of sockets (SO_ATTACH_FILTER) and of control groups (BPF): what they drop is lost, and its sender told.
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
check "what was dropped is counted" test "$dropped" -gt 0
check_eq "by the receiver alone" "$(snmp "$a" InFiltered)" 0
mkdir "$TMP/groups"
if mount -t cgroup2 none "$TMP/groups" 2>/dev/null; then
	defer "rmdir $TMP/groups/ndp; umount $TMP/groups"
	mkdir "$TMP/groups/ndp"
	NDP_CGROUP=$TMP/groups api cgroup
	check "what was dropped is counted" test "$(snmp "$b" InFiltered)" -gt "$dropped"
else
	skip "control groups" "the kernel has none"
fi
check "nothing is left" wait_for 10 unused
finish

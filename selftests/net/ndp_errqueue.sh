#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The error queue of a socket returns only failed messages, although the kernel also queues reports of sch_etf, ICMP
# errors and transmit timestamps there. Reading another entry as a failed message would leak kernel memory.
#
#	+------- a -------+     +--------- b ---------+
#	| ndp_api      w0 |=====| w1, 10.8.0.0/16: no |
#	+-----------------+     +---------------------+
# shellcheck disable=SC2154 # setup_ns sets a and b
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
. "$(dirname "$0")/../lib/ndp.sh"
setup_ns a b
wire_ab rate 1gbit delay 5us
in_ns "$b" tee /proc/sys/net/ipv4/conf/all/forwarding >/dev/null <<<1
in_ns "$b" tee /proc/sys/net/ipv4/icmp_ratelimit >/dev/null <<<0
ip -n "$b" route add prohibit 10.8.0.0/16
ip -n "$a" route add 10.8.0.0/16 via 10.0.0.2
ip -n "$a" neigh add 10.0.0.9 lladdr 02:00:00:00:00:09 nud permanent dev w0

api errqueue_icmp errqueue_stamps
if tc -n "$a" qdisc replace dev w0 root etf clockid CLOCK_TAI delta 200000 2>"$TMP/etf"; then
	api errqueue_etf
else
	skip "error queue does not return reports of sch_etf" "$(<"$TMP/etf")"
fi
check "all flows are freed" wait_for 20 unused
finish

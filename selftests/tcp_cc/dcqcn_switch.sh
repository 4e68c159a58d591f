#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Sockets get and lose the congestion control in each way there is, and the
# module goes when the last one has lost it.
#
#	+--------- a ---------+     +--------- b ---------+
#	| sender -> w0        |=====| w1 -> receiver      |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
need_cc dcqcn
setup_ns a b
. "$(dirname "$0")/../lib/tcp_dcqcn.sh"
. "$(dirname "$0")/../lib/tcp_switch.sh"
wire_ab rate 500mbit delay 20us

test_sockets
ip netns exec "$a" sysctl -qw net.ipv4.tcp_ecn=1
test_bursts
test_listener
check "to and from others, in any direction" flow cc=cubic connect cc=dcqcn is=dcqcn send=100000 swap cc=cubic send=100000 \
	cc=dcqcn is=dcqcn send=100000 close eof
ip netns exec "$a" sysctl -qw net.ipv4.tcp_ecn=2
check "from one without ECN: another one steps in" flow cc=cubic connect send=500000 cc=dcqcn is=dcqcn-reno send=500000 close eof
if tc -n "$a" qdisc add dev w0 root netem limit 10000; then
	# the receiver gets and loses it while it has marks to answer
	check "a receiver, with marks" flow cc=dcqcn connect "$MARK" send=300000 \
		swap cc=cubic swap send=300000 swap cc=dcqcn swap send=300000 "$MARK_NOT" send=300000 close eof
	tc -n "$a" qdisc del dev w0 root
else
	skip "a receiver, with marks" "no netem"
fi
test_namespace
test_module
finish

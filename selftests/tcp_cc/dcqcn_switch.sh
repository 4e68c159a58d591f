#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Sockets change to and from dcqcn in every possible way, and the module can be
# unloaded when no socket uses it.
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
check "each end changes to and from dcqcn" flow cc=cubic connect cc=dcqcn is=dcqcn send=100000 \
	swap cc=cubic send=100000 cc=dcqcn is=dcqcn send=100000 close eof
ip netns exec "$a" sysctl -qw net.ipv4.tcp_ecn=2
check "a change to dcqcn without ECN falls back to dcqcn-reno" \
	flow cc=cubic connect send=500000 cc=dcqcn is=dcqcn-reno send=500000 close eof
if tc -n "$a" qdisc add dev w0 root netem limit 10000; then
	check "a receiver changes to and from dcqcn while marks arrive" flow cc=dcqcn connect "$MARK" send=300000 \
		swap cc=cubic swap send=300000 swap cc=dcqcn swap send=300000 "$MARK_NOT" send=300000 close eof
	tc -n "$a" qdisc del dev w0 root
else
	skip "a receiver changes to and from dcqcn while marks arrive" "no netem"
fi
test_namespace
test_module
finish

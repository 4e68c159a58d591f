#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The router's port is in a bridge: the action works at the bridge, and leaves packets alone at the port, which may
# be disabled.
#
#	+--- h ---+     +---------- r ----------+
#	| h0      |-----| rh   br0: lb    uN    |==== see lib/lb.sh
#	+---------+     +-----------------------+
# shellcheck disable=SC2154,SC2317 # lb_net sets the namespaces; functions are called through check
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/lb.sh"
need_lb
lb_net
ip -n "$r" link set rh address "$MAC_B"
ip -n "$r" addr flush dev rh
ip -n "$r" link add br0 address "$MAC_B" type bridge || skip_all "no bridges"
ip -n "$r" link set rh master br0
end "$r" br0 10.0.1.9,fd00:1::9
ip -n "$h" neigh flush dev h0
ip -n "$h" -6 neigh flush dev h0
reaches() { in_ns "$h" ping -q -c 1 -W 0.5 "$1"; }
# arrives: true if a datagram to a resolved neighbour arrives
arrives() {
	local before
	before=$(received)
	traffic udp -n "$h" -d 10.0.2.2 -p 9 -c 1 >/dev/null
	sleep 0.05
	[ "$(received)" -gt "$before" ]
}
is_blocked() { ! arrives; }
wait_for 5 reaches 10.0.2.2
wait_for 5 reaches fd00:2::2
counts() { lb_stat sent_packets passed.hook; }

for family in 4 6; do
	lb_dev=rh
	lb granularity packet select rr
	udp $family 20
	check_eq "IPv$family: at a port of a bridge, the action leaves packets to the bridge" "$(counts)" "0 20"
	no_lb
	lb_dev=br0
	lb granularity packet select rr
	udp $family 20
	check_eq "IPv$family: at the bridge, the action sends them" "$(counts) $(port_packets)" "20 0 5 5 5 5"
	no_lb
done
lb_dev=rh
lb granularity packet select rr
# a bridge without STP makes a port that blocks forward again at once
bridge -n "$r" link set dev rh state disabled
check "no packet passes a port that the bridge has disabled" is_blocked
bridge -n "$r" link set dev rh state forwarding
check "packets pass it again when it forwards" arrives
finish

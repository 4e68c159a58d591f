#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Limits of act_lb: next hops of a route, hooks, privileges.
# shellcheck disable=SC2154,SC2317 # lb_net sets the namespaces; functions are called through check
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/lb.sh"
need_lb
lb_net

# many_hops FAMILY COUNT: give r's route COUNT next hops, of which the first exists
many_hops() {
	local i to=10.0.2.0/24 via=10.1.0. hops=()
	[ "$1" = 4 ] || { to=fd00:2::/64 && via=fd01:0::; }
	for ((i = 2; i < $2 + 2; i++)); do
		hops+=(nexthop via "$via$i" dev u0)
	done
	ip -n "$r" "-$1" route replace "$to" "${hops[@]}"
}

# ---- next hops

for family in 4 6; do
	lb granularity packet select random
	many_hops $family 32
	udp $family 20
	check_eq "IPv$family, 32 next hops: packets take the one that answers" "$(port_packets)" "20 0 0 0"
	check_eq "IPv$family, 32 next hops: no packet waits in the stack for a neighbour" "$(passed neighbour)" 0
	many_hops $family 33
	traffic udp -n "$h" -d "$([ $family = 4 ] && echo 10.0.2.2 || echo fd00:2::2)" -p 9 -l 1000 -c 20 >"$TMP/log"
	wait_for 5 at_least 20 passed members
	check_eq "IPv$family, 33 next hops: the stack gets the packets" "$(passed members)" 20
	reroute $family
done

# ---- hooks

lb
tc -n "$r" qdisc add dev u0 clsact
tc -n "$r" filter add dev u0 egress matchall action lb index 99
many_hops 4 1
udp 4 20
lb_index=99
check "an action at egress passes all packets" test "$(passed hook)" -ge 20
check_eq "it sends none" "$(lb_stat sent_packets)" 0

# ---- privileges

unprivileged() { setpriv --bounding-set -net_admin ip netns exec "$r" "$@"; }
check_refused "adding an action needs CAP_NET_ADMIN" "Operation not permitted" unprivileged tc actions add action lb index 98
check_refused "deleting one does, too" "Operation not permitted" unprivileged tc actions del action lb index 99
check "reading one does not" unprivileged tc actions get action lb index 99
check "nor does closnet lb" unprivileged closnet lb --once -d 0.1
finish

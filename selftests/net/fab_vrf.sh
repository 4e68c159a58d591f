#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# closfab's underlay is a VRF, or another network namespace than the device's.
# shellcheck disable=SC2154,SC2034,SC2119,SC2317 # lb_net sets the namespaces, and uses rate; check calls functions
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/fab.sh"
need_fab
ip link add vrf9 type vrf table 9 2>/dev/null || skip_all "no VRF"
ip link del vrf9
rate=1gbit
fab_net

# ---- VRF

fab_del
ip -n "$r" route del 10.9.0.2/32
ip -n "$r" -6 route del fd09::2/128
ip -n "$r" addr del 10.9.0.1/32 dev lo
ip -n "$r" -6 addr del fd09::1/128 dev lo
ip -n "$r" -batch - <<-END
	link add under type vrf table 9
	link set under up
	link set u0 master under
	link set u1 master under
	link set u2 master under
	link set u3 master under
	addr add 10.9.0.1/32 dev under
	addr add fd09::1/128 dev under nodad
	route add 10.9.0.2/32 vrf under src 10.9.0.1 $(next_hops 4)
END
# a change of the master removes global addresses of IPv6
for i in 0 1 2 3; do
	ip -n "$r" addr replace "fd01:$i::1/64" dev u$i nodad
	wait_for 5 in_ns "$r" ping -q -c 1 -W 0.2 -I u$i "fd01:$i::2" >/dev/null
done
# shellcheck disable=SC2046 # words
ip -n "$r" -6 route add fd09::2/128 vrf under src fd09::1 $(next_hops 6)

# vrf_leaf: the device of r, which is outside of the VRF, with an underlay in it
vrf_leaf() {
	ip -n "$r" link add fab0 link under type closfab local "$(leaf 1)"
	fab_routes "$r" 2 10.0.2.0/24 fd00:2::/64
}
peers() { in_ns "$1" closnet fab peers; }

for outer in 4 6; do
	vrf_leaf
	fab_leaf "$t" 2 1 10.0.1.0/24 fd00:1::/64
	check "IPv$outer underlay in a VRF: a ping is answered" wait_for 5 in_ns "$h" ping -q -c 1 -W 1 10.0.2.2
	check "IPv$outer underlay in a VRF: IPv6 passes" wait_for 5 in_ns "$h" ping -q -c 1 -W 1 fd00:2::2
	check "IPv$outer underlay in a VRF: all next hops are paths" grep -q "paths 4" <(peers "$r")
	fab_del
done
outer=4
ip -n "$r" link add tenant type vrf table 10
ip -n "$r" link set tenant up
ip -n "$r" link set rh master tenant
ip -n "$r" addr replace fd00:1::9/64 dev rh nodad
vrf_leaf
fab_leaf "$t" 2 1 10.0.1.0/24 fd00:1::/64
ip -n "$r" link set fab0 master tenant
ip -n "$r" route add 10.0.2.0/24 vrf tenant encap ip dst 10.9.0.2 dev fab0
check "device and underlay in different VRFs: a ping is answered" wait_for 5 in_ns "$h" ping -q -c 1 -W 1 10.0.2.2

# ---- namespaces

setup_ns x
ip -n "$r" link del fab0

# exists NS DEV
exists() { ip -n "$1" link show "$2"; }
ip -n "$r" -batch - <<-END
	link add lower type dummy
	link set lower up
	link add fab1 link lower type closfab port 8475
	link set fab1 up
	link add fab2 link lower netns $x type closfab port 8476
	link add fab3 type closfab port 8477
	link del lower
END
check_refused "the link is removed: so is the device" "does not exist" exists "$r" fab1
check_refused "the link is removed: so is the device in another namespace" "does not exist" exists "$x" fab2
check "the link is removed: a device without link remains" exists "$r" fab3
ip -n "$r" link del fab3
# x_leaf: addresses and routes of the device in x; d answers it by t
x_leaf() {
	ip -n "$x" -batch - <<-END
		link set fab0 up
		addr replace 10.0.3.1/32 dev fab0
		route replace 10.0.2.0/24 encap ip dst 10.9.0.2 dev fab0 src 10.0.3.1
	END
	ip -n "$t" route replace 10.0.3.0/24 encap ip dst 10.9.0.1 dev fab0
}
ip -n "$r" link add fab0 link under netns "$x" type closfab local 10.9.0.1
x_leaf
check "device created in another namespace: a ping is answered" wait_for 5 in_ns "$x" ping -q -c 1 -W 1 10.0.2.2
ip -n "$x" link del fab0
ip -n "$r" link add fab0 link under type closfab local 10.9.0.1
ip -n "$r" link set fab0 netns "$x"
x_leaf
check "device moved to another namespace: a ping is answered" wait_for 5 in_ns "$x" ping -q -c 1 -W 1 10.0.2.2
check "root sees the peers" grep -q "peer 10.9.0.2" <(peers "$x")

# a device of the host in the namespace of a user
if unshare -Urn true 2>/dev/null; then
	unshare -Urn tail -f /dev/null &
	pid=$!
	JOBS+=("$pid")
	own_net() { [ "$(readlink /proc/"$pid"/ns/net)" != "$(readlink /proc/self/ns/net)" ]; }
	wait_for 5 own_net
	user() { nsenter -t "$pid" -U -n --preserve-credentials "$@"; }
	ip -n "$x" link set fab0 netns "$pid"
	user ip link set fab0 up
	user ip addr add 10.0.3.1/32 dev fab0
	user ip route add 10.0.2.0/24 encap ip dst 10.9.0.2 dev fab0 src 10.0.3.1
	check "device in a user's namespace: a ping is answered" wait_for 5 user ping -q -c 1 -W 1 10.0.2.2
	check_eq "root of a user namespace does not see the host's peers" \
		"$(user closnet fab peers)" peers:
	check_refused "root of a user namespace cannot change the host's device" "Operation not permitted" \
		user ip link set fab0 type closfab mode cell
fi
stop_jobs
finish

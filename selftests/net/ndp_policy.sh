#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# net.ndp.pull_policy determines the flow that a receiver pulls first: three messages of 1, 2 and 6 MB arrive at once,
# all longer than their senders' first windows. A container c with a VLAN device of the receiver has no influence on that.
# VLAN and VXLAN devices share the pull queue of the device below them.
# shellcheck disable=SC2154 # setup_ns sets the namespaces
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
need_ndp
. "$(dirname "$0")/../lib/ndp.sh"
exact || skip_all "needs virtual time"
hosts=3
star $hosts 10gbit
switch limit 8

# policy NUMBER [NS ADDRESS [NUMBER]]: set r's policy, send the messages to NS (default: r), whose own policy is the last
# NUMBER, and record their completion times
policy() {
	local ns=${2:-$r} to=${3:-10.0.0.100}
	in_ns "$ns" sysctl -qw net.ndp.pull_policy="${4:-$1}"
	in_ns "$r" sysctl -qw net.ndp.pull_policy="$1"
	messages "all messages to $to arrive with policy $1" receive -f -n "$ns" -r 33554432 -b 8m -p 9 -s 3 -c 1 -l 1k -- \
		send -n "$h1" -d "$to" -p 9 -l 6m -- \
		send -n "$h2" -d "$to" -p 9 -l 2m -- \
		send -n "$h3" -d "$to" -p 9 -l 1m
	note "µs: $(took 1) $(took 2) $(took 3)"
}

# took NUMBER: completion time of message NUMBER in µs
took() { awk -v nr="$1" '$1 == "send" && ++n == nr { sub("us=", "", $NF); print $NF }' "$TMP/msgs"; }

# 1 MB takes 0.86 ms on the link, the first windows of the other two messages 0.44 ms
policy 0
check "policy fair gives the shortest message a third of the link" test "$(took 3)" -gt 2200
check "policy fair gives the second message its share" test "$(took 2)" -gt 3700
policy 2
check "policy srpt completes the shortest message first" test "$(took 3)" -lt 1600
check "policy srpt completes the second message next" test "$(took 2)" -lt 3200
policy 1
# the second message is the first to complete, or waits for the longest
check "policy strict serves messages one by one" test "$(took 2)" -lt 3600 -o "$(took 2)" -gt 6000

# ---- a container with a VLAN device of r: r's policy counts, since they share the link

setup_ns c
# vlan NS LOWER-NS ADDRESS: add a VLAN device of w0 in LOWER-NS to NS
vlan() {
	ip -n "$2" link add link w0 name w0.5 netns "$1" type vlan id 5 || skip_all "no VLAN devices"
	ip -n "$1" link set w0.5 up
	ip -n "$1" addr add "$3/24" dev w0.5
}
vlan "$c" "$r" 10.5.0.100
for i in 1 2 3; do
	host=h$i
	vlan "${!host}" "${!host}" "10.5.0.$i"
done
policy 0 "$c" 10.5.0.100 2
check "a container's policy does not count on a device that it shares" test "$(took 3)" -gt 2200
# the container's device leaves it and returns
ip -n "$c" link set w0.5 netns "$r"
ip -n "$r" link set w0.5 netns "$c"
ip -n "$c" link set w0.5 up
ip -n "$c" addr add 10.5.0.100/24 dev w0.5
policy 0 "$c" 10.5.0.100 2
check "a device shares the link after it has changed its namespace" test "$(took 3)" -gt 2200
check "all flows are freed" wait_for 20 unused
check "module is loaded again" rmmod ndp
load_module ndp
policy 2 "$c" 10.5.0.100 0
check "a device that is older than the module shares the link" test "$(took 3)" -lt 1600

# ---- a VXLAN device whose lower device changes from a slow link to a fast one

ip link add x0 netns "$r" type closwire rate 100mbit peer name x1 netns "$r"
ip -n "$r" link set x0 up
ip -n "$r" link set x1 up
# vxlan NS LOWER REMOTE ADDRESS: add a VXLAN device to NS
vxlan() {
	ip -n "$1" link add vx0 mtu 8900 type vxlan id 7 dev "$2" remote "$3" dstport 4789 || skip_all "no VXLAN devices"
	ip -n "$1" link set vx0 up
	ip -n "$1" addr add "$4/24" dev vx0
}
vxlan "$h1" w0 10.0.0.100 10.6.0.1
vxlan "$r" x0 10.0.0.1 10.6.0.100
ip -n "$r" link set vx0 type vxlan dev w0
messages "a message by a VXLAN device arrives" receive -n "$r" -b 8m -p 9 -l 1m -- send -n "$h1" -d 10.6.0.100 -p 9 -l 1m
# at 100 Mbit/s it takes 80 ms
check "a device shares the link of its new lower device" test "$(total us)" -lt 5000
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A host that forwards for others, as a router and as a bridge: it never holds back their flows, never asks in their
# name, leaves their DSCP as it is and does not count them; its own flows are gated, and so are those of hosts behind it
# that have sch_pcrp themselves.
# shellcheck disable=SC2317 # functions are called through check
#
#	+--- a ---+     +--------- r ---------+     +--- b ---+
#	| w0      |=====| r0     r1: pcrp     |=====| w1: pcrp|
#	+---------+     +---------------------+     +---------+
. "$(dirname "$0")/../lib/lib.sh"
need_sch pcrp
need_closwire
r=''
setup_ns a r b
ip link add w0 netns "$a" type closwire rate 10gbit delay 5us peer name r0 netns "$r"
ip link add r1 netns "$r" type closwire rate 10gbit delay 5us peer name w1 netns "$b"
ip -n "$a" -batch - <<-END
	link set w0 up
	addr add 10.0.1.1/24 dev w0
	route add default via 10.0.1.9
END
ip -n "$b" -batch - <<-END
	link set w1 up
	addr add 10.0.2.2/24 dev w1
	addr add 10.0.1.2/24 dev w1
	route add 10.0.1.1/32 via 10.0.2.9
END
ip -n "$r" -batch - <<-END
	link set r0 up
	link set r1 up
	addr add 10.0.1.9/24 dev r0
	addr add 10.0.2.9/24 dev r1
END
ip netns exec "$r" tee /proc/sys/net/ipv4/ip_forward >/dev/null <<<1
wait_for 5 has_carrier "$r" r1
chain=20000
tc -n "$r" qdisc add dev r1 root pcrp chain $chain
tc -n "$b" qdisc add dev w1 root pcrp chain $chain

# transfer NS ADDRESS: 1 MB to b
transfer() { tcp_flow -s "$1" -r "$b" -d "$2" connect send=1000000 close eof; }

forwarder() { tc -n "$r" -s -j qdisc show dev r1 | unwrap; }
sizes() { in_ns "$r" pcrp_netlink get; }

# count_dscp DSCP...: b counts what comes with each
count_dscp() {
	local dscp n=0
	tc -n "$b" qdisc replace dev w1 clsact
	tc -n "$b" filter del dev w1 ingress
	for dscp in "$@"; do
		n=$((n + 1))
		tc -n "$b" filter add dev w1 ingress pref $n protocol ip flower ip_tos $((dscp << 2))/0xfc action pass
	done
}
counted_dscp() {
	tc -n "$b" -s -j filter show dev w1 ingress |
		jq -c '[.[] | select(.options.actions) | .options.actions[0].stats.packets]'
}

# passed WHAT BEFORE: what r has done with others' flows since then
passed() {
	local now
	now=$(forwarder)
	check_json "[$2,$now]" \
		"$1: flows went through" '.[1].flows_started > .[0].flows_started and .[1].packets > .[0].packets + 20' \
		"$1: none was gated" '(.[1].flows_ungated - .[0].flows_ungated) == (.[1].flows_started - .[0].flows_started)' \
		"$1: nothing waited for a grant, nor went on without" \
		'.[1].chains_speculative == .[0].chains_speculative and .[1].chains_overdue == .[0].chains_overdue' \
		"$1: nobody was asked" '.[1].requests_sent == .[0].requests_sent and .[1].probes_sent == .[0].probes_sent' \
		"$1: packets were left as they are" '.[1].prio_packets == .[0].prio_packets' \
		"$1: nothing is left" '.[1].qlen == 0 and .[1].flows_waiting == 0 and .[1].drops == 0'
}

# others WHAT ADDRESS: a's flows, while it has no sch_pcrp, then when it has
others() {
	local before sizes
	before=$(forwarder)
	sizes=$(sizes)
	count_dscp 0 56
	check "$1: data arrives" transfer "$a" "$2"
	check "$1: once more" transfer "$a" "$2"
	passed "$1" "$before"
	check_json "$(counted_dscp)" "$1: DSCPs are left as they are" '.[0] > 100' "$1: also those of ACKs" '.[1] == 0'
	check_eq "$1: their sizes are not counted" "$(sizes)" "$sizes"

	tc -n "$a" qdisc add dev w0 root pcrp chain $chain
	before=$(forwarder)
	check "$1: a has it, too: data arrives" transfer "$a" "$2"
	check "$1: a has it, too: once more" transfer "$a" "$2"
	passed "$1: a has it, too" "$before"
	check_json "$(tc -n "$a" -s -j qdisc show dev w0 | unwrap)" \
		"$1: its requests and grants get through" '.chains_granted > 10 and .chains_overdue == 0 and .peers_silent == 0'
	tc -n "$a" qdisc del dev w0 root
}

others "router" 10.0.2.2

check "own: data arrives" transfer "$r" 10.0.2.2
check "own: once more" transfer "$r" 10.0.2.2
check_json "$(forwarder)" "own: it asks, and is granted" '.requests_sent > 0 and .chains_granted > 10' \
	"own: marked" '.prio_packets[4] > 0'

# ---- as a bridge

# forwards: do both ports of the bridge?
forwards() { [ "$(bridge -n "$r" link show | grep -c 'state forwarding')" = 2 ]; }

if ip -n "$r" link add br0 type bridge mcast_snooping 0; then
	ip -n "$r" addr flush dev r0
	ip -n "$r" -batch - <<-END
		link set r0 master br0
		link set r1 master br0
		link set br0 up
	END
	ip -n "$a" route del default
	ip -n "$b" route del 10.0.1.1/32
	check "bridge: it forwards" wait_for 20 forwards
	others "bridge" 10.0.1.2

	# the bridge's own: grants come to the device if the frames have its Ethernet address
	ip -n "$r" addr add 10.0.1.9/24 dev br0
	ip -n "$r" link set br0 address 02:00:00:00:00:99
	before=$(forwarder)
	check "another Ethernet address: data arrives" transfer "$r" 10.0.1.2
	check "another Ethernet address: once more" transfer "$r" 10.0.1.2
	passed "another Ethernet address" "$before"
	ip -n "$r" link set br0 address "$(ip netns exec "$r" cat /sys/class/net/r1/address)"
	check "its Ethernet address: data arrives" transfer "$r" 10.0.1.2
	check "its Ethernet address: once more" transfer "$r" 10.0.1.2
	check_json "[$before,$(forwarder)]" "its Ethernet address: granted" '.[1].chains_granted > .[0].chains_granted + 10'
else
	skip "bridge" "no bridges"
fi
finish

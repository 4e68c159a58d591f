#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A host that forwards, as a router or a bridge: it never delays forwarded flows, sends no REQUESTs for them, keeps
# their DSCP and does not count their sizes. Its own flows are gated, and so are the flows of a host behind it that has
# sch_pcrp.
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

# count_dscp DSCP...: count packets with each DSCP at b
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

# check_forwarded WHAT BEFORE: since BEFORE, r has forwarded flows unchanged
check_forwarded() {
	local now
	now=$(forwarder)
	check_json "[$2,$now]" \
		"$1: flows are forwarded" '.[1].flows_started > .[0].flows_started and .[1].packets > .[0].packets + 20' \
		"$1: forwarded flows are ungated" \
		'(.[1].flows_ungated - .[0].flows_ungated) == (.[1].flows_started - .[0].flows_started)' \
		"$1: forwarded flows have no speculative or overdue chains" \
		'.[1].chains_speculative == .[0].chains_speculative and .[1].chains_overdue == .[0].chains_overdue' \
		"$1: forwarded flows cause no REQUESTs or PROBEs" \
		'.[1].requests_sent == .[0].requests_sent and .[1].probes_sent == .[0].probes_sent' \
		"$1: forwarded packets are not marked" '.[1].prio_packets == .[0].prio_packets' \
		"$1: no forwarded packet stays queued" '.[1].qlen == 0 and .[1].flows_waiting == 0 and .[1].drops == 0'
}

# test_forwarding WHAT ADDRESS: forward flows of a, first without sch_pcrp at a, then with it
test_forwarding() {
	local before sizes
	before=$(forwarder)
	sizes=$(sizes)
	count_dscp 0 56
	check "$1: data of a first flow arrives" transfer "$a" "$2"
	check "$1: data of a second flow arrives" transfer "$a" "$2"
	check_forwarded "$1" "$before"
	check_json "$(counted_dscp)" "$1: DSCPs of data are unchanged" '.[0] > 100' \
		"$1: DSCPs of ACKs are unchanged" '.[1] == 0'
	check_eq "$1: sizes of forwarded flows are not counted" "$(sizes)" "$sizes"

	tc -n "$a" qdisc add dev w0 root pcrp chain $chain
	before=$(forwarder)
	check "$1, sender with pcrp: data of a first flow arrives" transfer "$a" "$2"
	check "$1, sender with pcrp: data of a second flow arrives" transfer "$a" "$2"
	check_forwarded "$1, sender with pcrp" "$before"
	check_json "$(tc -n "$a" -s -j qdisc show dev w0 | unwrap)" \
		"$1, sender with pcrp: REQUESTs and GRANTs are forwarded" \
		'.chains_granted > 10 and .chains_overdue == 0 and .peers_silent == 0'
	tc -n "$a" qdisc del dev w0 root
}

test_forwarding "router" 10.0.2.2

check "router's own flows: data of a first flow arrives" transfer "$r" 10.0.2.2
check "router's own flows: data of a second flow arrives" transfer "$r" 10.0.2.2
check_json "$(forwarder)" "router's own flows: chains are granted" '.requests_sent > 0 and .chains_granted > 10' \
	"router's own flows: packets are marked" '.prio_packets[4] > 0'

# ---- as a bridge

# forwards: do both ports of the bridge forward?
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
	check "both ports of the bridge forward" wait_for 20 forwards
	test_forwarding "bridge" 10.0.1.2

	# the bridge's own flows: GRANTs reach the device if the frames have its Ethernet address
	ip -n "$r" addr add 10.0.1.9/24 dev br0
	ip -n "$r" link set br0 address 02:00:00:00:00:99
	before=$(forwarder)
	what="bridge's own flows, other Ethernet address"
	check "$what: data of a first flow arrives" transfer "$r" 10.0.1.2
	check "$what: data of a second flow arrives" transfer "$r" 10.0.1.2
	check_forwarded "$what" "$before"
	ip -n "$r" link set br0 address "$(ip netns exec "$r" cat /sys/class/net/r1/address)"
	what="bridge's own flows, Ethernet address of the port"
	check "$what: data of a first flow arrives" transfer "$r" 10.0.1.2
	check "$what: data of a second flow arrives" transfer "$r" 10.0.1.2
	check_json "[$before,$(forwarder)]" "$what: chains are granted" '.[1].chains_granted > .[0].chains_granted + 10'
else
	skip "both ports of the bridge forward" "no bridges"
fi
finish

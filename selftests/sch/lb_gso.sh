#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# GSO packets: segmented if each packet is balanced, and whole otherwise. Checksums are right, by hardware or software.
#
#	+------ h ------+     +------- r -------+
#	| hv            |-----| rv: lb    uN    |==== see lib/lb.sh
#	+---------------+ veth+-----------------+
# shellcheck disable=SC2154,SC2317 # lb_net sets the namespaces; functions are called through check
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/lb.sh"
need_lb
lb_net
ip link add hv netns "$h" type veth peer name rv netns "$r"
end "$h" hv 10.0.3.1,fd00:3::1
end "$r" rv 10.0.3.9,fd00:3::9
ip -n "$t" route add 10.0.3.0/24 via 10.1.0.1
ip -n "$t" -6 route add fd00:3::/64 via fd01::1
ip -n "$h" route replace default via 10.0.3.9
ip -n "$h" -6 route replace default via fd00:3::9 dev hv
wait_for 5 in_ns "$h" ping -q -c 1 -W 1 fd00:2::2
lb_dev=rv

sums() { snmp "$d" TcpInCsumErrors UdpInCsumErrors Udp6InCsumErrors IpExtInCsumErrors; }

# transfer FAMILY: send 600 kB by TCP, and check each byte
transfer() {
	local to=10.0.2.2 six=''
	[ "$1" = 4 ] || to=fd00:2::2 six=-6
	traffic tcp-receive -n "$d" -p 5000 ${six:+"$six"} >"$TMP/tcp" &
	wait_for 5 in_ns "$d" sh -c 'ss -Hlnt sport = 5000 | grep -q .'
	traffic tcp-send -n "$h" -d "$to" -p 5000 -c 600000
	wait $!
	grep -qx "received 600000" "$TMP/tcp"
}

# segments_are_even: the links have sent all packets of the action, and each one the same number, or one more
segments_are_even() {
	lb_stat sent_packets u{0..3}.packets | awk '{
		min = max = $2
		for (i = 2; i <= 5; i++) { sum += $i; if ($i < min) min = $i; if ($i > max) max = $i }
		exit !(sum == $1 && max - min <= 1)
	}'
}

# udp_gso FAMILY: send 8 GSO packets of 8 datagrams
udp_gso() {
	local to=10.0.2.2 before
	[ "$1" = 4 ] || to=fd00:2::2
	before=$(received)
	traffic udp -n "$h" -d "$to" -p 9 -l 1000 -g 8 -c 8 >/dev/null
	wait_for 5 at_least $((before + 64)) received
}

for offload in on off; do
	for i in 0 1 2 3; do
		in_ns "$r" ethtool -K "u$i" tx $offload >/dev/null
		in_ns "$t" ethtool -K "t$i" rx $offload >/dev/null
	done
	in_ns "$d" ethtool -K d0 rx $offload >/dev/null || true
	for family in 4 6; do
		name="IPv$family, checksum offload $offload"
		lb granularity packet select rr
		check "$name, packet: TCP delivers all bytes" transfer $family
		check "$name, packet: GSO packets are segmented" at_least 10 lb_stat segmented_packets
		check "$name, packet: each link carries packets" each_at_least 90
		check "$name, packet: segments are counted, on each link the same number" segments_are_even
		lb granularity flowlet select rr gap 100us
		check "$name, flowlet: TCP delivers all bytes" transfer $family
		check_eq "$name, flowlet: no GSO packet is segmented" "$(lb_stat segmented_packets)" 0
		check "$name, flowlet: segments are counted" at_least 390 lb_stat sent_packets
		lb granularity packet select rr
		check "$name, packet: datagrams of a UDP GSO packet arrive" udp_gso $family
		check_eq "$name, packet: they take the links in turn" "$(port_packets) $(lb_stat segmented_packets)" \
			"16 16 16 16 8"
	done
	check_eq "checksum offload $offload: all checksums are right" "$(sums)" 0
done
finish

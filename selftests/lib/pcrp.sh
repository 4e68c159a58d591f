# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A TCP sender in b, with sch_pcrp on v1, and pcrp_talk, which speaks PCRP, in a. A test sources this after link_ab.
# shellcheck disable=SC2154 # setup_ns sets a and b

# netstat NS NAME: TCP counter NAME of /proc/net/netstat
netstat() {
	ip netns exec "$1" cat /proc/net/netstat | awk -v name="$2" '$1 == "TcpExt:" {
		if (!n) n = split($0, names)
		else for (i = 1; i <= n; i++) if (names[i] == name) print $i
	}'
}

# talk_ab: add the addresses that pcrp_talk knows, and turn GSO off, so that a chain has more than one packet
talk_ab() {
	ip -n "$a" -batch - <<-END
		addr add 203.0.113.1/24 dev v0
		neigh add 203.0.113.2 lladdr $MAC_B nud permanent dev v0
	END
	ip -n "$b" -batch - <<-END
		link set v1 gso_max_segs 1
		addr add 203.0.113.2/24 dev v1
		neigh add 203.0.113.1 lladdr $MAC_A nud permanent dev v1
	END
}

# from_b [OPTION]... STEP...: open a TCP connection from b to a and run STEPs on it
from_b() { tcp_flow -s "$b" -r "$a" -d 203.0.113.1 "$@"; }

# retransmitted: number of segments that b has retransmitted
retransmitted() { ip netns exec "$b" cat /proc/net/snmp | awk '/^Tcp: [0-9]/ { print $13 }'; }

# answering: true if the qdisc has seen PCRP answers from a
answering() { sender | grep -q '"peers_answering":1'; }

# sender: the qdisc's statistics as JSON
sender() { tc -n "$b" -s -j qdisc show dev v1 root | unwrap; }

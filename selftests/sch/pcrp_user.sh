#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Control packets that a user of the host forges never leave a host with sch_pcrp. Control packets of VMs and containers
# do.
# shellcheck disable=SC2317 # functions are called through check
#
#	+---- a ----+     +------------- b -------------+
#	| v0: pcrp  |=====| v1: pcrp        d0: pcrp    |
#	+-----------+     +-----------------------------+
#
# pcrp_talk sends a's packets: frames with v0's Ethernet address, from 203.0.113.1 to 203.0.113.2
. "$(dirname "$0")/../lib/lib.sh"
need_sch pcrp
setup_ns a b
link_ab
tc -n "$a" qdisc add dev v0 root pcrp chain 20kb
tc -n "$b" qdisc add dev v1 root pcrp
ip -n "$b" addr add 203.0.113.2/24 dev v1

# forged NS/DEV: number of dropped forged packets
forged() { tc -n "${1%/*}" -s -j qdisc show dev "${1#*/}" root | unwrap | jq .dropped_forged_packets; }

check_to "$TMP/talk" "a VM's REQUEST is sent" pcrp_talk -s "$a/v0" request wait=50
check_eq "a VM's REQUEST passes, as its address is not the host's" \
	"$(grep -c '^grant' "$TMP/talk") $(forged "$a/v0")" "1 0"

ip -n "$a" addr add 203.0.113.1/24 dev v0
sleep 0.05	# address lookups are cached for 10 ms
for step in request probe grant:udp4:offset=1; do
	check_refused "a user's ${step%%:*} from the host's address is dropped" "No buffer space" pcrp_talk -s "$a/v0" $step
done
check_eq "forged control packets are counted" "$(forged "$a/v0")" 3
# the port may be a user's, and IPV6_FREEBIND (78) binds a socket to the address of another host
freebind() {
	in_ns "$a" setpriv --reuid 65534 --clear-groups /usr/bin/python3 - <<-'END'
		import socket
		sock = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
		sock.setsockopt(socket.IPPROTO_IPV6, 78, 1)
		sock.bind(("2001:db8::99", 1021))
		sock.sendto(bytes(64), ("2001:db8::2", 1021))
	END
}
ip netns exec "$a" tee /proc/sys/net/ipv6/conf/{all,v0}/disable_ipv6 >/dev/null <<<0
ip -n "$a" -batch - <<-END
	addr add 2001:db8::1/64 dev v0 nodad
	neigh add 2001:db8::2 lladdr $MAC_B nud permanent dev v0
END
in_ns "$a" sysctl -qw net.ipv4.ip_unprivileged_port_start=1021
check "a user sends a control packet from another host's address" freebind
check_eq "a user's control packet from another host's address is dropped" "$(forged "$a/v0")" 4
in_ns "$a" sysctl -qw net.ipv4.ip_unprivileged_port_start=1024
check "the host's own flows deliver all data" tcp_flow -s "$a" -r "$b" -d 10.0.0.2 connect send=1000000 close eof
check_json "$(tc -n "$a" -s -j qdisc show dev v0 root | unwrap)" "the host's own control packets pass" \
	'.grants_received > 0 and .dropped_forged_packets == 4'

# ---- packets of a container, masqueraded with the host's address

ip -n "$b" -batch - <<-END
	link add d0 type dummy
	link set d0 up
	addr add 198.51.100.1/24 dev d0
	addr del 203.0.113.2/24 dev v1
	neigh add 198.51.100.2 lladdr 02:00:00:00:00:77 nud permanent dev d0
	route add 203.0.113.2/32 via 198.51.100.2
	route add 203.0.113.1/32 dev v1
END
tc -n "$b" qdisc add dev d0 root pcrp
ip netns exec "$b" tee /proc/sys/net/ipv4/ip_forward /proc/sys/net/ipv4/conf/{all,v1}/accept_local >/dev/null <<<1
ip netns exec "$b" tee /proc/sys/net/ipv4/conf/{all,v1}/rp_filter >/dev/null <<<0
tc -n "$a" qdisc del dev v0 root
sent=$(packets "$b/d0" tx_packets)
check "a REQUEST of another host is sent" pcrp_talk -s "$a/v0" request wait=50
check_eq "a REQUEST of another host is forwarded" "$(($(packets "$b/d0" tx_packets) - sent)) $(forged "$b/d0")" "1 0"
check "a REQUEST with the forwarder's address is sent" \
	pcrp_talk -s "$a/v0" request:udp4,csum=partial:src=198.51.100.1 wait=50
check_eq "a forwarded REQUEST with the forwarder's address is dropped" \
	"$(($(packets "$b/d0" tx_packets) - sent)) $(forged "$b/d0")" "1 1"
finish

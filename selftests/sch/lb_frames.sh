#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Packets of all kinds: the action sends packets that a router only forwards, correctly, and leaves the rest to the
# stack. A packet socket on rh has a copy of each, which must not change. send_frames compares the copies.
# shellcheck disable=SC2154,SC2317 # lb_net sets the namespaces; functions are called through check
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/lb.sh"
need_lb
lb_net
frames_net
# no frames of the host's own IPv6
in_ns "$h" tee /proc/sys/net/ipv6/conf/h0/disable_ipv6 >/dev/null <<<1

# frames SPEC COUNT: send a frame of each family; the packet socket gets COUNT
frames() { send_frames -s "$h/h0" -c "rh=$r/rh/in/$1" "${@:2}" >/dev/null; }
arrive() { wait_for 5 at_least $(($1 + before)) snmp "$d" UdpNoPorts Udp6NoPorts; }
bad_sums() { snmp "$d" UdpInCsumErrors Udp6InCsumErrors IpInHdrErrors IpExtInCsumErrors; }

# sent NAME SPEC...: check that the action sends each frame, and that it arrives
sent() {
	local name=$1
	shift
	lb granularity packet select rr
	before=$(snmp "$d" UdpNoPorts Udp6NoPorts)
	check "$name: copy on the router's port is unchanged" frames $# "$@"
	check_eq "$name: the action sends it" "$(lb_stat sent_packets)" $#
	check "$name: it arrives" arrive $#
	check_eq "$name: checksums are right" "$(bad_sums)" 0
}

# left REASON NAME SPEC...: check that the action leaves each frame to the stack
left() {
	local reason=$1 name=$2
	shift 2
	lb granularity packet select rr
	check "$name: copy on the router's port is unchanged" frames $# "$@"
	check_eq "$name: the stack gets it for reason $reason" "$(lb_stat sent_packets "passed.$reason")" "0 $#"
}

both="port=9,len=400"
sent "linear packet" udp4,$both udp6,$both
sent "packet without checksum" udp4,$both,csum=none
sent "packet whose checksum the device completes" udp4,$both,csum=partial udp6,$both,csum=partial
sent "non-linear packet" udp4,port=9,len=1400,lin=60 udp6,port=9,len=1400,lin=80
sent "padded short packet" udp4,port=9,len=60,pad=8 udp6,port=9,len=80,pad=8
sent "packet with TTL 2" udp4,$both,ttl=3 udp6,$both,ttl=3
left ttl "packet with TTL 1" udp4,$both,ttl=1 udp6,$both,ttl=1
before=$(snmp "$d" UdpNoPorts)
left header "packet with options" udp4,$both,opt=4 udp4,$both,opt=40 udp6,$both,opt=8
check "packet with options arrives" arrive 2
left header "packet whose total length ends in its header" udp4,$both,tot=0 udp4,$both,tot=19
left address "multicast" udp4,$both,mcast=1 udp6,$both,mcast=1
left protocol "packet with a VLAN tag" udp4,$both,vlan=in udp6,$both,vlan=in udp4,$both,vlan=qinq
left protocol "frame of another protocol" raw,len=100
ip -n "$r" link set rh address 02:00:00:00:00:77
left address "frame to another MAC address" udp4,$both udp6,$both
ip -n "$r" link set rh address "$MAC_B"
ip -n "$h" link set h0 mtu 9000
for i in "$r/rh" "$r/u0" "$r/u1" "$r/u2" "$r/u3" "$t/t0" "$t/t1" "$t/t2" "$t/t3" "$t/td" "$d/d0"; do
	ip -n "${i%/*}" link set "${i#*/}" mtu 9000
done
sent "packet of 9000 bytes" udp4,port=9,len=9014 udp6,port=9,len=9014,lin=100
in_ns "$r" tee /proc/sys/net/ipv4/ip_forward /proc/sys/net/ipv6/conf/all/forwarding >/dev/null <<<0
left forwarding "packet without forwarding" udp4,$both udp6,$both
forwards "$r"
in_ns "$r" tee /proc/sys/net/ipv6/conf/rh/disable_ipv6 >/dev/null <<<1
left forwarding "packet of a port without IPv6" udp6,$both
in_ns "$r" tee /proc/sys/net/ipv6/conf/rh/disable_ipv6 >/dev/null <<<0
ip -n "$r" route del 203.0.113.0/24
ip -n "$r" -6 route del 2001:db8::/64
left route "packet without route" udp4,$both udp6,$both
ip -n "$r" route add 203.0.113.0/24 via 10.1.0.2
ip -n "$r" -6 route add 2001:db8::/64 via fd01::2
left single "packet with one next hop" udp4,$both udp6,$both
finish

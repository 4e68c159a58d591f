# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2016 # setup_ns sets the namespaces; awk expands
# A router with act_lb, and several links to the next one. A test sources this file after lib.sh.
#
#	+--- h ---+     +------- r -------+ 10.1.N.0/24  +--- t ---+     +--- d ---+
#	| h0      |-----| rh: lb    uN    |====..4..=====| tN   td |-----| d0      |
#	+---------+     +-----------------+ fd01:N::/64  +---------+     +---------+
#	10.0.1.1 fd00:1::1                                          10.0.2.2 fd00:2::2

need_lb() {
	need_modules act_lb
	need_closwire
}

# cable NS1/DEV1 ADDRESS1 NS2/DEV2 ADDRESS2: connect two devices; "N" in an address is 4 for IPv4, 6 for IPv6 networks
cable() {
	ip link add "${1#*/}" netns "${1%/*}" ${queues:+numtxqueues $queues} type closwire rate "$rate" delay 5us \
		peer name "${3#*/}" netns "${3%/*}"
	end "${1%/*}" "${1#*/}" "$2"
	end "${3%/*}" "${3#*/}" "$4"
}

# end NS DEV IPV4,IPV6: give a device its addresses
end() {
	ip -n "$1" -batch - <<-END
		addr add ${3%,*}/24 dev $2
		addr add ${3#*,}/64 dev $2 nodad
		link set $2 up
	END
}

forwards() {
	in_ns "$1" tee /proc/sys/net/ipv4/ip_forward /proc/sys/net/ipv6/conf/all/forwarding >/dev/null <<<1
}

# next_hops FAMILY [WEIGHT...]: print the next hops of r's route to d
next_hops() {
	local family=$1 i weights
	shift
	weights=("$@")
	for i in 0 1 2 3; do
		if [ "$family" = 4 ]; then
			echo "nexthop via 10.1.$i.2 weight ${weights[i]:-1}"
		else
			echo "nexthop via fd01:$i::2 weight ${weights[i]:-1}"
		fi
	done | paste -s -d ' '
}

# reroute FAMILY [WEIGHT...]: set r's route to d
reroute() {
	local to=10.0.2.0/24
	[ "$1" = 4 ] || to=fd00:2::/64
	# shellcheck disable=SC2046 # words
	ip -n "$r" "-$1" route replace $to $(next_hops "$@")
}

# lb_net: make the network of the picture. rate: of each link; queues: number of TX queues of the first port of a link
lb_net() {
	local i
	rate=${rate:-10gbit} h='' r='' t='' d=''
	setup_ns h r t d
	for i in "$h" "$r" "$t" "$d"; do
		in_ns "$i" tee /proc/sys/net/ipv6/conf/{all,default}/disable_ipv6 >/dev/null <<<0
	done
	cable "$h/h0" 10.0.1.1,fd00:1::1 "$r/rh" 10.0.1.9,fd00:1::9
	cable "$t/td" 10.0.2.9,fd00:2::9 "$d/d0" 10.0.2.2,fd00:2::2
	for i in 0 1 2 3; do
		cable "$r/u$i" "10.1.$i.1,fd01:$i::1" "$t/t$i" "10.1.$i.2,fd01:$i::2"
	done
	forwards "$r"
	forwards "$t"
	ip -n "$h" route add default via 10.0.1.9
	ip -n "$h" -6 route add default via fd00:1::9
	ip -n "$d" route add default via 10.0.2.9
	ip -n "$d" -6 route add default via fd00:2::9
	ip -n "$t" route add 10.0.1.0/24 via 10.1.0.1
	ip -n "$t" -6 route add fd00:1::/64 via fd01:0::1
	reroute 4
	reroute 6
	for i in 0 1 2 3; do
		resolve "$i"
	done
	wait_for 5 in_ns "$h" ping -q -c 1 -W 1 10.0.2.2 >/dev/null
	wait_for 5 in_ns "$h" ping -q -c 1 -W 1 fd00:2::2 >/dev/null
}

# resolve LINK: let r resolve its neighbours on a link
resolve() {
	wait_for 5 in_ns "$r" ping -q -c 1 -W 0.2 "10.1.$1.2" >/dev/null
	wait_for 5 in_ns "$r" ping -q -c 1 -W 0.2 "fd01:$1::2" >/dev/null
}

# lb OPTIONS...: put a new action on $lb_dev of r. The old one goes later, by a worker, so each has a number of its own.
# before_lb: actions before it, as words of tc
lb_index=0 lb_dev=rh before_lb=()
lb() {
	lb_index=$((lb_index + 1))
	{
		no_lb_batch
		echo "filter add dev $lb_dev ingress matchall ${before_lb[*]-} action lb $* index $lb_index"
	} | tc -n "$r" -batch -
}
no_lb() { no_lb_batch | tc -n "$r" -batch -; }
no_lb_batch() {
	echo "qdisc replace dev $lb_dev clsact"
	echo "filter del dev $lb_dev ingress"
}

lb_json() { tc -n "$r" -s -j actions get action lb index $lb_index; }
# lb_jq FILTER: apply a jq FILTER to the action
lb_jq() { lb_json | jq -r ".. | objects | select(.kind? == \"lb\") | $1"; }
# lb_stat NAME...: print options and counters of the action, 0 for what it lacks: sent_packets, passed.ttl, u0.packets.
# This does without jq, which takes as long to start as 40 other programs.
lb_stat() {
	lb_json | awk -v RS=, -v names="$*" '
		{
			gsub(/[][{" \n]/, "")
			last = sub(/}.*/, "")
			n = split($0, part, ":")
			if (n == 3) { list = part[1]; prefix = list == "passed" ? "passed." : "" }
			if (part[n - 1] == "dev") prefix = (list == "rate" ? "rate." : "") part[n] "."
			value[prefix part[n - 1]] = part[n]
			if (last) prefix = ""
		}
		END {
			n = split(names, name, " ")
			for (i = 1; i <= n; i++) printf "%s%s", name[i] in value ? value[name[i]] : 0, i < n ? " " : "\n"
		}'
}
# port_packets: packets by u0 to u3
port_packets() { lb_stat u{0..3}.packets; }
# passed NAME: number of packets that were passed to the stack for reason NAME
passed() { lb_stat "passed.$1"; }
# links_used: number of ports that have sent packets
links_used() { port_packets | awk '{ for (i = 1; i <= NF; i++) n += $i > 0; print n + 0 }'; }
# each_at_least N: each of four ports has sent at least N packets
each_at_least() { port_packets | awk -v n="$1" '{ exit !($1 >= n && $2 >= n && $3 >= n && $4 >= n) }'; }

# udp FAMILY COUNT [OPTIONS...]: datagrams of one flow from h to d, which all arrive. A host's socket has room for 80.
udp() {
	local to=10.0.2.2 count=$2 before
	[ "$1" = 4 ] || to=fd00:2::2
	shift 2
	before=$(received)
	traffic udp -n "$h" -d $to -p 9 -l 1000 -c "$count" "$@" >/dev/null
	wait_for 5 at_least $((before + count)) received
}
# received: number of datagrams to the closed port 9 of d
received() {
	in_ns "$d" awk '$1 == "Udp:" { n = $3 } $1 == "Udp6NoPorts" { n += $2 } END { print n }' /proc/net/snmp /proc/net/snmp6
}

# frames_net: let the frames of send_frames, which h0 sends, reach d: from 203.0.113.1 to .2, from 2001:db8::1 to ::2
frames_net() {
	ip -n "$r" link set rh address "$MAC_B"
	ip -n "$h" neigh flush dev h0
	ip -n "$h" -6 neigh flush dev h0
	ip -n "$d" addr add 203.0.113.2/32 dev d0
	ip -n "$d" addr add 2001:db8::2/128 dev d0 nodad
	ip -n "$t" route add 203.0.113.2/32 via 10.0.2.2
	ip -n "$t" -6 route add 2001:db8::2/128 via fd00:2::2
	# shellcheck disable=SC2046 # words
	ip -n "$r" route add 203.0.113.0/24 $(next_hops 4)
	# shellcheck disable=SC2046 # words
	ip -n "$r" -6 route add 2001:db8::/64 $(next_hops 6)
	in_ns "$r" tee /proc/sys/net/ipv4/conf/{all,rh}/rp_filter >/dev/null <<<0
	in_ns "$t" tee /proc/sys/net/ipv4/conf/{all,t0,t1,t2,t3}/rp_filter >/dev/null <<<0
	in_ns "$d" tee /proc/sys/net/ipv4/conf/{all,d0}/rp_filter >/dev/null <<<0
}

# snmp NS COUNTER...: sum of counters of the namespace's IPv4 and IPv6, such as UdpInCsumErrors, Udp6NoPorts
snmp() {
	local ns=$1
	shift
	in_ns "$ns" awk -v names="$*" 'BEGIN { split(names, want); for (i in want) wanted[want[i]] = 1 }
		FILENAME ~ /6$/ { if ($1 in wanted) sum += $2; next }
		{ kind = $1; sub(":", "", kind) }
		!(kind in title) { title[kind] = $0; next }
		{ split(title[kind], name); for (i = 2; i <= NF; i++) if (kind name[i] in wanted) sum += $i; delete title[kind] }
		END { print sum + 0 }' /proc/net/snmp /proc/net/netstat /proc/net/snmp6
}

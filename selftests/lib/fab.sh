# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2154 # lb_net sets the namespaces
# Two leaves with closfab between four links. A test sources this file after lib.sh.
#
#	+--- h ---+     +------ r -------+ 10.1.N.0/24  +------ t ------+     +--- d ---+
#	| h0      |-----| rh  fab0   uN  |====..4..=====| tN  fab0   td |-----| d0      |
#	+---------+     +----------------+ fd01:N::/64  +---------------+     +---------+
#	10.0.1.1 fd00:1::1   10.9.0.1 fd09::1          10.9.0.2 fd09::2      10.0.2.2 fd00:2::2
. "$(dirname "${BASH_SOURCE[0]}")/lb.sh"

need_fab() {
	# stock modules that closfab.ko needs; insmod does not load them
	modprobe -a udp_tunnel ip6_udp_tunnel 2>/dev/null || true
	need_modules closfab
	need_closwire
}

# fab_net [SETTING...]: make the network; SETTINGs are those of both devices. outer: family of the outer header
outer=4
fab_net() {
	lb_net
	underlay "$r" u 1 2
	underlay "$t" t 2 1
	fab_add "$@"
}

# underlay NS PREFIX OWN OTHER: addresses of lo, and routes by four links to the other leaf's
underlay() {
	local i hops4='' hops6=''
	for i in 0 1 2 3; do
		hops4+=" nexthop via 10.1.$i.$4 dev $2$i"
		hops6+=" nexthop via fd01:$i::$4 dev $2$i"
	done
	ip -n "$1" -batch - <<-END
		link set lo up
		addr add 10.9.0.$3/32 dev lo
		addr add fd09::$3/128 dev lo nodad
		route add 10.9.0.$4/32 src 10.9.0.$3 $hops4
		route add fd09::$4/128 src fd09::$3 $hops6
	END
}

# leaf NUMBER: its address in the underlay
leaf() { if [ $outer = 4 ]; then echo 10.9.0."$1"; else echo fd09::"$1"; fi; }

# fab_add [SETTING...]: make the devices, and route h's and d's networks by them
fab_add() {
	fab_leaf "$r" 1 2 10.0.2.0/24 fd00:2::/64 "$@"
	fab_leaf "$t" 2 1 10.0.1.0/24 fd00:1::/64 "$@"
}

# fab_leaf NS OWN OTHER PREFIX4 PREFIX6 [SETTING...]
fab_leaf() {
	ip -n "$1" link add fab0 type closfab local "$(leaf "$2")" "${@:6}"
	fab_routes "$1" "$3" "$4" "$5"
}

# fab_routes NS OTHER PREFIX4 PREFIX6: let the device of NS carry the networks behind the other leaf
fab_routes() {
	local encap=ip
	[ $outer = 4 ] || encap=ip6
	ip -n "$1" -6 route del "$4" 2>/dev/null || true
	ip -n "$1" -batch - <<-END
		link set fab0 up
		route replace $3 encap $encap dst $(leaf "$2") dev fab0
		route add $4 encap $encap dst $(leaf "$2") dev fab0
	END
}

fab_del() {
	ip -n "$r" link del fab0
	ip -n "$t" link del fab0
}

# fab_set SETTING...: change both devices
fab_set() {
	ip -n "$r" link set fab0 type closfab "$@"
	ip -n "$t" link set fab0 type closfab "$@"
}

# delays TIME...: delay of each link, both ways
delays() {
	local i=0 time
	for time in "$@"; do
		wire_set "$r/u$i" delay "$time"
		wire_set "$t/t$i" delay "$time"
		i=$((i + 1))
	done
}

# check_in_time NAME VALUE EXPECTED: check_eq for a number of packets that is EXPECTED unless a guest is late by more
# than the wait, which follows the skew of the links. In real time, 100 of some 1000 packets may be.
check_in_time() {
	if exact; then check_eq "$@"; else check "$1, but for 100 packets" test "$2" -le $(($3 + 100)); fi
}

# sum NAME...: sum of counters of t's device
sum() {
	local name total=0
	for name in "$@"; do
		total=$((total + $(counter "$t/fab0" "$name")))
	done
	echo $total
}

# transfer BYTES [ADDRESS]: send bytes of a known sequence by one TCP connection from h to d; print the number received
transfer() {
	local v6=()
	[[ ${2:-} != *:* ]] || v6=(-6)
	traffic tcp-receive -n "$d" -p 5001 ${v6[@]+"${v6[@]}"} >"$TMP/received" &
	wait_for 5 listens 5001
	traffic tcp-send -n "$h" -d "${2:-10.0.2.2}" -p 5001 -c "$1" >/dev/null
	wait $!
	awk '{ print $2 }' "$TMP/received"
}
listens() { in_ns "$d" ss -Hltn "sport = :$1" | grep -q LISTEN; }

# out_of_order: segments that d's TCP received out of order
out_of_order() { snmp "$d" TCPOFOQueue; }

# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for tests of NDP sockets; sourced after lib.sh
# shellcheck disable=SC2154 # setup_ns sets the namespaces
need_modules ndp

# ndp_v6 NS DEV ADDRESS PEER LLADDR: enable IPv6 on DEV; give it an address and a neighbour entry for its peer
ndp_v6() {
	in_ns "$1" tee "/proc/sys/net/ipv6/conf/$2/disable_ipv6" >/dev/null <<<0
	ip -n "$1" -batch - <<-END
		addr add $3/64 dev $2 nodad
		neigh replace $4 lladdr $5 nud permanent dev $2
	END
}

# ndp_v6_ab: give w0 address 2001:db8::1 and w1 2001:db8::2
ndp_v6_ab() {
	ndp_v6 "$a" w0 2001:db8::1 2001:db8::2 "$MAC_B"
	ndp_v6 "$b" w1 2001:db8::2 2001:db8::1 "$MAC_A"
}

# loopback_up NS: set lo up, with IPv6
loopback_up() {
	in_ns "$1" tee /proc/sys/net/ipv6/conf/lo/disable_ipv6 >/dev/null <<<0
	ip -n "$1" link set lo up
}

# vlan_ab LETTER: add VLAN devices LETTER0.5 with address 10.5.0.1 and LETTER1.5 with 10.5.0.2
vlan_ab() {
	local i ns dev=$1
	for i in 0 1; do
		ns=$a
		[ $i -eq 0 ] || ns=$b
		ip -n "$ns" link add link "$dev$i" name "$dev$i.5" type vlan id 5 || skip_all "no VLAN devices"
		ip -n "$ns" link set "$dev$i.5" up
		ip -n "$ns" addr add 10.5.0.$((i + 1))/24 dev "$dev$i.5"
	done
}

# netem_ab [SETTING...]: replace netem on w0 and w1. `tc qdisc replace` would keep settings that are not given.
netem_ab() {
	local port
	for port in "$a/w0" "$b/w1"; do
		tc -n "${port%/*}" qdisc del dev "${port#*/}" root 2>/dev/null || true
		tc -n "${port%/*}" qdisc add dev "${port#*/}" root netem limit 100000 "$@" || skip_all "no netem"
	done
}

# as_remote NS DEV: make packets to UDP port 61198 that leave NS by DEV look like packets of a remote host, by
# changing their port to NDP's, 61199. With the module loaded, users of a host cannot send to that port. In fragments, a
# 1 at the start of DATA's payload becomes 0, so that the UDP checksum is right.
as_remote() {
	local edit=(action pedit ex munge udp dport set 61199) sum=(pipe csum udp)
	tc -n "$1" -batch - <<-END || skip_all "no tc filters"
		qdisc add dev $2 clsact
		filter add dev $2 egress protocol ip pref 1 u32 match u8 17 0xff at 9 match u16 0x2000 0x3fff at 6 \
			match u16 61198 0xffff at 22 ${edit[*]} munge offset 84 u16 set 0
		filter add dev $2 egress protocol ip pref 2 flower ip_proto udp dst_port 61198 ${edit[*]}
		filter add dev $2 egress protocol ipv6 pref 3 u32 match u8 17 0xff at 6 match u16 61198 0xffff at 42 ${edit[*]}
		filter add dev $2 egress protocol ipv6 pref 4 u32 match u8 44 0xff at 6 match u16 61198 0xffff at 50 \
			${edit[*]} munge offset 112 u16 set 0
		filter add dev $2 egress protocol ipv6 pref 5 flower ip_proto udp dst_port 61198 ${edit[*]} ${sum[*]}
	END
}

# messages NAME COMMAND...: run ndp_msg with COMMANDs as a check; its output remains in $TMP/msgs
messages() {
	local failed=$TEST_FAILED
	check_to "$TMP/msgs" "$1" ndp_msg "${@:2}"
	[ "$TEST_FAILED" -eq "$failed" ] || note "$(<"$TMP/msgs")"
}

# total NAME [COMMAND]: sum of the NAME= values that all COMMANDs (default: send) of `messages` printed
total() {
	awk -v name="$1=" -v command="${2:-send}" '$1 == command {
		for (i = 2; i <= NF; i++)
			if (index($i, name) == 1)
				sum += substr($i, length(name) + 1)
	} END { print sum + 0 }' "$TMP/msgs"
}

# snmp NS NAME...: sum of counters NAME... of /proc/net/ndp/snmp
# shellcheck disable=SC2016 # awk expands
snmp() {
	in_ns "$1" awk -v names=" ${*:2} " '
		index(names, " " $1 " ") { sum += $2; n++ }
		END { print sum + 0; exit !n }' /proc/net/ndp/snmp
}

# listens: true if b has exactly one NDP socket
listens() { [ "$(ip netns exec "$b" closnet ndp sockets -j | jq '.sockets | length')" -eq 1 ]; }

# report_lines FILE: report each line of FILE, "ok NAME" or "not ok NAME", as a check
report_lines() {
	local line
	while read -r line; do
		case $line in
		"ok "*) ok "${line#ok }" ;;
		*) not_ok "${line#not ok }" ;;
		esac
	done <"$1"
}

# api TEST...: run ndp_api; report each line of its output as a check
api() {
	local status=0
	ndp_api "$a" "$b" "$@" >"$TMP/api" 2>"$TMP/api.err" || status=$?
	report_lines "$TMP/api"
	[ $status -lt 2 ] || not_ok "ndp_api $* runs to its end" "status $status: $(<"$TMP/api.err")"
}

# unused: true if the module has no users. Flows are freed a little later than their sockets.
unused() { [ "$(<"/sys/module/ndp/refcnt")" -eq 0 ]; }

# star COUNT RATE: connect hosts r (10.0.0.100) and h1... (10.0.0.1...) to switch s; its port to r is s0
star() {
	local i names=()
	for ((i = 1; i <= $1; i++)); do
		names+=("h$i")
	done
	setup_ns s r "${names[@]}"
	ip -n "$s" link add br0 type bridge mcast_snooping 0 || skip_all "no bridges"
	ip -n "$s" link set br0 up
	star_port r s0 10.0.0.100 "$2"
	for ((i = 1; i <= $1; i++)); do
		star_port "h$i" "s$i" "10.0.0.$i" "$2"
	done
}

# star_port NAME PORT ADDRESS RATE: connect host NAME to port PORT of the switch
star_port() {
	ip link add w0 netns "${!1}" mtu 9000 type closwire rate "$4" delay 1us peer name "$2" netns "$s" mtu 9000
	ip -n "$s" link set "$2" master br0 up
	ip -n "${!1}" addr add "$3/24" dev w0
	ip -n "${!1}" link set w0 up
	wait_for 5 has_carrier "${!1}" w0
}

# switch SETTING...: put qdisc ndp on the port to r
switch() { tc -n "$s" qdisc replace dev s0 root handle 1: ndp "$@"; }

# incast NAME COUNT SIZES: send COUNT messages from each of $hosts hosts to r
incast() {
	local i ns commands=(receive -v -n "$r" -r 33554432 -p 9 -s "$hosts" -c "$2" -l "$3" -q 10)
	for ((i = 1; i <= hosts; i++)); do
		ns=h$i
		commands+=(-- send -n "${!ns}" -d 10.0.0.100 -p 9 -c "$2" -l "$3")
	done
	messages "$1: all messages arrive" "${commands[@]}"
	note "$1: $(total us receive) µs, $(total packets) packets, $(total nacks) trimmed, $(total returned) returned"
}

# in_use: true if the module has users
in_use() { ! unused; }

# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the tests of NDP's sockets share; sourced after lib.sh.
# shellcheck disable=SC2154 # setup_ns sets the namespaces
need_modules ndp

# ndp_v6 NS DEV ADDRESS PEER LLADDR: DEV has IPv6, an address, and knows its peer's
ndp_v6() {
	in_ns "$1" tee "/proc/sys/net/ipv6/conf/$2/disable_ipv6" >/dev/null <<<0
	ip -n "$1" -batch - <<-END
		addr add $3/64 dev $2 nodad
		neigh replace $4 lladdr $5 nud permanent dev $2
	END
}

# ndp_v6_ab: w0 has 2001:db8::1, w1 2001:db8::2
ndp_v6_ab() {
	ndp_v6 "$a" w0 2001:db8::1 2001:db8::2 "$MAC_B"
	ndp_v6 "$b" w1 2001:db8::2 2001:db8::1 "$MAC_A"
}

# as_remote NS DEV: what leaves NS by DEV to UDP port 61198 arrives at NDP's, 61199, as if it came from a host without
# the module, which lets no user of its own host send to that port. Of fragments, a 1 at the begin of DATA's payload
# becomes 0, so that the UDP checksum is right.
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

# messages WHAT COMMAND...: of ndp_msg, whose output remains in $TMP/msgs
messages() {
	local failed=$TEST_FAILED
	check_to "$TMP/msgs" "$1" ndp_msg "${@:2}"
	[ "$TEST_FAILED" -eq "$failed" ] || note "$(<"$TMP/msgs")"
}

# said NAME [COMMAND]: the sum of what all COMMANDs (default: send) of `messages` say of it
said() {
	awk -v name="$1=" -v command="${2:-send}" '$1 == command {
		for (i = 2; i <= NF; i++)
			if (index($i, name) == 1)
				sum += substr($i, length(name) + 1)
	} END { print sum + 0 }' "$TMP/msgs"
}

# snmp NS NAME...: the sum of these counters
# shellcheck disable=SC2016 # awk expands
snmp() {
	in_ns "$1" awk -v names=" ${*:2} " '
		index(names, " " $1 " ") { sum += $2; n++ }
		END { print sum + 0; exit !n }' /proc/net/ndp/snmp
}

# listens: is there one socket in b?
listens() { [ "$(ip netns exec "$b" closnet ndp sockets -j | jq '.sockets | length')" -eq 1 ]; }

# api TEST...: a result for each line of ndp_api
api() {
	local status=0 line
	ndp_api "$a" "$b" "$@" >"$TMP/api" 2>"$TMP/api.err" || status=$?
	while read -r line; do
		case $line in
		"ok "*) ok "${line#ok }" ;;
		*) not_ok "${line#not ok }" ;;
		esac
	done <"$TMP/api"
	[ $status -lt 2 ] || not_ok "ndp_api $*: it ends" "status $status: $(<"$TMP/api.err")"
}

# unused: does nothing refer to the module? Flows go a little later than sockets.
unused() { [ "$(<"/sys/module/ndp/refcnt")" -eq 0 ]; }

# star COUNT RATE: hosts r, 10.0.0.100, and h1.., 10.0.0.1.., at a switch, s; its port to r is s0
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

# star_port NAME PORT ADDRESS RATE
star_port() {
	ip link add w0 netns "${!1}" mtu 9000 type closwire rate "$4" delay 1us peer name "$2" netns "$s" mtu 9000
	ip -n "$s" link set "$2" master br0 up
	ip -n "${!1}" addr add "$3/24" dev w0
	ip -n "${!1}" link set w0 up
	wait_for 5 has_carrier "${!1}" w0
}

# switch SETTING...: the queue of the port to r
switch() { tc -n "$s" qdisc replace dev s0 root handle 1: ndp "$@"; }

# incast WHAT COUNT SIZES: COUNT messages from each of h1..., $hosts
incast() {
	local i ns commands=(receive -v -n "$r" -r 33554432 -p 9 -s "$hosts" -c "$2" -l "$3" -q 10)
	for ((i = 1; i <= hosts; i++)); do
		ns=h$i
		commands+=(-- send -n "${!ns}" -d 10.0.0.100 -p 9 -c "$2" -l "$3")
	done
	messages "$1" "${commands[@]}"
	note "$1: $(said us receive) us, $(said packets) packets, $(said nacks) trimmed, $(said returned) returned"
}

# in_use: is there a socket?
in_use() { ! unused; }

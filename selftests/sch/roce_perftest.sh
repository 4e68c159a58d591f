#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# perftest's ib_write_bw over a stock kernel's rdma_rxe and sch_roce: marks, CNPs and rate limiters
#
#	      initial namespace                 sw                    initial namespace
#	+-----------------------+   +-----------------------+   +-----------------------+
#	| h0: rxe -> w0: roce   |===| w1         w2: dcqcn  |===| w3: roce -> rxe: h1   |
#	+-----------------------+   +-----------------------+   +-----------------------+
#	        10.0.0.1    200 Mbit/s              50 Mbit/s      10.0.1.1
#
# Up to 6.12, rdma_rxe knows only the initial namespace, so both hosts are there, and rules keep their packets from lo.
# shellcheck disable=SC2154,SC2317 # setup_ns sets sw; check calls functions
. "$(dirname "$0")/../lib/lib.sh"
exact && skip_all "perftest polls, so virtual time stands still"
modprobe -q rdma_rxe || skip_all "the kernel has no rdma_rxe, as Debian's cloud flavour"
modprobe -q ib_uverbs || skip_all "the kernel has no ib_uverbs"
command -v ib_write_bw >/dev/null || skip_all "no ib_write_bw: tools/deps.sh vm"
need_closwire
need_dcqcn
need_roce
setup_ns sw
defer 'rdma link del h0; rdma link del h1; ip link del w0; ip link del w3'
ip link add w0 mtu 4200 address $MAC_A type closwire rate 200mbit delay 20us \
	peer name w1 netns "$sw" mtu 4200 address 02:00:00:00:00:01 type closwire rate 200mbit delay 20us
ip link add w3 mtu 4200 address $MAC_B type closwire rate 50mbit delay 20us \
	peer name w2 netns "$sw" mtu 4200 address 02:00:00:00:00:02 type closwire rate 50mbit delay 20us ring 2

# host DEV ADDRESS GATEWAY MAC: packets that leave by DEV take no local route, and DEV accepts local source addresses
host() {
	local table=$((100 + ${1#w}))
	echo 0 >"/proc/sys/net/ipv4/conf/$1/rp_filter"
	echo 1 >"/proc/sys/net/ipv4/conf/$1/accept_local"
	ip -batch - <<-END
		link set $1 up
		addr add $2/32 dev $1
		neigh add $3 lladdr $4 nud permanent dev $1
		route add default via $3 dev $1 onlink table $table
		rule add pref 10 oif $1 lookup $table
	END
	defer "ip rule del pref 10 oif $1"
}
defer 'ip rule add pref 0 lookup local; ip rule del pref 20 lookup local'
ip rule add pref 20 lookup local
ip rule del pref 0 lookup local
rp_filter=$(</proc/sys/net/ipv4/conf/all/rp_filter)
defer "echo $rp_filter >/proc/sys/net/ipv4/conf/all/rp_filter"
echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
host w0 10.0.0.1 10.0.0.254 02:00:00:00:00:01
host w3 10.0.1.1 10.0.1.254 02:00:00:00:00:02
in_ns "$sw" tee /proc/sys/net/ipv4/ip_forward >/dev/null <<<1
ip -n "$sw" -batch - <<-END
	addr add 10.0.0.254/32 dev w1
	addr add 10.0.1.254/32 dev w2
	link set w1 up
	link set w2 up
	route add 10.0.0.1 dev w1
	route add 10.0.1.1 dev w2
	neigh add 10.0.0.1 lladdr $MAC_A nud permanent dev w1
	neigh add 10.0.1.1 lladdr $MAC_B nud permanent dev w2
END
running() { ip link show "$1" | grep -q LOWER_UP; }
wait_for 5 running w0
wait_for 5 running w3
rdma link add h0 type rxe netdev w0
rdma link add h1 type rxe netdev w3
# room for the first burst: queue pairs start at the line rate, with 64 to 128 packets in flight
tc -n "$sw" qdisc replace dev w2 root dcqcn limit 3m kmin 10k kmax 100k
tc qdisc replace dev w0 root roce
tc qdisc replace dev w3 root roce

# gid DEVICE ADDRESS: index of the device's GID for an IPv4 address
gid() {
	local file
	for file in "/sys/class/infiniband/$1/ports/1/gids"/*; do
		[ "$(<"$file")" != "$2" ] || { basename "$file" && return; }
	done
	return 1
}
has_gids() { gid h0 "$GID_A" && gid h1 "$GID_B"; } >/dev/null
GID_A=0000:0000:0000:0000:0000:ffff:0a00:0001
GID_B=0000:0000:0000:0000:0000:ffff:0a00:0101
wait_for 5 has_gids
# of DEV KIND [tc's option]...: the qdisc of that kind at the device, as JSON
of() { tc "${@:3}" -s -j qdisc show dev "$1" | jq -c "[.[] | select(.kind == \"$2\")][0]"; }
# write_bw DEVICE WORD...: one side of the measurement; perftest's own TCP connection uses lo. The queue of 1 MB takes
# longer than the usual retransmission timeout of 67 ms, hence -u 20, 4 s.
write_bw() { timeout 120 ib_write_bw -d "$1" -F -m 4096 -s 65536 -n 100 -q 2 -t 16 -u 20 -p 18515 "${@:2}"; }
waits() { ss -Hlnt "sport = 18515" | grep -q .; }
write() {
	write_bw h1 -x "$(gid h1 "$GID_B")" >"$TMP/server" 2>&1 &
	local server=$!
	wait_for 10 waits && write_bw h0 -x "$(gid h0 "$GID_A")" 127.0.0.1 >"$TMP/client" 2>&1 && wait "$server" && return
	cat "$TMP/client" "$TMP/server"
	return 1
}
check "ib_write_bw writes 13 MB by two queue pairs of a stock rdma_rxe" write
check_json "$(of w2 dcqcn -n "$sw")" "the switch marks and drops nothing" '.drops == 0 and .marked_packets > 10'
check_json "$(of w3 roce)" "the receiver answers marked data by CNPs" \
	'.np_ecn_marked_roce_packets > 10 and .np_cnp_sent > 10'
check_json "$(of w0 roce)" "the sender's rate limiters take the CNPs" \
	'.rp_cnp_handled > 10 and .rp_cnp_malformed == 0 and .qps_limited == 2 and .drops == 0'
note "$(grep -E '^ *65536' "$TMP/client")"
finish

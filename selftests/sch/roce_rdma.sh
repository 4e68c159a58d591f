#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# rdma_rxe, unmodified but for its namespace, through sch_roce: a switch marks, and rates adapt
#
#	+--------- a ---------+  10 Gbit/s  +----- sw ------+  4 Gbit/s  +--------- b ---------+
#	| rxe -> w0: roce     |=============| w1  w2: dcqcn |============| w3: roce -> rxe     |
#	+---------------------+             +---------------+            +---------------------+
# shellcheck disable=SC2154,SC2317 # setup_ns sets the namespaces; check calls write
. "$(dirname "$0")/../lib/lib.sh"
exact || skip_all "only the lab's kernels have rxe in network namespaces"
need_closwire
need_dcqcn
need_roce
TRAFFIC=$LIB_TOP/build/lab/traffic
[ -x "$TRAFFIC" ] || skip_all "no $TRAFFIC: make -C tools/lab/traffic"
setup_ns a sw b
ip link add w0 netns "$a" mtu 4200 address $MAC_A type closwire rate 10gbit delay 2us \
	peer name w1 netns "$sw" mtu 4200 address 02:00:00:00:00:01 type closwire rate 10gbit delay 2us
ip link add w2 netns "$sw" mtu 4200 address 02:00:00:00:00:02 type closwire rate 4gbit delay 2us ring 2 \
	peer name w3 netns "$b" mtu 4200 address $MAC_B type closwire rate 4gbit delay 2us
in_ns "$sw" tee /proc/sys/net/ipv4/ip_forward >/dev/null <<<1
ip -n "$a" -batch - <<-END
	link set w0 up
	addr add 10.0.0.1/32 dev w0
	route add 10.0.0.254 dev w0
	route add default via 10.0.0.254 dev w0
	neigh add 10.0.0.254 lladdr 02:00:00:00:00:01 nud permanent dev w0
END
ip -n "$b" -batch - <<-END
	link set w3 up
	addr add 10.0.1.1/32 dev w3
	route add 10.0.1.254 dev w3
	route add default via 10.0.1.254 dev w3
	neigh add 10.0.1.254 lladdr 02:00:00:00:00:02 nud permanent dev w3
END
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
wait_for 5 has_carrier "$a" w0
wait_for 5 has_carrier "$b" w3
printf 'mtu 4200\nhost h0 %s 10.0.0.1 0 0\nhost h1 %s 10.0.1.1 0 0\npath same-leaf 10000000000:2000 4000000000:2000\n' \
	"$a" "$b" >"$TMP/hosts"

# write: WRITEs of four queue pairs for 120 ms. Their first ACKs, after 16 KB, pair the directions.
write() {
	timeout 60 "$TRAFFIC" --hosts "$TMP/hosts" --flows "$TMP/flows" --time 120ms --drain 5ms --json \
		bulk src=h0 dst=h1 flows=4 transport=roce message=16k connect=before >"$TMP/summary"
}
# of NS DEV KIND: the qdisc of that kind at the device, as JSON
of() { tc -n "$1" -s -j qdisc show dev "$2" | jq -c "[.[] | select(.kind == \"$3\")][0]"; }
rxe() { cat "/sys/class/infiniband/$1/ports/1/hw_counters/$2"; }

# ---- the generator's model of a NIC, before rxe has the UDP port

for port in "$a:w0" "$b:w3"; do
	tc -n "${port%:*}" qdisc replace dev "${port#*:}" root roce
done
tc -n "$sw" qdisc replace dev w2 root handle 8: dcqcn limit 3m kmin 10k kmax 100k
nic() {
	timeout 60 "$TRAFFIC" --hosts "$TMP/hosts" --time 120ms --drain 5ms --json \
		bulk src=h0 dst=h1 flows=4 transport=sr ack_timeout=14 >"$TMP/summary"
}
check "model of a NIC: traffic runs" nic
check_json "$(of "$sw" w2 dcqcn)" "model of a NIC: the switch marks and drops nothing" \
	'.drops == 0 and .marked_packets > 10'
check_json "$(of "$b" w3 roce)" "model of a NIC: the receiver answers marked data by CNPs" '.np_cnp_sent > 10'
check_json "$(of "$a" w0 roce)" "model of a NIC: the rate limiters take the CNPs" \
	'.rp_cnp_handled > 10 and .rp_cnp_unmatched == 0 and .qps_limited == 4 and .drops == 0'
check_json "$(cat "$TMP/summary")" "model of a NIC: flows use three quarters of the link" \
	'.[0].goodput_bps > 3000000000'
for port in "$a:w0" "$b:w3"; do
	tc -n "${port%:*}" qdisc del dev "${port#*:}" root
done

# ---- no congestion control: rxe overflows the switch's queue

in_ns "$a" rdma link add h0 type rxe netdev w0 || skip_all "no rxe"
in_ns "$b" rdma link add h1 type rxe netdev w3
tc -n "$sw" qdisc replace dev w2 root handle 7: dcqcn limit 500k kmin 10k kmax 100k
check "without sch_roce, traffic runs" write
check_json "$(of "$sw" w2 dcqcn)" "without sch_roce, no packet is ECN-capable, and packets are dropped" \
	'.drops > 0 and .marked_packets == 0'

# ---- sch_roce at both hosts

lost=$(rxe h1 out_of_seq_request)
for port in "$a:w0" "$b:w3"; do
	tc -n "${port%:*}" qdisc replace dev "${port#*:}" root roce
done
# room for the first burst: queue pairs start at the line rate
tc -n "$sw" qdisc replace dev w2 root handle 9: dcqcn limit 3m kmin 10k kmax 100k
check "with sch_roce, traffic runs" write
check_json "$(of "$sw" w2 dcqcn)" "with sch_roce, the switch marks and drops nothing" \
	'.drops == 0 and .marked_packets > 10'
check_json "$(of "$b" w3 roce)" "the receiver answers marked data by CNPs" \
	'.np_ecn_marked_roce_packets > 10 and .np_cnp_sent > 10 and .np_unpaired_packets < 100'
check_json "$(of "$a" w0 roce)" "the sender's rate limiters take the CNPs" \
	'.rp_cnp_handled > 10 and .rp_cnp_unmatched == 0 and .rp_cnp_malformed == 0 and .qps_limited == 4 and .drops == 0'
check_eq "with sch_roce, rxe loses no packet" "$(rxe h1 out_of_seq_request)" "$lost"
check_json "$(cat "$TMP/summary")" \
	"four queue pairs use three quarters of the link, the start included" '.[0].goodput_bps > 3000000000' \
	"four queue pairs get similar shares" '.[0].jain > 0.9'
rdma link del h0 && rdma link del h1
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Batches (net.ndp.gso_packets): packets that the sender passes on as one UDP GSO skb. They are segmented by a NIC, by
# the kernel, or not at all, or trimmed by a switch. Each message arrives intact and once.
#
#	+--------- a ---------+     +--------- b ---------+
#	| ndp_msg send -> w0  |=====| w1 -> receive       |	w0: closwire, which segments
#	+---------------------+     +---------------------+
#
#	h ---- s1 +-----+
#	i ---- s2 |  s  | s0 ------ v0 (r)			veth, which does not segment
#	          +-----+
# shellcheck disable=SC2154 # setup_ns sets the namespaces
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
need_ndp
. "$(dirname "$0")/../lib/ndp.sh"
setup_ns a b
wire_ab rate 500mbit delay 5us
ndp_v6_ab

# gso NS PACKETS: set the maximum number of packets in a batch
gso() { in_ns "$1" tee /proc/sys/net/ndp/gso_packets >/dev/null <<<"$2"; }
# batches NS: number of batches sent
batches() { snmp "$1" OutBatches; }
# start: remember the counters
# batched NAME NS PACKETS: check that batches of at most PACKETS packets were sent since `start`; 1: that none were sent
start() { before=("$(batches "$1")" "$(snmp "$1" OutBatched)"); }
batched() {
	local n=$(($(batches "$2") - before[0])) packets=$(($(snmp "$2" OutBatched) - before[1]))
	note "$1: $packets packets in $n batches"
	if [ "$3" -eq 1 ]; then
		check_eq "$1: no batches are sent" "$n $packets" "0 0"
	else
		check "$1: batches have at most $3 packets" test $n -gt 0 -a $packets -ge $((2 * n)) -a $packets -le $(($3 * n))
	fi
}
# sound NAME NS: check that no packet was malformed, as it would be after segmentation at the wrong places
sound() {
	check_eq "$1: no received packet is malformed" "$(snmp "$2" InShort InVersion InHdrCsum InValue InUdpCsum)" 0
}
mtus='1500 9000' offloads='on off' bounds='1 8 64' sizes=1,100,1400,1416,1417,10k,100k,300k
# fewer cases on an emulated machine, which is slow
[ -z "${KSFT_MACHINE_SLOW:-}" ] || mtus=1500 bounds='1 64' sizes=1,100,1400,1416,1417,10k,10k,30k
rx=(receive -n "$b" -p 9 -c 16 -l "$sizes" -q 10)
tx=(send -n "$a" -p 9 -c 16 -l "$sizes")

# ---- segmentation by the NIC

for mtu in $mtus; do
	ip -n "$a" link set w0 mtu "$mtu"
	ip -n "$b" link set w1 mtu "$mtu"
	for offload in $offloads; do
		check "ethtool turns tx-udp-segmentation $offload at MTU $mtu" \
			in_ns "$a" ethtool -K w0 tx-udp-segmentation "$offload"
		for most in $bounds; do
			what="MTU $mtu, offload $offload, $most packets"
			gso "$a" "$most"
			start "$a"
			messages "$what: all messages arrive" "${rx[@]}" -s 2 -- "${tx[@]}" -d 10.0.0.2 -- "${tx[@]}" -d 2001:db8::2
			batched "$what" "$a" "$most"
		done
	done
done
# many messages are queued at once, and sent when the NIC has room
start "$a"
messages "200 queued messages arrive" receive -n "$b" -p 9 -c 200 -l 1,100,1k,3k,10k -q 10 -- \
	send -n "$a" -d 10.0.0.2 -p 9 -c 200 -l 1,100,1k,3k,10k -w 1024
batched "queued messages" "$a" "$most"
check "ethtool turns scatter-gather off" in_ns "$a" ethtool -K w0 sg off tx off
messages "messages arrive without scatter-gather" "${rx[@]}" -s 2 -- "${tx[@]}" -d 10.0.0.2 -- "${tx[@]}" -d 2001:db8::2
in_ns "$a" ethtool -K w0 sg on tx on tx-udp-segmentation on >/dev/null
sound "segmentation by the NIC" "$b"

# ---- division into batches: a message of nine full packets and a short one on a new flow

ip -n "$a" link set w0 mtu 1500
ip -n "$b" link set w1 mtu 1500
# the packets of a batch have one band
in_ns "$a" tee /proc/sys/net/ndp/bands >/dev/null <<<1
# ten MAX BATCHES PACKETS: check that ten packets leave in BATCHES batches with PACKETS packets in total
ten() {
	gso "$a" "$1"
	start "$a"
	messages "message of ten packets arrives with gso_packets $1" receive -n "$b" -p 9 -c 1 -l 12844 -- \
		send -n "$a" -d 10.0.0.2 -p 9 -c 1 -l 12844 -w 64
	check_eq "ten packets leave as $2 batches of $3 packets with gso_packets $1" \
		"$(($(batches "$a") - before[0])) $(($(snmp "$a" OutBatched) - before[1]))" "$2 $3"
}
if [ -z "${KSFT_MACHINE_SLOW:-}" ]; then
	ten 1 0 0
	ten 2 5 10
	ten 4 3 10
fi
ten 3 3 9
ten 8 2 10
# more than 17 fragments would hold with separate headers
ten 64 1 10
gso "$a" 8

# ---- a VLAN, and a network that loses and corrupts packets

vlan_ab w
start "$a"
messages "messages arrive over a VLAN" "${rx[@]}" -- "${tx[@]}" -d 10.5.0.2
batched "VLAN" "$a" 8
sound "VLAN" "$b"
tc -n "$a" qdisc add dev w0 root netem limit 100000 loss 5% duplicate 5% corrupt 2% delay 100us 50us ||
	skip_all "no netem"
start "$a"
messages "messages arrive through netem" "${rx[@]}" -s 2 -- "${tx[@]}" -d 10.0.0.2 -- "${tx[@]}" -d 2001:db8::2
batched "netem" "$a" 8

# ---- no segmentation, and a switch that trims

setup_ns s r h i
ip -n "$s" link add br0 type bridge mcast_snooping 0 || skip_all "no bridges"
ip -n "$s" link set br0 up
n=0
for ns in r h i; do
	ip link add v0 netns "${!ns}" type veth peer name s$n netns "$s"
	ip -n "$s" link set s$n master br0 up
	ip -n "${!ns}" addr add 10.0.0.10$n/24 dev v0
	ip -n "${!ns}" link set v0 up
	n=$((n + 1))
done
wait_for 5 has_carrier "$r" v0
gso "$h" 64
gso "$i" 8
both=(receive -n "$r" -p 9 -s 2 -c 16 -l "$sizes" -q 10 --
	send -n "$h" -d 10.0.0.100 -p 9 -c 16 -l "$sizes" -- send -n "$i" -d 10.0.0.100 -p 9 -c 16 -l "$sizes")
start "$h"
received=$(snmp "$r" InPackets) skbs=$(packets "$r/v0" rx_packets)
messages "messages arrive through a bridge" "${both[@]}"
batched "bridge" "$h" 64
skbs=$(($(packets "$r/v0" rx_packets) - skbs)) received=$(($(snmp "$r" InPackets) - received))
check "batches pass a bridge as one skb" test $skbs -lt $received
tc -n "$s" qdisc add dev s0 root ndp limit 8 rate 200mbit
start "$h"
messages "messages arrive through a trimming switch" "${both[@]}"
batched "trimming switch" "$h" 64
sound "trimming switch" "$r"
check "switch trims packets of batches" test "$(total nacks)" -gt 0

# ---- loopback

ip -n "$h" link set lo mtu 1500 up
start "$h"
messages "messages arrive over loopback" receive -n "$h" -p 9 -c 16 -l "$sizes" -q 10 -- \
	send -n "$h" -d 127.0.0.1 -p 9 -c 16 -l "$sizes"
batched "loopback" "$h" 64
sound "loopback" "$h"
check "all flows are freed" wait_for 10 unused
finish

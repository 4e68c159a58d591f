#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Batches (net.ndp.gso_packets): packets that leave as one, by UDP GSO, and that a NIC cuts, or the
# kernel, or a switch that trims, or nobody: each message arrives whole, once, with each byte.
#
#	+--------- a ---------+     +--------- b ---------+
#	| ndp_msg send -> w0  |=====| w1 -> receive       |	w0: closwire, which cuts
#	+---------------------+     +---------------------+
#
#	h ---- s1 +-----+
#	i ---- s2 |  s  | s0 ------ v0 (r)			veth, which does not
#	          +-----+
# shellcheck disable=SC2154 # setup_ns sets the namespaces
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
need_ndp
. "$(dirname "$0")/../lib/ndp.sh"
setup_ns a b
wire_ab rate 500mbit delay 5us
ndp_v6_ab

# gso NS PACKETS
gso() { in_ns "$1" tee /proc/sys/net/ndp/gso_packets >/dev/null <<<"$2"; }
# batches NS: how many there were
batches() { snmp "$1" OutBatches; }
# batched WHAT NS PACKETS: since `start`, were there batches, of so many packets at most? 1: were there none?
start() { before=("$(batches "$1")" "$(snmp "$1" OutBatched)"); }
batched() {
	local n=$(($(batches "$2") - before[0])) packets=$(($(snmp "$2" OutBatched) - before[1]))
	note "$1: $packets packets in $n batches"
	if [ "$3" -eq 1 ]; then
		check_eq "$1: none leave as one" "$n $packets" "0 0"
	else
		check "$1: some leave as one" test $n -gt 0 -a $packets -ge $((2 * n)) -a $packets -le $(($3 * n))
	fi
}
# sound WHAT NS: what came can be read, or it was cut in wrong places; what is lost so is sent again, alone
sound() { check_eq "$1: no packet is spoilt" "$(snmp "$2" InShort InVersion InHdrCsum InValue InUdpCsum)" 0; }
mtus='1500 9000' offloads='on off' bounds='1 8 64' sizes=1,100,1400,1416,1417,10k,100k,300k
# an emulated machine has little time
[ -z "${KSFT_MACHINE_SLOW:-}" ] || mtus=1500 bounds='1 64' sizes=1,100,1400,1416,1417,10k,10k,30k
rx=(receive -n "$b" -p 9 -c 16 -l "$sizes" -q 10)
tx=(send -n "$a" -p 9 -c 16 -l "$sizes")

# ---- a NIC

for mtu in $mtus; do
	ip -n "$a" link set w0 mtu "$mtu"
	ip -n "$b" link set w1 mtu "$mtu"
	for offload in $offloads; do
		check "MTU $mtu: ethtool -K w0 tx-udp-segmentation $offload" \
			in_ns "$a" ethtool -K w0 tx-udp-segmentation "$offload"
		for most in $bounds; do
			what="MTU $mtu, offload $offload, $most packets"
			gso "$a" "$most"
			start "$a"
			messages "$what" "${rx[@]}" -s 2 -- "${tx[@]}" -d 10.0.0.2 -- "${tx[@]}" -d 2001:db8::2
			batched "$what" "$a" "$most"
		done
	done
done
# many messages wait at once, and go when the NIC has room
start "$a"
messages "many messages" receive -n "$b" -p 9 -c 200 -l 1,100,1k,3k,10k -q 10 -- \
	send -n "$a" -d 10.0.0.2 -p 9 -c 200 -l 1,100,1k,3k,10k -w 1024
batched "many messages" "$a" "$most"
check "without scatter-gather" in_ns "$a" ethtool -K w0 sg off tx off
messages "without scatter-gather" "${rx[@]}" -s 2 -- "${tx[@]}" -d 10.0.0.2 -- "${tx[@]}" -d 2001:db8::2
in_ns "$a" ethtool -K w0 sg on tx on tx-udp-segmentation on >/dev/null
sound "a NIC" "$b"

# ---- which packets go together: a message of nine packets and a rest, of a new flow

ip -n "$a" link set w0 mtu 1500
ip -n "$b" link set w1 mtu 1500
# ten MOST BATCHES PACKETS: so many batches there are, of so many packets in all
ten() {
	gso "$a" "$1"
	start "$a"
	messages "ten packets, $1 at once" receive -n "$b" -p 9 -c 1 -l 12844 -- \
		send -n "$a" -d 10.0.0.2 -p 9 -c 1 -l 12844
	check_eq "ten packets, $1 at once: batches, packets" \
		"$(($(batches "$a") - before[0])) $(($(snmp "$a" OutBatched) - before[1]))" "$2 $3"
}
if [ -z "${KSFT_MACHINE_SLOW:-}" ]; then
	ten 1 0 0
	ten 2 5 10
	ten 4 3 10
fi
ten 3 3 9
ten 8 2 10
gso "$a" 8

# ---- a VLAN, and a network that loses and spoils

for ns in a b; do
	dev=w$([ $ns = a ]; echo $?)
	ip -n "${!ns}" link add link "$dev" name "$dev.5" type vlan id 5 || skip_all "no VLAN devices"
	ip -n "${!ns}" link set "$dev.5" up
done
ip -n "$a" addr add 10.5.0.1/24 dev w0.5
ip -n "$b" addr add 10.5.0.2/24 dev w1.5
start "$a"
messages "VLAN" "${rx[@]}" -- "${tx[@]}" -d 10.5.0.2
batched "VLAN" "$a" 8
sound "VLAN" "$b"
tc -n "$a" qdisc add dev w0 root netem limit 100000 loss 5% duplicate 5% corrupt 2% delay 100us 50us ||
	skip_all "no netem"
start "$a"
messages "netem" "${rx[@]}" -s 2 -- "${tx[@]}" -d 10.0.0.2 -- "${tx[@]}" -d 2001:db8::2
batched "netem" "$a" 8

# ---- nobody cuts, but a switch that trims

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
came=$(snmp "$r" InPackets) skbs=$(packets "$r/v0" rx_packets)
messages "a bridge" "${both[@]}"
batched "a bridge" "$h" 64
skbs=$(($(packets "$r/v0" rx_packets) - skbs)) came=$(($(snmp "$r" InPackets) - came))
check "a bridge: batches arrive whole" test $skbs -lt $came
runs=$(snmp "$r" InRuns)
note "a bridge: $runs packets of $came are taken as runs"
check "a bridge: most are taken as runs" test $((2 * runs)) -gt "$came"
tc -n "$s" qdisc add dev s0 root ndp limit 8 rate 200mbit
start "$h"
messages "a switch that trims" "${both[@]}"
batched "a switch that trims" "$h" 64
sound "a switch that trims" "$r"
check "a switch that trims: it does" test "$(said nacks)" -gt 0

# ---- the host itself

ip -n "$h" link set lo mtu 1500 up
start "$h"
messages "loopback" receive -n "$h" -p 9 -c 16 -l "$sizes" -q 10 -- \
	send -n "$h" -d 127.0.0.1 -p 9 -c 16 -l "$sizes"
batched "loopback" "$h" 64
sound "loopback" "$h"
check "loopback: some are taken as runs" test "$(snmp "$h" InRuns)" -gt 0
check "nothing is left" wait_for 10 unused
finish

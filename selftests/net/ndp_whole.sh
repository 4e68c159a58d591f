#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Batches that arrive as one: over veth and loopback, after GRO, with packets missing, in regions, in small receive
# buffers, and batches that no sender makes. Forwarded batches are not changed.
#
#	+--------- a ---------+     +------- s -------+     +--------- b ---------+
#	| send -> v0          |=====| s0 - br0 - s1   |=====| v1 -> receive       |	or s0, s1 with routes
#	+---------------------+     +-----------------+     +---------------------+
# shellcheck disable=SC2154,SC2317 # setup_ns sets the namespaces; functions are called through wait_for
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/ndp.sh"
setup_ns a s b
for i in 0 1; do
	ns=$a mac=$MAC_A
	[ $i -eq 0 ] || ns=$b mac=$MAC_B
	ip link add v$i address "$mac" mtu 9000 netns "$ns" type veth peer name s$i mtu 9000 netns "$s"
	ip -n "$ns" addr add 10.0.0.$((i + 1))/24 dev v$i
	ip -n "$ns" link set v$i up
	ip -n "$s" link set s$i up
done
ip -n "$s" link add br0 type bridge mcast_snooping 0 || skip_all "no bridges"
ip -n "$s" link set s0 master br0
ip -n "$s" link set s1 master br0
ip -n "$s" link set br0 up
wait_for 5 has_carrier "$b" v1
ndp_v6 "$a" v0 2001:db8::1 2001:db8::2 "$MAC_B"
ndp_v6 "$b" v1 2001:db8::2 2001:db8::1 "$MAC_A"
loopback_up "$a"
ip -n "$a" link set lo mtu 9000

# gso PACKETS: set the maximum number of packets in a batch of a
gso() { in_ns "$a" tee /proc/sys/net/ndp/gso_packets >/dev/null <<<"$1"; }
# start: remember the counters
# whole NAME [NS]: check that NS (default b) has received batches since `start`, with 2 to 64 packets each
# single NAME [NS]: check that it has received no batch
start() {
	before=("$(snmp "$b" InBatches)" "$(snmp "$b" InBatched)" "$(snmp "$a" InBatches)" "$(snmp "$a" InBatched)")
}
since() {
	local i=0
	[ "$1" = "$b" ] || i=2
	n=$(($(snmp "$1" InBatches) - before[i])) packets=$(($(snmp "$1" InBatched) - before[i + 1]))
}
whole() {
	since "${2:-$b}"
	note "$1: $packets packets in $n batches"
	check "$1: batches arrive whole" test $n -gt 0 -a $packets -ge $((2 * n)) -a $packets -le $((64 * n))
}
single() {
	since "${2:-$b}"
	check_eq "$1: no batch arrives whole" "$n $packets" "0 0"
}
# sound NAME: check that no packet of a sender was malformed, as it would be if it were cut at the wrong places
malformed() { snmp "$b" InShort InVersion InHdrCsum InValue InUdpCsum; }
sound() { check_eq "$1: no received packet is malformed" "$(malformed)" "${odd:-0}"; }
mtus='1500 9000' sizes=1,100,1400,1416,1417,10k,100k,300k
# fewer cases on an emulated machine, which is slow
[ -z "${KSFT_MACHINE_SLOW:-}" ] || mtus=1500 sizes=1,100,1400,1417,10k,30k,100k
rx=(receive -n "$b" -p 9 -c 16 -l "$sizes" -q 10)
tx=(send -n "$a" -p 9 -c 16 -l "$sizes")
gso 64

# ---- no segmentation

for mtu in $mtus; do
	for end in "$a/v0" "$s/s0" "$s/s1" "$b/v1"; do
		ip -n "${end%/*}" link set "${end#*/}" mtu "$mtu"
	done
	start
	messages "MTU $mtu, IPv4: messages arrive" "${rx[@]}" -- "${tx[@]}" -d 10.0.0.2
	whole "MTU $mtu, IPv4"
	start
	messages "MTU $mtu, IPv6: messages arrive" "${rx[@]}" -- "${tx[@]}" -d 2001:db8::2
	whole "MTU $mtu, IPv6"
done
gso 1
start
messages "messages arrive in single packets" "${rx[@]}" -- "${tx[@]}" -d 10.0.0.2
single "single packets"
gso 64
start
messages "messages arrive over loopback" receive -n "$a" -p 9 -c 16 -l "$sizes" -q 10 -- "${tx[@]}" -d 127.0.0.1
whole "loopback" "$a"
vlan_ab v
start
messages "messages arrive over a VLAN" "${rx[@]}" -- "${tx[@]}" -d 10.5.0.2
whole "VLAN"
start
messages "messages arrive in order" receive -n "$b" -p 9 -c 16 -l "$sizes" -q 10 -s 4 -O -- \
	"${tx[@]}" -d 10.0.0.2 -S 4 -O
whole "in order"
sound "without segmentation"

# ---- memory

start
messages "messages arrive in a region" "${rx[@]}" -m 16777216 -- "${tx[@]}" -d 10.0.0.2
whole "region"
check_eq "messages in batches are placed" "$(total placed receive)" 16
for rcvbuf in 4096 32768 262144; do
	messages "messages arrive with a receive buffer of $rcvbuf bytes" \
		"${rx[@]}" -r $rcvbuf -s 2 -- "${tx[@]}" -d 10.0.0.2 -- "${tx[@]}" -d 2001:db8::2
done
start
messages "messages arrive in parts" "${rx[@]}" -r 262144 -b 1000 -- "${tx[@]}" -d 10.0.0.2
whole "parts"

# ---- clones: a packet socket receives the packets as well

if command -v tcpdump >/dev/null; then
	job ip netns exec "$b" tcpdump -i v1 -w /dev/null --immediate-mode 2>/dev/null
	start
	messages "messages arrive while they are captured" "${rx[@]}" -- "${tx[@]}" -d 10.0.0.2
	whole "capture"
	stop_jobs
fi

# ---- segmented, some packets lost, merged by GRO

in_ns "$a" ethtool -K v0 tx-udp-segmentation off >/dev/null || skip_all "veth always passes batches whole"
start
messages "messages arrive after segmentation" "${rx[@]}" -- "${tx[@]}" -d 10.0.0.2
single "segmentation"
# veth passes packets to GRO only if the other end has no TSO
in_ns "$s" ethtool -K s1 tso off >/dev/null
in_ns "$b" ethtool -K v1 gro on >/dev/null
start
messages "messages arrive through GRO" "${rx[@]}" -s 2 -- "${tx[@]}" -d 10.0.0.2 -- "${tx[@]}" -d 2001:db8::2
whole "GRO"
tc -n "$s" qdisc add dev s1 root netem limit 100000 loss 5% duplicate 5% || skip_all "no netem"
start
messages "messages arrive through GRO with packets missing" \
	"${rx[@]}" -s 2 -- "${tx[@]}" -d 10.0.0.2 -- "${tx[@]}" -d 2001:db8::2
whole "GRO with packets missing"
check "lost packets are retransmitted" test "$(total rtx)" -gt 0
tc -n "$s" qdisc del dev s1 root
in_ns "$b" ethtool -K v1 gro off >/dev/null
in_ns "$a" ethtool -K v0 tx-udp-segmentation on >/dev/null
sound "GRO"

# ---- batches that no sender makes

# forge IP KIND...: send batches of a KIND; prints how many the kernel accepted
forge() { in_ns "$a" "$(dirname "$0")/ndp_whole.py" v0 "$MAC_A" "$MAC_B" "$@"; }
# packet sockets send UDP batches since Linux 6.2
if [ -x /usr/bin/python3 ] && [ "$(forge 4 controls 2>/dev/null)" = 1 ]; then
	# grown BY COUNTER...: true if the sum of b's COUNTERs has grown by BY
	grown() { [ $(($(snmp "$b" "${@:2}") - past)) -eq "$1" ]; }
	# odd KIND IP BY COUNTER...: check that a batch adds BY to b's COUNTERs
	odd() {
		past=$(snmp "$b" "${@:4}")
		check_eq "IPv$2: batch \"$1\" is sent" \
			"$(forge "$2" "$1")" 1
		check "IPv$2: batch \"$1\" adds $3 to ${*:4}" wait_for 5 grown "$3" "${@:4}"
	}
	start
	# port 1000 has a socket
	job ndp_msg receive -n "$b" -p 1000 -l 1 -c 1000000 -f -t 1000
	wait_for 5 listens
	for ip in 4 6; do
		odd controls $ip 10 InControl
		odd controls $ip 10 InNoFlow
		odd trimmed $ip 10 InTrimmed
		odd returned $ip 4 InReturned
		odd unprivileged $ip 4 InBadSource
		odd strangers $ip 4 InNoFlow
		odd many $ip 65 InPackets
		odd flows $ip 4 InData
		odd cut $ip 4 InData InTrimmed
		odd tail $ip 4 InData InTrimmed
		odd parts $ip 4 InData
		odd begin $ip 4 InData
	done
	single "odd batches"
	check "random batches are sent" forge 4 random 1
	check "random batches are sent over IPv6" forge 6 random 2
	stop_jobs
	odd=$(malformed)
	# not read, so the receive buffer is full
	job ndp_msg receive -n "$b" -p 1000 -l 1 -c 1000000 -f -r 9000 -w 1000000 -t 1000
	wait_for 5 listens
	for ip in 4 6; do
		past=$(snmp "$b" InPackets)
		check_eq "IPv$ip: batch \"wasteful\" is sent" "$(forge $ip wasteful)" 9
		check "IPv$ip: a batch that wastes memory is processed in single packets" \
			wait_for 5 grown 10 InPackets
	done
	single "wasteful"
	stop_jobs
	messages "messages arrive after that" "${rx[@]}" -- "${tx[@]}" -d 10.0.0.2
fi

# ---- a router that receives NDP itself, and whose link segments

ip -n "$s" link del br0
ip -n "$s" addr add 10.0.0.3/24 dev s0
ip -n "$s" addr add 10.1.0.3/24 dev s1
ip -n "$b" addr flush dev v1
ip -n "$b" addr add 10.1.0.2/24 dev v1
ip -n "$a" route add 10.1.0.0/24 via 10.0.0.3
ip -n "$b" route add 10.0.0.0/24 via 10.1.0.3
in_ns "$s" tee /proc/sys/net/ipv4/ip_forward >/dev/null <<<1
messages "messages arrive at a router" receive -n "$s" -p 9 -c 16 -l "$sizes" -- "${tx[@]}" -d 10.0.0.3
check "batches arrive at a router whole" test "$(snmp "$s" InBatches)" -gt 0
routed=$(snmp "$s" InBatches)
for offload in on off; do
	in_ns "$s" ethtool -K s1 tx-udp-segmentation $offload >/dev/null
	start
	messages "messages are forwarded, segmentation offload $offload" "${rx[@]}" -- "${tx[@]}" -d 10.1.0.2
	if [ $offload = on ]; then whole "forwarded"; else single "forwarded and segmented"; fi
done
check_eq "the router receives no forwarded batch" "$(snmp "$s" InBatches)" "$routed"
sound "forwarded"
check "all flows are freed" wait_for 20 unused
finish

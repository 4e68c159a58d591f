#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Measures qdiscs with qdisc_bench, in a guest whose clock counts instructions.
# Usage: qdiscs.sh MODULES COUNT     MODULES: directory of qdisc_bench.ko; COUNT: packets per measurement
# Prints lines CASE<tab>PATTERN<tab>PACKET<tab>RESULT; RESULT is a line of qdisc_bench.
# Environment: CLOSNET_MODDIR (directory of the qdiscs' modules), TC_LIB_DIR (directory of the plug-ins)
set -eu
parameter=/sys/module/qdisc_bench/parameters/run
count=$2
device=bench0
two_bands=(prio bands 2 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1) # all packets go to the lower band

# qdisc CASE KIND...: set the qdisc of the following measurements
qdisc() {
	case=$1
	shift
	tc qdisc del dev $device root 2>/dev/null || true
	tc qdisc add dev $device root handle 1: "$@"
}

# measure PATTERN PACKET STANDING: one measurement
measure() {
	local line
	echo "$device $2 $3 $count" >$parameter
	while read -r line; do
		printf '%s\t%s\t%s\t%s\n' "$case" "$1" "$2" "$line"
	done <$parameter
}

# uncongested PACKET...: measure with an empty queue, and with 4 packets queued
uncongested() {
	local packet
	for packet in "$@"; do
		measure empty "$packet" 0
		measure standing "$packet" 4
	done
}

# many [PACKET]: measure with one packet of each of 1000 flows or queue pairs queued
many() { measure many "${1:-udp4-flows}" 1000; }

# trimming PACKET...: measure with a full data queue: each enqueue trims a packet, each dequeue returns a header
trimming() {
	local packet
	for packet in "$@"; do measure trim "$packet" 8; done
}

echo "# kernel $(uname -r)"
sed -n 's/^model name[^:]*:/# CPU/p' /proc/cpuinfo
for module in sch_ndp sch_dcqcn sch_pcrp sch_roce; do insmod "$CLOSNET_MODDIR/$module.ko"; done
insmod "$1/qdisc_bench.ko"
# without IPv6, the device transmits only the benchmark's packets
ip link add $device type dummy
echo 1 >/proc/sys/net/ipv6/conf/$device/disable_ipv6
ip link set $device up
ip addr add 10.0.0.1/24 dev $device # the packets' source, so that sch_pcrp treats them as the host's own

qdisc prio-2 "${two_bands[@]}"
uncongested udp4
qdisc prio-3 prio
uncongested udp4
qdisc prio-2-u32 "${two_bands[@]}"
tc filter add dev $device parent 1: protocol ip u32 match ip protocol 17 0xff match ip dport 61199 0xffff flowid 1:2
uncongested udp4
qdisc pfifo pfifo limit 1000
uncongested udp4
qdisc red red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 probability 0.1 bandwidth 10gbit
uncongested udp4 udp4-ect
qdisc red-marks red limit 400000 min 1000 max 2000 avpkt 500 burst 4 probability 1 bandwidth 10gbit ecn
measure standing udp4-ect 4
qdisc fq_codel fq_codel
uncongested udp4 udp4-ect
qdisc fq fq
uncongested udp4
many
qdisc htb htb default 1
tc class add dev $device parent 1: classid 1:1 htb rate 10gbit quantum 15140
uncongested udp4

qdisc ndp ndp ratio 100000 hlimit 1000000
uncongested udp4 udp6 udp4-frags udp4-cloned udp4-partial udp4-local udp4-short udp4-port9
trimming udp4 udp6 udp4-frags udp4-cloned udp4-partial udp4-local
qdisc ndp-all ndp match all ratio 100000 hlimit 1000000
uncongested udp4 tcp4 udp4-partial tcp4-partial tcp4-local
trimming tcp4 udp4-partial tcp4-partial tcp4-local
qdisc ndp-dscp ndp match dscp be,af11 ratio 100000 hlimit 1000000
uncongested udp4

# Marking probability with 4 packets queued: 0, then 4 % of Pmax, then 1
never=(kmin 1mb kmax 1mb)
qdisc dcqcn dcqcn "${never[@]}"
uncongested udp4-ect
qdisc dcqcn-draws dcqcn pmax 1%
measure standing udp4-ect 4
qdisc dcqcn-marks dcqcn kmin 0 kmax 0
measure standing udp4-ect 4
# lossless packets, accounted to the port itself as their ingress port
qdisc dcqcn-pool dcqcn "${never[@]}" pool bench
uncongested udp4-ect
qdisc dcqcn-pool-marks dcqcn kmin 0 kmax 0 pool bench
measure standing udp4-ect 4

# one flow or many, to a host without PCRP
qdisc pcrp pcrp
uncongested udp4
many
qdisc pcrp-nosrpt pcrp nosrpt
uncongested udp4
many

# RoCEv2 of one queue pair or many, and other traffic; no queue pair has been notified
qdisc roce roce
uncongested udp4 roce4
many roce4-qps

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Measures congestion controls with ack_bench, in a guest whose clock counts instructions.
# Usage: acks.sh MODULES COUNT     MODULES: directory of ack_bench.ko; COUNT: bursts per measurement
# Prints lines CASE<tab>PATTERN<tab>RESULT; RESULT is a line of ack_bench.
# Environment: CLOSNET_MODDIR (directory of closnet_cc.ko, nicclock.ko, tcp_timely.ko and tcp_dcqcn.ko)
set -eu
parameter=/sys/module/ack_bench/parameters/run
source=/proc/sys/net/ipv4/tcp_timely/source
counters=/proc/net/closnet/timely
count=$2
device=bench0

# measure CASE CONTROL PATTERN...
measure() {
	local pattern line
	for pattern in "${@:3}"; do
		echo "$2 $pattern $count" >$parameter || { dmesg | tail -n 1 >&2 && exit 1; }
		while read -r line; do
			printf '%s\t%s\t%s\n' "$1" "$pattern" "$line"
		done <$parameter
	done
}

# samples [GREP-OPTION...] SOURCE: the samples_* counter of an RTT source, or with -v the other ones
samples() { grep '^samples_' $counters | grep "${@:1:$#-1}" "^samples_${!#} "; }

# timely CASE SOURCE PATTERN...: measure tcp_timely; fail unless all RTT samples came from SOURCE
timely() {
	local own others
	echo "$2" >$source
	own=$(samples "$2")
	others=$(samples -v "$2")
	measure "$1" timely "${@:3}"
	if [ "$own" = "$(samples "$2")" ] || [ "$others" != "$(samples -v "$2")" ]; then
		echo "$1: not all RTT samples came from source $2; the counters are now:" >&2
		grep '^samples_' $counters >&2
		exit 1
	fi
}

echo "# kernel $(uname -r)"
sed -n 's/^model name[^:]*:/# CPU/p' /proc/cpuinfo
insmod "$1/ack_bench.ko"
# without IPv6, the device transmits only the benchmark's packets
echo 1 >/proc/sys/net/ipv6/conf/$device/disable_ipv6
ip link set $device up
ip address add 10.0.0.1/24 dev $device
modprobe -a tcp_bbr tcp_dctcp

for control in bench_none reno cubic dctcp bbr; do
	measure $control $control burst pair dup
done
measure cubic cubic data marked
measure dctcp dctcp ece data marked
insmod "$CLOSNET_MODDIR/closnet_cc.ko"
insmod "$CLOSNET_MODDIR/nicclock.ko"
insmod "$CLOSNET_MODDIR/tcp_timely.ko"
measure bbr-probed bbr burst pair dup
echo "timely burst 2000" >$parameter # nicclock needs 0.2 s to learn the NIC's clock
timely timely hw burst pair dup
timely timely-sw sw burst pair dup
timely timely-rtt rtt burst pair dup

insmod "$CLOSNET_MODDIR/tcp_dcqcn.ko"
echo 16 >/proc/sys/net/ipv4/tcp_dcqcn/seg_kb # a burst is one packet, as in the other measurements
measure dcqcn dcqcn burst pair dup ece data marked
measure cubic-probed cubic data marked

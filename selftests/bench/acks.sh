#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Measures the congestion controls of the table with ack_bench, in a guest that counts instructions.
# Usage: acks.sh MODULES COUNT     MODULES: directory of ack_bench.ko; COUNT: bursts a measurement
# Prints lines CASE<tab>PATTERN<tab>WHAT, WHAT being a line of ack_bench.
# Environment: CLOSNET_MODDIR (directory of nicclock.ko, tcp_timely.ko and tcp_dcqcn.ko)
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

# samples [GREP-OPTION...] SOURCE: the counters' lines about RTTs of that source
samples() { grep '^samples_' $counters | grep "${@:1:$#-1}" "^samples_${!#} "; }

# timely CASE SOURCE PATTERN...: measures it, and dies unless there were RTTs, all of that source
timely() {
	local of others
	echo "$2" >$source
	of=$(samples "$2")
	others=$(samples -v "$2")
	measure "$1" timely "${@:3}"
	if [ "$of" = "$(samples "$2")" ] || [ "$others" != "$(samples -v "$2")" ]; then
		echo "$1: not all RTTs were of source $2; now there are:" >&2
		grep '^samples_' $counters >&2
		exit 1
	fi
}

echo "# kernel $(uname -r)"
sed -n 's/^model name[^:]*:/# CPU/p' /proc/cpuinfo
insmod "$1/ack_bench.ko"
# no IPv6 on it: then the device sends nothing by itself
echo 1 >/proc/sys/net/ipv6/conf/$device/disable_ipv6
ip link set $device up
ip address add 10.0.0.1/24 dev $device
modprobe -a tcp_bbr tcp_dctcp

for control in bench_none reno cubic dctcp bbr; do
	measure $control $control burst pair dup
done
measure cubic cubic data marked
measure dctcp dctcp ece data marked
insmod "$CLOSNET_MODDIR/nicclock.ko"
insmod "$CLOSNET_MODDIR/tcp_timely.ko"
measure bbr-probed bbr burst pair dup
echo "timely burst 2000" >$parameter # nicclock learns the NIC's clock, from 0.2 s
timely timely hw burst pair dup
timely timely-sw sw burst pair dup
timely timely-rtt rtt burst pair dup

insmod "$CLOSNET_MODDIR/tcp_dcqcn.ko"
echo 16 >/proc/sys/net/ipv4/tcp_dcqcn/seg_kb # a burst is one packet, as with the others
measure dcqcn dcqcn burst pair dup ece data marked
measure cubic-probed cubic data marked

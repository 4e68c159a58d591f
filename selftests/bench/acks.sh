#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Measures the congestion controls of the table with ack_bench, in a guest that counts instructions.
# Usage: acks.sh MODULES COUNT     MODULES: directory of ack_bench.ko; COUNT: bursts a measurement
# Prints lines CASE<tab>PATTERN<tab>WHAT, WHAT being a line of ack_bench.
# Environment: CLOSNET_MODDIR (directory of nicclock.ko and tcp_timely.ko)
set -eu
parameter=/sys/module/ack_bench/parameters/run
source=/sys/module/tcp_timely/parameters/source
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

# samples: how many there were of each source
samples() { grep '^samples_' $counters; }

# timely CASE SOURCE PATTERN...: measures it, and dies unless there were RTTs, all of that source
timely() {
	local before after
	echo "$2" >$source
	before=$(samples)
	measure "$1" timely "${@:3}"
	after=$(samples)
	if [ "$(diff <(echo "$before") <(echo "$after") | sed -n 's/^> \([^ ]*\).*/\1/p')" != "samples_$2" ]; then
		printf '%s: not all RTTs were of source %s\nbefore:\n%s\nafter:\n%s\n' "$1" "$2" "$before" "$after" >&2
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
insmod "$CLOSNET_MODDIR/nicclock.ko"
insmod "$CLOSNET_MODDIR/tcp_timely.ko"
measure bbr-probed bbr burst pair dup
measure sync timely sparse >/dev/null # now nicclock knows the NIC's clock
timely timely hw burst pair dup
timely timely-sw sw burst pair dup
timely timely-rtt rtt burst pair dup

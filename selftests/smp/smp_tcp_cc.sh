#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The congestion controls on several CPUs: connections on one link open, change their congestion control, and close,
# while parameters change and counters are read.
#
#	+---------- a ----------+     +---------- b ----------+
#	| tcp_flow x 4 -> w0    |=====| w1 -> tcp_flow        |
#	+-----------------------+     +-----------------------+
# shellcheck disable=SC2154,SC2317 # setup_ns sets a and b; functions are called through loop
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/smp.sh"
need_closwire
need_cc timely
need_cc dcqcn
setup_ns a b
WIRE=(mtu 1500 numtxqueues 4)
wire_ab rate 1gbit delay 5us
need_sch dcqcn
tc -n "$a" qdisc add dev w0 root fq
tc -n "$b" qdisc add dev w1 root fq

# flow PORT STEP...
flow() { timeout 60 tcp_flow -t 50 -s "$a" -r "$b" -d 10.0.0.2 -p "$1" "${@:2}"; }
change_cc() {
	flow 5003 cc=timely connect send=200000 cc=dcqcn send=200000 cc=cubic send=100000 cc=timely send=100000 close eof
}
reverse() { flow 5004 listener-cc=dcqcn connect swap send=500000 close eof; }
counters() {
	local i
	for i in timely dcqcn; do
		in_ns "$a" cat "/proc/net/closnet/$i" && in_ns "$b" cat "/proc/net/closnet/$i" || return
	done
	in_ns "$a" ss -Htine && in_ns "$b" ss -Htine
}
# shellcheck disable=SC2016 # the inner shell expands
parameters() {
	in_ns "$a" bash -ec 'for f in /proc/sys/net/ipv4/tcp_{timely,dcqcn}/*; do v=$(<"$f") && echo "$v" >"$f"; done'
}
timestamping() {
	closwire_stamp config "$a/w0" 1 1 && sleep 0.5 && closwire_stamp config "$a/w0" 0 0 &&
		wire_set "$a/w0" clock_drift 5ppm
}

# before the loops, as it needs two CPUs at the same time
# shellcheck disable=SC2046 # words
check "a connection's information is read while its congestion control changes" \
	flow 5005 cc=timely connect watch $(printf 'cc=reno cc=timely %.0s' {1..10000})

loop "timely delivers data" flow 5001 cc=timely connect send=1000000 close eof
loop "dcqcn delivers data" flow 5002 cc=dcqcn connect send=1000000 close eof
loop "connections change their congestion control" change_cc
loop "the accepting side sends with dcqcn" reverse
loop "counters are read" counters
loop "parameters are written" parameters
loop "hardware timestamping is switched on and off" timestamping
stress "congestion control"
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Sockets change to and from timely in every possible way, and the module can be
# unloaded when no socket uses it. One-way delays as the signal.
#
#	+--------- a ---------+     +--------- b ---------+
#	| sender -> w0        |=====| w1 -> receiver      |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
need_cc timely
setup_ns a b
. "$(dirname "$0")/../lib/timely.sh"
. "$(dirname "$0")/../lib/tcp_switch.sh"
wire_ab rate 500mbit delay 20us
high_thresholds

test_sockets
check "sockets that change to timely have RTT samples" test "$(since samples_sw)" -ge 3
test_bursts
test_listener
check "accepted connections have RTT samples" \
	test $(($(cc_counter samples_sw "$b") + $(cc_counter samples_rtt "$b"))) -ge 5
check "prompt_ack=1 is accepted" params prompt_ack=1
check "prompt_ack=1 at both ends: all data arrives" flow listener-cc=timely cc=timely connect send=1000000 close eof
params prompt_ack=0
check "closed connections release the module" wait_for 10 unused

# ---- one-way delays

# usec_route NS DEV: TCP timestamps of connections to 10.0.0.0/24 are in µs; iproute2 has this since 6.8
usec_route() {
	ip netns exec "$1" /usr/bin/python3 - "$2" <<-'END'
		import socket, struct, sys
		def attribute(kind, data):
		    return struct.pack("HH", 4 + len(data), kind) + data
		# RTA_DST, RTA_OIF, RTA_METRICS with RTAX_FEATURES: RTAX_FEATURE_TCP_USEC_TS
		route = struct.pack("8BI", socket.AF_INET, 24, 0, 0, 254, 3, 253, 1, 0) + \
		    attribute(1, socket.inet_aton("10.0.0.0")) + \
		    attribute(4, struct.pack("I", socket.if_nametoindex(sys.argv[1]))) + \
		    attribute(8, attribute(12, struct.pack("I", 16)))
		with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as s:
		    # RTM_NEWROUTE; NLM_F_REQUEST, ACK, REPLACE, CREATE
		    s.send(struct.pack("IHHII", 16 + len(route), 24, 0x505, 1, 0) + route)
		    sys.exit(-struct.unpack_from("i", s.recv(4096), 16)[0])
	END
}
params signal=owd
mark
check "signal=owd without timestamps in µs: all data arrives" flow cc=timely connect send=1000000 close eof
check_eq "signal=owd without timestamps in µs: samples are RTTs" \
	"$(since samples_owd) $(($(since samples_sw) >= 5))" "0 1"
if usec_route "$a" w0 2>/dev/null && usec_route "$b" w1 2>/dev/null; then
	mark
	check "signal=owd: all data arrives" flow cc=timely connect send=2000000 close eof
	check "signal=owd: samples are one-way delays" test "$(since samples_owd)" -ge 10
	check "signal=owd: at most half of the samples are RTTs" test "$(since samples_sw)" -le "$(since samples_owd)"
	check_to "$TMP/info" "signal=owd with slow ACKs: all data arrives" flow cc=timely connect send=500000 \
		"run=ip -n $b link set w1 type closwire delay 1ms" send=500000 "$INFO" close eof
	wire_set "$b/w1" delay 20us
	if exact; then
		check "signal=owd ignores the delay of ACKs" \
			test "$(ss_number mrtt <"$TMP/info" | awk '{ print int($1 * 1000) }')" -le 500
	else
		skip "signal=owd ignores the delay of ACKs" "time is real"
	fi
else
	skip "signal=owd" "this kernel has no TCP timestamps in µs"
fi
params signal=rtt

# ---- namespaces

test_namespace

# ---- the module

test_module
check "nicclock cannot be unloaded while tcp_timely uses it" test ! "$(rmmod nicclock 2>/dev/null && echo gone)"
! module_loaded tcp_dcqcn || rmmod tcp_dcqcn
check "tcp_timely, nicclock and closnet_cc unload" rmmod tcp_timely nicclock closnet_cc
check_eq "unloading removes /proc/net/closnet" "$(ip netns exec "$a" ls /proc/net | grep -c closnet)" 0
load_module closnet_cc
load_module nicclock
load_module tcp_timely
finish

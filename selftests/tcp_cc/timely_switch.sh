#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Sockets get and lose the congestion control in each way there is, and the
# module goes when the last one has lost it.
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
calm_params

test_sockets
check "samples" test "$(since samples_sw)" -ge 3
test_bursts
test_listener
check "which sends with it" test $(($(cc_counter samples_sw "$b") + $(cc_counter samples_rtt "$b"))) -ge 5
check "prompt_ack, both sides" params prompt_ack=1
check "prompt_ack: all bytes arrive" flow listener-cc=timely cc=timely connect send=1000000 close eof
params prompt_ack=0
check "all have gone" wait_for 10 unused

# ---- one-way delays

# usec_route NS DEV: TCP stamps of connections to 10.0.0.0/24 are in us; iproute2 has that since 6.8
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
check "signal=owd without such time stamps: all bytes arrive" flow cc=timely connect send=1000000 close eof
check_eq "RTTs are those that there are" "$(since samples_owd) $(($(since samples_sw) >= 5))" "0 1"
if usec_route "$a" w0 2>/dev/null && usec_route "$b" w1 2>/dev/null; then
	mark
	check "signal=owd: all bytes arrive" flow cc=timely connect send=2000000 close eof
	check "samples of one-way delays" test "$(since samples_owd)" -ge 10
	check "nearly no others" test "$(since samples_sw)" -le "$(since samples_owd)"
	check_to "$TMP/info" "ACKs become slow: all bytes arrive" flow cc=timely connect send=500000 \
		"run=ip -n $b link set w1 type closwire delay 1ms" send=500000 "$INFO" close eof
	wire_set "$b/w1" delay 20us
	if exact; then
		check "the last RTT does not show it" test "$(ss_number mrtt <"$TMP/info" | awk '{ print int($1 * 1000) }')" -le 500
	else
		skip "the last RTT does not show it" "time is real"
	fi
else
	skip "one-way delays" "this kernel has no time stamps in us"
fi
params signal=rtt

# ---- namespaces

test_namespace

# ---- the module

test_module
check "nicclock is in use" test ! "$(rmmod nicclock 2>/dev/null && echo gone)"
! module_loaded tcp_dcqcn || rmmod tcp_dcqcn
check "both go" rmmod tcp_timely nicclock
check_eq "and what they showed" "$(ip netns exec "$a" ls /proc/net | grep -c closnet)" 0
load_module nicclock
load_module tcp_timely
finish

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
need_timely
setup_ns a b
. "$(dirname "$0")/../lib/timely.sh"
wire_ab rate 500mbit delay 20us
calm_params

# unused: does nothing refer to the module? A closed connection ends a little later.
unused() { [ "$(</sys/module/tcp_timely/refcnt)" -eq 0 ]; }

# ---- a socket's life

check "to others and back, with data in flight" flow cc=timely connect send=500000 \
	fill cc=cubic is=cubic receive send=500000 \
	fill cc=timely is=timely receive send=500000 \
	fill cc=reno receive fill cc=timely receive close eof
check_eq "each time is a beginning" "$(timely connections)" 3
mark
check "from another one, while it sends" flow cc=cubic connect send=500000 cc=timely send=1000000 close eof
check "samples" test "$(since samples_sw)" -ge 3
often=()
for ((i = 0; i < 30; i++)); do
	often+=(fill cc=reno fill cc=timely receive)
done
check "switched often" flow cc=timely connect "${often[@]}" close eof
check "set, never connected" flow cc=timely is=timely
check "set, another one set, connected" flow cc=timely cc=reno connect is=reno send=100000 close eof
mark
check "disconnected, and used again" flow cc=timely connect send=500000 disconnect connect is=timely send=500000 close eof
check_eq "as a new connection" "$(since connections)" 2
check "disconnected with data in flight, and used again" \
	flow cc=timely connect send=500000 fill disconnect connect is=timely send=500000 close eof
check "TCP_REPAIR, with data in flight" flow cc=timely connect send=500000 fill repair receive send=500000 close eof
check "all have gone" wait_for 10 unused

ip netns exec "$b" cat /proc/net/closnet/timely >"$TMP/before"
check "a listener hands it on" flow listener-cc=timely connect swap is=timely send=1000000 close eof
check_eq "to the connection" "$(timely connections "$b")" 1
check "which sends with it" test $(($(timely samples_sw "$b") + $(timely samples_rtt "$b"))) -ge 5
check "one that is closed by the other side" flow listener-cc=timely connect send=500000 close eof
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
else
	skip "one-way delays" "this kernel has no time stamps in us"
fi
params signal=rtt

# ---- namespaces

ip netns add "$a-new"
defer "ip netns del $a-new 2>/dev/null"
ip -n "$a-new" link set lo up
job timely_flow -s "$a-new" -r "$a-new" -d 127.0.0.1 cc=timely max-rate=1000000 connect send=300000 \
	"run=touch $TMP/started" "until=$TMP/stop"
check "a connection in a namespace" wait_for 30 test -e "$TMP/started"
ip netns del "$a-new"
check_refused "whose name goes: the module is in use" "is in use" rmmod tcp_timely
stop_jobs
check "when its process goes, too, it is not" wait_for 30 unused

# ---- the module

# not so fast that the others, or a debugging kernel, have no time
long_flow cc=timely max-rate=1000000 connect send=300000
check_refused "a connection: the module stays" "is in use" rmmod tcp_timely
check "the connection goes on to its end" end_flow
check "then it is not in use" wait_for 30 unused
long_flow cc=cubic max-rate=1000000 connect send=300000
reload() {
	local i
	for i in 1 2 3 4 5; do
		rmmod tcp_timely && load_module tcp_timely || return
		flow -p 5002 cc=timely connect send=200000 close eof || return
		wait_for 30 unused || return
	done
}
check "it goes and comes under others' connections" reload
check_eq "as new" "$(timely connections)" 1
check "they have all their bytes" end_flow
check "nicclock is in use" test ! "$(rmmod nicclock 2>/dev/null && echo gone)"
check "both go" rmmod tcp_timely nicclock
check_eq "and what they showed" "$(ip netns exec "$a" ls /proc/net | grep -c closnet)" 0
load_module nicclock
load_module tcp_timely
finish

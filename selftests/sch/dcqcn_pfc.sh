#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# PFC: what comes in faster than it goes out is paused, switch by switch, and
# nothing is lost; the thresholds are those of the formulas.
#
#	+- h1 --+     +------- s1 -------+     +------- s2 -------+     +-- h3 -+
#	| w0    |=====| p1               |     |                  |     |       |
#	+-------+     |      bridge   u0 |=====| u0  bridge    p3 |=====| w0    |
#	+- h2 --+     |                  |     |                  | slow|       |
#	| w0    |=====| p2               |     +------------------+     +-------+
#	+-------+     +------------------+
#
# All dcqcn are of priority 3, at the hosts, too, so that closwire knows a frame's priority.
# shellcheck disable=SC2317,SC2154 # functions are called by check and wait_for; setup_ns sets the namespaces
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/dcqcn.sh"
need_closwire
need_dcqcn
setup_ns h1 h2 h3 s1 s2

# A machine that is late brings frames in late, and many at a time: the lines are slow, the headroom is large.
if exact; then
	fast=10gbit slow=1gbit headroom=auto
else
	fast=100mbit slow=10mbit headroom=400000
fi
PORTS=(numtxqueues 8)

# plug_in NS/DEV NS/DEV RATE: a cable of 1 us
plug_in() {
	ip link add "${1#*/}" netns "${1%/*}" "${PORTS[@]}" type closwire delay 1us rate "$3" \
		peer name "${2#*/}" netns "${2%/*}" "${PORTS[@]}"
	ip -n "${1%/*}" link set "${1#*/}" up
	ip -n "${2%/*}" link set "${2#*/}" up
	wait_for 5 has_carrier "${1%/*}" "${1#*/}"
}

# bridge_of NS PORT...
bridge_of() {
	local ns=$1 port
	shift
	# a bridge that snoops joins a group, and says so
	ip -n "$ns" link add br0 type bridge mcast_snooping 0 || skip_all "no bridge"
	for port in "$@"; do
		ip -n "$ns" link set "$port" master br0
		ip -n "$ns" link set "$port" type bridge_slave learning off
	done
	ip -n "$ns" link set br0 up
}

# port NS/DEV ARGUMENT...: its qdisc
port() {
	local at=$1
	shift
	tc -n "${at%/*}" qdisc replace dev "${at#*/}" root dcqcn prio 3 "$@"
}

pool_of() { tc -n "${1%/*}" -s -j qdisc show dev "${1#*/}" | jq -c '.[0] | del(.options)'; }
frames() { packets "$h3/w0" rx_packets; }
# blast NS COUNT: full frames of priority 3 (CS3), at once
blast() { traffic udp -n "$1" -d 10.0.0.3 -p 9 -c "$2" -l 1472 -t 96 -b 400000; }

plug_in "$h1/w0" "$s1/p1" $fast
plug_in "$h2/w0" "$s1/p2" $fast
plug_in "$s1/u0" "$s2/u0" $fast
plug_in "$s2/p3" "$h3/w0" $slow
bridge_of "$s1" p1 p2 u0
bridge_of "$s2" u0 p3
mac=$(ip -n "$h3" -j link show w0 | jq -r '.[0].address')
bridge -n "$s1" fdb add "$mac" dev u0 master static
bridge -n "$s2" fdb add "$mac" dev p3 master static
for host in 3 1 2; do
	ns=h$host
	ip -n "${!ns}" addr add "10.0.0.$host/24" dev w0
	if [ $host -ne 3 ]; then
		ip -n "${!ns}" neigh add 10.0.0.3 lladdr "$mac" dev w0 nud permanent
		# nobody listens: h3 says so, and shall ask nobody where to
		ip -n "$h3" neigh add "10.0.0.$host" lladdr "$MAC_A" dev w0 nud permanent
	fi
	port "${!ns}/w0"
done

# ---- the pool

for p in p1 p2 u0; do
	port "$s1/$p" pool one buffer 1200000 headroom 10000
done
port "$s2/u0" pool one headroom "$headroom" xoff 60000
port "$s2/p3" pool one
check_json "$(pool_of "$s1/p1")" "three ports share 1200000 bytes without 3 * 8 headrooms of 10000" \
	'.pool | .ports == 3 and .headroom_bytes == 10000 and .xoff_bytes == (960000 / 24)'
check_json "$(pool_of "$s2/p3")" "a pool of that name in another namespace is another pool" \
	'.pool | .ports == 2 and .xoff_bytes == 60000'
tc -n "$s1" qdisc del dev u0 root
check "a port less: more for the others" dcqcn_is "$s1/p1" pool_xoff_bytes $((1040000 / 16))
port "$s1/u0" pool one xoff dynamic
check "dynamic: all that is free, if beta is the number of priorities" dcqcn_is "$s1/p1" pool_xoff_bytes 960000
port "$s1/u0" pool one beta 1
check "an eighth of it with beta 1" dcqcn_is "$s1/p1" pool_xoff_bytes 120000
port "$s1/p2" pool one pfc 3,5
check "two lossless priorities: less headroom, more for each" dcqcn_is "$s1/p1" pool_xoff_bytes 570000
before=$(tc -n "$s1" qdisc show dev p1)
check_refused "a buffer that the headrooms fill" "headroom of all ports" port "$s1/p1" pool one buffer 60000
check_refused "a port in two pools" "stays in its pool" port "$s1/p1" pool two
check_eq "they change nothing" "$(tc -n "$s1" qdisc show dev p1)" "$before"
port "$s1/p1" pool one headroom auto cable 1us
if exact; then
	# 2 * (1500 + 42) + 84 + 2 * 1250 + 3840
	check "headroom by rate, cable and MTU" dcqcn_is "$s1/p1" pool_headroom_bytes 9508
	ip -n "$s1" link set p1 mtu 1400
	check "it follows the MTU" dcqcn_is "$s1/p1" pool_headroom_bytes 9308
	ip -n "$s1" link set p1 mtu 1500
	wire_set "$s1/p1" rate 1gbit
	check "and the rate" dcqcn_is "$s1/p1" pool_headroom_bytes $((9508 - 2250))
	wire_set "$s1/p1" rate $fast
fi

# ---- a chain of switches

for p in p1 p2 u0; do
	port "$s1/$p" pool one buffer 12mb headroom "$headroom" xoff 60000 pfc all
done
port "$s2/p3" pool one rate 1kbit
check_eq "h1 sends" "$(blast "$h1" 150)" "sent 150 failed 0"
check_eq "h2 sends" "$(blast "$h2" 150)" "sent 150 failed 0"
for at in "$s2/u0" "$s1/p1" "$s1/p2"; do
	check "p3 sends nothing: ${at#*-} pauses" wait_for 20 dcqcn_has "$at" xoff_frames 1 3
done
port "$s2/p3" pool one rate 0
came() { [ "$(frames)" -ge "$1" ]; }
check "they come" wait_for 20 came 300
check_eq "and nothing else" "$(frames)" 300
for at in s1/p1 s1/p2 s2/u0; do
	ns=${at%/*}
	p=${!ns}/${at#*/}
	check_json "$(pool_of "$p")" \
		"$at sent XOFF, and XON after it" '.prio[0].xoff_frames >= .prio[0].xon_frames and .prio[0].xon_frames > 0' \
		"$at shows priority 3 alone" '[.prio[].prio] == [3]' \
		"$at: no more above the threshold than the headroom holds" \
		'.prio[0].headroom_peak_bytes > 0 and .prio[0].headroom_peak_bytes <= .pool.headroom_bytes' \
		"$at: nothing is dropped" '.prio[0].dropped_packets == 0 and .dropped_headroom_packets == 0 and .dropped_limit_packets == 0' \
		"$at: nothing is left" '.pool.bytes == 0 and .prio[0].ingress_bytes == 0 and .prio[0].headroom_bytes == 0'
	check_eq "$at: all its pause frames are on the wire" "$(counter "$p" tx_prio3_pause)" \
		$(($(dcqcn_stat "$p" xoff_frames 3) + $(dcqcn_stat "$p" xon_frames 3)))
	check_eq "$at: none of them names another priority" "$(counter "$p" tx_prio0_pause)" 0
done
check "p3 has nobody to pause" dcqcn_is "$s2/p3" xoff_frames 0 3
for at in "$h1/w0" "$h2/w0" "$s1/u0"; do
	check "${at#*-} has been paused" dcqcn_has "$at" paused_ns 1 3
done

# ---- one pause, to the frame

# At s2 alone 10 Gbit/s come in, 1 Gbit/s goes out. The threshold holds 39 frames. The one that crosses it is followed
# by those that had started when the pause was there: its own 67.2 ns and 1 us of cable, forth and back, are 2 frames.
if exact; then
	tc -n "$s2" qdisc del dev u0 root
	tc -n "$s2" qdisc del dev p3 root
	port "$s2/u0" pool one headroom auto cable 1us xoff 60000
	port "$s2/p3" pool one
	had=$(frames)
	blast "$h1" 60 >/dev/null
	check "60 frames come" wait_for 5 came $((had + 60))
	check_json "$(pool_of "$s2/u0")" "3 frames in the headroom" \
		'.prio[0].headroom_peak_bytes == 3 * 1514 and .prio[0].ingress_peak_bytes == 42 * 1514'
fi
finish

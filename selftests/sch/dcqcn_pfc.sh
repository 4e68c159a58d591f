#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# PFC: switches pause their upstream ports, hop by hop, when packets arrive faster
# than they leave. No packet is lost, and the thresholds follow the formulas.
#
#	+- h1 --+     +------- s1 -------+     +------- s2 -------+     +-- h3 -+
#	| w0    |=====| p1               |     |                  |     |       |
#	+-------+     |      bridge   u0 |=====| u0  bridge    p3 |=====| w0    |
#	+- h2 --+     |                  |     |                  | slow|       |
#	| w0    |=====| p2               |     +------------------+     +-------+
#	+-------+     +------------------+
#
# All dcqcn qdiscs have priority 3. The hosts have them so that closwire knows a frame's priority.
# shellcheck disable=SC2317,SC2154 # functions are called by check and wait_for; setup_ns sets the namespaces
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/dcqcn.sh"
need_closwire
need_dcqcn
setup_ns h1 h2 h3 s1 s2

# In real time, frames arrive late and in batches, so that links must be slow and the headroom large.
if exact; then
	fast=10gbit slow=1gbit headroom=auto
else
	fast=100mbit slow=10mbit headroom=400000
fi
PORTS=(numtxqueues 8)

# plug_in NS/DEV NS/DEV RATE: connect two ports by a cable of 1 µs
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
	# with multicast snooping, the bridge would send packets of its own
	ip -n "$ns" link add br0 type bridge mcast_snooping 0 || skip_all "no bridge"
	for port in "$@"; do
		ip -n "$ns" link set "$port" master br0
		ip -n "$ns" link set "$port" type bridge_slave learning off
	done
	ip -n "$ns" link set br0 up
}

# port NS/DEV ARGUMENT...: set the qdisc of a port
port() {
	local at=$1
	shift
	tc -n "${at%/*}" qdisc replace dev "${at#*/}" root dcqcn prio 3 "$@"
}

pool_of() { tc -n "${1%/*}" -s -j qdisc show dev "${1#*/}" | jq -c '.[0] | del(.options)'; }
frames() { packets "$h3/w0" rx_packets; }
# blast NS COUNT: send COUNT full frames of priority 3 (CS3) at once
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
		# h3 answers with ICMP errors; the entry avoids ARP requests for them
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
check_json "$(pool_of "$s1/p1")" "three ports share the buffer less 3 * 8 headrooms" \
	'.pool | .ports == 3 and .headroom_bytes == 10000 and .xoff_bytes == (960000 / 24)'
check_json "$(pool_of "$s2/p3")" "pools of the same name in two namespaces are independent" \
	'.pool | .ports == 2 and .xoff_bytes == 60000'
tc -n "$s1" qdisc del dev u0 root
check "removing a port raises the threshold of the others" dcqcn_is "$s1/p1" pool_xoff_bytes $((1040000 / 16))
port "$s1/u0" pool one xoff dynamic
check "xoff dynamic allows all free bytes if beta is the number of priorities" \
	dcqcn_is "$s1/p1" pool_xoff_bytes 960000
port "$s1/u0" pool one beta 1
check "xoff dynamic allows an eighth of the free bytes with beta 1" dcqcn_is "$s1/p1" pool_xoff_bytes 120000
port "$s1/p2" pool one pfc 3,5
check "two lossless priorities need less headroom and get a higher threshold" \
	dcqcn_is "$s1/p1" pool_xoff_bytes 570000
before=$(tc -n "$s1" qdisc show dev p1)
check_refused "a buffer without room beside the headrooms is refused" \
	"headroom of all ports" port "$s1/p1" pool one buffer 60000
check_refused "a port cannot change its pool" "pool cannot change" port "$s1/p1" pool two
check_eq "refused options change no setting" "$(tc -n "$s1" qdisc show dev p1)" "$before"
port "$s1/p1" pool one headroom auto cable 1us
if exact; then
	# 2 * (1500 + 42) + 84 + 2 * 1250 + 3840
	check "headroom auto is calculated from rate, cable and MTU" dcqcn_is "$s1/p1" pool_headroom_bytes 9508
	ip -n "$s1" link set p1 mtu 1400
	check "headroom auto follows the MTU" dcqcn_is "$s1/p1" pool_headroom_bytes 9308
	ip -n "$s1" link set p1 mtu 1500
	wire_set "$s1/p1" rate 1gbit
	check "headroom auto follows the rate" dcqcn_is "$s1/p1" pool_headroom_bytes $((9508 - 2250))
	wire_set "$s1/p1" rate $fast
fi

# ---- a chain of switches

for p in p1 p2 u0; do
	port "$s1/$p" pool one buffer 12mb headroom "$headroom" xoff 60000 pfc all
done
port "$s2/p3" pool one rate 1kbit
check_eq "h1 sends 150 packets" "$(blast "$h1" 150)" "sent 150 failed 0"
check_eq "h2 sends 150 packets" "$(blast "$h2" 150)" "sent 150 failed 0"
for at in "$s2/u0" "$s1/p1" "$s1/p2"; do
	check "${at#*-} sends XOFF while p3 is blocked" wait_for 20 dcqcn_has "$at" xoff_frames 1 3
done
port "$s2/p3" pool one rate 0
received() { [ "$(frames)" -ge "$1" ]; }
check "h3 receives all packets when p3 sends again" wait_for 20 received 300
check_eq "h3 receives no other packet" "$(frames)" 300
for at in s1/p1 s1/p2 s2/u0; do
	ns=${at%/*}
	p=${!ns}/${at#*/}
	check_json "$(pool_of "$p")" \
		"$at sends XON after XOFF" '.prio[0].xoff_frames >= .prio[0].xon_frames and .prio[0].xon_frames > 0' \
		"$at shows priority 3 only" '[.prio[].prio] == [3]' \
		"$at: the headroom holds the bytes above the threshold" \
		'.prio[0].headroom_peak_bytes > 0 and .prio[0].headroom_peak_bytes <= .pool.headroom_bytes' \
		"$at: no packet is dropped" \
		'.prio[0].dropped_packets == 0 and .dropped_headroom_packets == 0 and .dropped_limit_packets == 0' \
		"$at: pool and ingress bytes return to zero" \
		'.pool.bytes == 0 and .prio[0].ingress_bytes == 0 and .prio[0].headroom_bytes == 0'
	check_eq "$at: each counted pause frame was transmitted" "$(counter "$p" tx_prio3_pause)" \
		$(($(dcqcn_stat "$p" xoff_frames 3) + $(dcqcn_stat "$p" xon_frames 3)))
	check_eq "$at: no pause frame names another priority" "$(counter "$p" tx_prio0_pause)" 0
done
check "p3 sends no pause frame to the receiver" dcqcn_is "$s2/p3" xoff_frames 0 3
for at in "$h1/w0" "$h2/w0" "$s1/u0"; do
	check "${at#*-} counts the time of its pause" dcqcn_has "$at" paused_ns 1 3
done

# ---- one pause, to the frame

# At s2, packets arrive at 10 Gbit/s and leave at 1 Gbit/s. The threshold holds 39 frames. After the frame that crosses
# it, 2 more arrive: the pause frame takes 67.2 ns, and the cable 1 µs in each direction.
if exact; then
	tc -n "$s2" qdisc del dev u0 root
	tc -n "$s2" qdisc del dev p3 root
	port "$s2/u0" pool one headroom auto cable 1us xoff 60000
	port "$s2/p3" pool one
	had=$(frames)
	blast "$h1" 60 >/dev/null
	check "60 frames pass at 10 Gbit/s to 1 Gbit/s" wait_for 5 received $((had + 60))
	check_json "$(pool_of "$s2/u0")" "3 frames use the headroom during a pause" \
		'.prio[0].headroom_peak_bytes == 3 * 1514 and .prio[0].ingress_peak_bytes == 42 * 1514'
fi
finish

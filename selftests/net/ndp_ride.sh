#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Acknowledgments ride on data: a request and its response cost two packets. If the response is late, a CONTROL packet
# has the acknowledgment in time. Carriers that are lost or trimmed do no harm.
#
#	+------ a ------+    +--------- s ---------+    +------ b ------+
#	| ndp_rpc  v0   |====| s0   ndp_relay   s1 |====| v1   ndp_rpc  |	veth, 10.0.1.0/24
#	|          w0   |============================== | w1            |	closwire, 10.0.0.0/24
#	+---------------+                               +---------------+
# shellcheck disable=SC2154 # setup_ns sets the namespaces
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
need_ndp
. "$(dirname "$0")/../lib/ndp.sh"

# topology: make the namespaces and their links
topology() {
	setup_ns a s b
	wire_ab rate 500mbit delay 5us
	ndp_v6_ab
	ip link add v0 netns "$a" type veth peer name s0 netns "$s"
	ip link add v1 netns "$b" type veth peer name s1 netns "$s"
	ip -n "$a" addr add 10.0.1.1/24 dev v0
	ip -n "$b" addr add 10.0.1.2/24 dev v1
	local port
	for port in "$s/s0" "$s/s1" "$a/v0" "$b/v1"; do
		ip -n "${port%/*}" link set "${port#*/}" up
	done
	# software checksums, because the relay has no NIC that could add them
	in_ns "$a" ethtool -K v0 tx off >/dev/null
	in_ns "$b" ethtool -K v1 tx off >/dev/null
	wait_for 5 has_carrier "$a" v0
}

# counted NAME...: sum of the counters of both hosts
counted() { echo $(($(snmp "$a" "$@") + $(snmp "$b" "$@"))); }
# rpc NAME ADDRESS COUNT SIZE [WAIT [PAUSE]]: exchange requests and responses. Sets $rode, $came, $controls, $rtx and $timeouts to
# the increases of both hosts' counters, and $rtt to the client's round-trip time.
rpc() {
	local counters=(OutDataAck InDataAck OutControl OutRtx SndTimeouts) before=() after=() counter
	for counter in "${counters[@]}"; do before+=("$(counted "$counter")"); done
	check_to "$TMP/rpc" "$1" ndp_rpc "$a" "$b" "${@:2}"
	# the last ACK may still be deferred
	sleep 0.01
	for counter in "${counters[@]}"; do after+=("$(counted "$counter")"); done
	rode=$((after[0] - before[0])) came=$((after[1] - before[1])) controls=$((after[2] - before[2]))
	rtx=$((after[3] - before[3])) timeouts=$((after[4] - before[4]))
	rtt=$(sed -n 's/.* rtt_ns=\([0-9]*\).*/\1/p' "$TMP/rpc")
	note "$1: $(<"$TMP/rpc"); $rode ACKs rode, $controls CONTROLs, $rtx retransmissions, $timeouts timeouts"
}

# rides NAME ADDRESS COUNT SIZE [WAIT]: check that the acknowledgments of nearly all messages ride
rides() {
	rpc "$1: all responses arrive" "${@:2}"
	exact || return 0
	check "$1: acknowledgments ride" test "$rode" -ge $((2 * $3 - 10))
	check_eq "$1: each carried acknowledgment arrives" "$came" "$rode"
	check_eq "$1: no packet is retransmitted" "$rtx" 0
}
# two_packets NAME ADDRESS COUNT SIZE [WAIT]: the same, with messages of one packet
two_packets() {
	rides "$@"
	! exact || check "$1: few CONTROL packets are sent" test "$controls" -le 10
}

# ---- requests and responses

topology
two_packets "requests of 1 KB" 10.0.0.2 200 1000
! exact || check "a carried acknowledgment measures the round-trip time" test "$rtt" -gt 0 -a "$rtt" -lt 100000
fast=$rtt
rides "requests of 20 KB" 10.0.0.2 100 20000
two_packets "requests over IPv6" 2001:db8::2 100 1000
two_packets "a server that waits for 60 µs" 10.0.0.2 200 1000 60
! exact || check "the wait is no part of the round-trip time" test "$rtt" -lt $((fast + 5000))

# ---- no data that could carry the acknowledgment

rpc "a server that waits for 300 µs: all responses arrive" 10.0.0.2 200 1000 300
if exact; then
	check "a server that waits for 300 µs: CONTROL packets have its acknowledgments" test "$controls" -ge 190
	check_eq "a server that waits for 300 µs: no packet is retransmitted" "$rtx" 0
fi
ridden=$(counted OutDataAck)
messages "messages in one direction arrive" \
	receive -n "$b" -p 9 -c 100 -l 1000 -- send -n "$a" -d 10.0.0.2 -p 9 -c 100 -l 1000
check_eq "no acknowledgment rides without data in the other direction" "$(counted OutDataAck)" "$ridden"

# ---- carriers are lost, duplicated, late

netem_ab
for bad in "loss 10%" "duplicate 20%" "delay 100us 80us" "loss 5% duplicate 5% corrupt 2% delay 300us 200us reorder 10%"; do
	# shellcheck disable=SC2086 # $bad are words
	netem_ab $bad
	rpc "responses arrive with $bad" 10.0.0.2 200 1000
done

# ---- carriers are trimmed

# trimmed NAME BYTES: exchange messages through a switch that trims to BYTES of NDP's header. The client pauses for longer
# than the timeout, so that no later acknowledgment covers one that was lost.
trimmed() {
	ndp_relay -a "$s/s0" -b "$s/s1" -t 20 -k "$2" >"$TMP/relay" &
	local relay=$!
	JOBS+=("$relay")
	rpc "$1: all responses arrive" 10.0.1.2 200 1000 0 3000
	kill $relay
	wait $relay || true
	note "$1: $(<"$TMP/relay")"
	exact || return 0
	check "$1: acknowledgments ride" test "$rode" -gt 0
	check_eq "$1: no packet times out" "$timeouts" 0
}
trimmed "carriers keep their header" 56
trimmed "carriers lose their acknowledgment" 16
stop_jobs
check "all flows are freed" wait_for 20 unused

# ---- with a key

ip netns del "$a"
ip netns del "$s"
ip netns del "$b"
NAMESPACES=()
topology
for ns in "$a" "$b"; do
	in_ns "$ns" tee /proc/sys/net/ndp/key >/dev/null <<<00112233-44556677-8899aabb-ccddeeff
done
two_packets "requests with a key" 10.0.0.2 200 1000
trimmed "carriers keep their header and tag" 64
check_eq "each packet has a valid tag" "$(counted InBadTag)" 0
finish

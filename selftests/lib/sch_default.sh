# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A qdisc as net.core.default_qdisc: mq has one as a child for each TX queue of a device. A test sources this file after
# lib.sh and calls test_default.
# shellcheck disable=SC2317,SC2154,SC2034 # check calls functions; setup_ns sets a and b; wire_ab reads WIRE

default_qdisc=/proc/sys/net/core/default_qdisc
default_before=$(<$default_qdisc)
defer "echo $default_before >$default_qdisc"

# wire_stats FILTER: apply a jq filter to the statistics of w0's qdiscs
wire_stats() { tc -n "$a" -s -j qdisc show dev w0 | jq "$1"; }

# children COUNT: true if w0 has COUNT qdiscs of the kind under test
children() { [ "$(wire_stats "[.[] | select(.kind == \"$SCH\")] | length")" -eq "$1" ]; }

# wire_drained: true if no packet is queued at w0
wire_drained() { [ "$(wire_stats '[.[].qlen] | add')" -eq 0 ]; }

# all_accounted COUNT: true if each of COUNT packets, and each that the qdiscs made, was received or counted as a drop
all_accounted() {
	local received dropped made
	received=$(packets "$b/w1" rx_packets)
	dropped=$(wire_stats '[.[] | select(.kind == "mq") | .drops] | add')
	made=$(wire_stats '[.[] | .requests_sent // 0, .probes_sent // 0] | add')
	[ $((received + dropped)) -eq $(($1 + made)) ] ||
		{ echo "$received received, $dropped dropped, $made made" && return 1; }
}

# default_case QUEUES RING: send eight flows over a device with QUEUES TX queues, each with a ring of RING packets
default_case() {
	local name="$SCH on $1 TX queues, rings of $2" flow flows=()
	echo "$SCH" >$default_qdisc
	WIRE=(numtxqueues "$1")
	wire_ab rate 100mbit delay 1us ring "$2"
	echo "$default_before" >$default_qdisc
	check "$name: mq has $1 children of the default kind" children "$1"
	for flow in 1 2 3 4 5 6 7 8; do
		traffic udp -n "$a" -d 10.0.0.2 -p $((9000 + flow)) -c 300 -l 1000 -t $((flow * 32 - 32)) &
		flows+=($!)
	done >"$TMP/sent"
	wait "${flows[@]}"
	check "$name: no packet is left in a queue of the idle link" wait_for 10 wire_drained
	check "$name: each packet arrived or was counted as a drop" \
		all_accounted "$(awk '{ n += $2 } END { print n }' "$TMP/sent")"
	check "$name: the qdisc can be replaced and deleted" eval \
		"tc -n $a qdisc replace dev w0 root handle 9: mq && tc -n $a qdisc del dev w0 root"
	ip -n "$a" link del w0
}

# test_default KIND: test the qdisc KIND with few and many TX queues, and rings that are always full, and finish
test_default() {
	need_closwire
	need_sch "$1"
	setup_ns a b
	default_case 2 256
	default_case 8 2
	default_case 8 8
	default_case 16 256
	finish
}

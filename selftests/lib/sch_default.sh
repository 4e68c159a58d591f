# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A qdisc as net.core.default_qdisc: the child of mq for each TX queue of a device. A test sources this after setup_ns,
# and calls test_default.
# shellcheck disable=SC2317,SC2154,SC2034 # check calls functions; setup_ns sets a and b; wire_ab reads WIRE

default_qdisc=/proc/sys/net/core/default_qdisc
default_before=$(<$default_qdisc)
defer "echo $default_before >$default_qdisc"

# wire_stats FILTER: a number out of what tc shows of w0
wire_stats() { tc -n "$a" -s -j qdisc show dev w0 | jq "$1"; }

# children COUNT: are there so many qdiscs of the kind?
children() { [ "$(wire_stats "[.[] | select(.kind == \"$SCH\")] | length")" -eq "$1" ]; }

# wire_drained: does no packet wait at w0?
wire_drained() { [ "$(wire_stats '[.[].qlen] | add')" -eq 0 ]; }

# all_accounted COUNT: has each of COUNT packets come, or been counted as a drop?
all_accounted() {
	local came dropped
	came=$(packets "$b/w1" rx_packets)
	dropped=$(wire_stats '[.[] | select(.kind == "mq") | .drops] | add')
	[ $((came + dropped)) -eq "$1" ] || { echo "$came came, $dropped were dropped" && return 1; }
}

# default_case QUEUES RING: eight flows over a device with so many TX queues, each of RING packets
default_case() {
	local name="$SCH on $1 TX queues, rings of $2" flow flows=()
	echo "$SCH" >$default_qdisc
	WIRE=(numtxqueues "$1")
	wire_ab rate 100mbit delay 1us ring "$2"
	echo "$default_before" >$default_qdisc
	check "$name: mq has $1 of them" children "$1"
	for flow in 1 2 3 4 5 6 7 8; do
		traffic udp -n "$a" -d 10.0.0.2 -p $((9000 + flow)) -c 300 -l 1000 -t $((flow * 32 - 32)) &
		flows+=($!)
	done >"$TMP/sent"
	wait "${flows[@]}"
	check "$name: no packet waits on the idle line" wait_for 10 wire_drained
	check "$name: each packet arrived or was counted as a drop" all_accounted "$(awk '{ n += $2 } END { print n }' "$TMP/sent")"
	check "$name: it can be replaced and deleted" eval \
		"tc -n $a qdisc replace dev w0 root handle 9: mq && tc -n $a qdisc del dev w0 root"
	ip -n "$a" link del w0
}

# test_default: few and many TX queues, and rings that are full all the time
test_default() {
	default_case 2 256
	default_case 8 2
	default_case 8 8
	default_case 16 256
}

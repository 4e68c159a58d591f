#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every parameter changes, and the qdisc is replaced and deleted, while traffic
# overloads it. Afterwards all queues are empty, and each packet was sent or
# counted as dropped.
#
#	+--------- a ---------+     +--------- b ---------+
#	| traffic -> v0: tree |=====| v1                  |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_roce
setup_ns a b
link_ab
. "$(dirname "$0")/../lib/sch_change.sh"

# flood: datagrams to RoCEv2's port, some with GSO, and to another one; their numbers go to $TMP/sent.*
flood() {
	job traffic udp -n "$a" -d 10.0.0.2 -p 4791 -R 3 -t 2 -l 1400 >"$TMP/sent.1"
	job traffic udp -n "$a" -d 10.0.0.2 -p 4791 -R 5 -l 1000 -g 8 >"$TMP/sent.2"
	job traffic udp -n "$a" -d 10.0.0.2 -p 9 -l 3000 >"$TMP/sent.3"
}

# changes: change each parameter
changes() {
	cat <<-END
		profile nic
		profile paper
		profile tuned
		rpg_time_reset 1us rpg_byte_reset 1 rpg_threshold 1
		rpg_time_reset 0 rpg_byte_reset 0 rpg_threshold 0
		rpg_ai_rate 1mbit rpg_hai_rate 1mbit
		rpg_min_rate 1gbit rpg_max_rate 1mbit
		rpg_min_rate 0 rpg_max_rate 10mbit
		rpg_max_rate 0
		dce_tcp_g 1 dce_tcp_rtt 1us initial_alpha_value 0%
		dce_tcp_g 0 dce_tcp_rtt 0 initial_alpha_value 100%
		rate_reduce_monitor_period 1s order alpha_first
		order cut_first
		noect
		ect
		cnp pass
		nonp
		np np_min_time_between_cnps 1us np_cnp_dscp 0 np_cnp_prio 0 ce clear
		limit 1
		limit 10000 qp_limit 1
		qp_limit 1000 other_limit 1
		other_limit 1000
		idle 1ms
		idle 10s
		overhead 256
		overhead 0
		rate 0
		rate 1mbit
		rate 50mbit
	END
}

# shellcheck disable=SC2034 # for sch_change.sh
{
	CHANGE_BEGIN="rate 50mbit"
	CHANGE_ALL="limit 100000 qp_limit 100000 other_limit 100000"
	CHANGE_QUEUES=".roce, .cnp, .other"
	CHANGE_DROPS="[.dropped_limit_packets, .dropped_qp_packets, .dropped_other_packets, .dropped_gso_packets,
		.dropped_cnp_packets] | add"
}
test_changes
finish

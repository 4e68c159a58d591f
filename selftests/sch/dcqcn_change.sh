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
need_dcqcn
setup_ns a b
link_ab
. "$(dirname "$0")/../lib/sch_change.sh"

# flood: datagrams of three priorities, some with GSO, some not ECN-capable; their numbers go to $TMP/sent.*
flood() {
	job traffic udp -n "$a" -d 10.0.0.2 -p 9 -t 2 -l 1400 >"$TMP/sent.1"
	job traffic udp -n "$a" -d 10.0.0.2 -p 9 -t 98 -l 1000 -g 8 >"$TMP/sent.2"
	job traffic udp -n "$a" -d 10.0.0.2 -p 9 -t 160 -l 3000 >"$TMP/sent.3"
}

# changes: change each parameter
changes() {
	cat <<-END
		limit 64
		limit 10000
		limit 10mb
		kmin 0
		kmin 0 kmax 0
		kmin 5000 kmax 5000
		kmin 5kb kmax 200kb
		pmax 100%
		pmax 0%
		pmax 20%
		nonect drop
		nonect pass
		prio 3
		prio 0
		prio 7
		prio packet
		stall 1ms
		stall 1ms stall_drop
		stall off
		nostall_drop
		stall 100ms
		rate 0
		rate 1mbit overhead 100
		rate 50mbit overhead 0
		pool sw0
		pool sw0 buffer 100kb headroom 2000 pfc none
		pool sw0 xoff dynamic beta 1
		pool sw0 xoff 20kb pfc 3
	END
}

# shellcheck disable=SC2034 # for sch_change.sh
{
	CHANGE_BEGIN="rate 50mbit"
	CHANGE_ALL="limit 10mb"
	CHANGE_QUEUES="{qlen_packets: .qlen, backlog_bytes: .backlog, sent_packets: .packets, sent_bytes: .bytes}"
	CHANGE_DROPS="[.dropped_limit_packets, .dropped_nonect_packets, .dropped_headroom_packets, .dropped_stalled_packets,
		.dropped_nomem_packets, .dropped_gso_packets] | add"
}
test_changes
finish

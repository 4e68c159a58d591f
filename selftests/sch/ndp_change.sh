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
need_ndp
setup_ns a b
link_ab
. "$(dirname "$0")/../lib/sch_change.sh"

# flood: NDP datagrams, some with GSO, and other traffic; their numbers go to $TMP/sent.*
# Only NDP traffic uses GSO, as ndp counts a dropped GSO packet of other traffic as one packet.
flood() {
	job traffic udp -n "$a" -d 10.0.0.2 -p 61199 -l 1400 >"$TMP/sent.1"
	job traffic udp -n "$a" -d 10.0.0.2 -p 61199 -l 1000 -g 8 >"$TMP/sent.2"
	job traffic udp -n "$a" -d 10.0.0.2 -p 9 -l 3000 >"$TMP/sent.3"
}

# changes: change each parameter
changes() {
	cat <<-END
		limit 1
		limit 200
		limit_bytes 3000
		limit_bytes auto
		hlimit 64
		hlimit 100000
		hlimit auto
		ratio 1
		ratio 10
		trim_size 64
		trim_size 9216
		trim_size 128
		mode cp
		mode droptail
		mode ndp
		mode droptail limit 2
		mode cp limit 50 hlimit 2000
		mode ndp limit 8
		match all
		match dscp 0-10
		match udp_port 61199
		dscp_trimmed 30
		dscp_returned 31
		dscp_trimmed 48 dscp_returned 49
		rate 0
		rate 1mbit overhead 100
		rate 50mbit overhead 0
		other_limit 3000
		other_limit 1000000
		other_limit auto
		other_ecn 1
		other_ecn 0
	END
}

CHANGE_BEGIN="rate 50mbit"
CHANGE_ALL="match all hlimit 100000"
CHANGE_QUEUES=".data, .header, .other"
CHANGE_DROPS=".dropped_data_packets + .dropped_header_packets + .dropped_returned_packets + .dropped_other_packets +
	.dropped_gso_packets + .dropped_nomem_packets"
test_changes
finish

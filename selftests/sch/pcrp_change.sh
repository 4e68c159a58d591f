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
need_sch pcrp
setup_ns a b
link_ab
# A second instance keeps the static key of ingress hooks enabled. Otherwise each change would patch kernel code, at
# which emulators trap.
ip link add x0 netns "$b" type veth peer name x1 netns "$b"
tc -n "$b" qdisc add dev x0 root pcrp
. "$(dirname "$0")/../lib/sch_change.sh"

# flood: datagrams of three flows; their numbers go to $TMP/sent.*
flood() {
	job traffic udp -n "$a" -d 10.0.0.2 -p 9 -t 2 -l 1400 >"$TMP/sent.1"
	job traffic udp -n "$a" -d 10.0.0.2 -p 10 -t 98 -l 1000 >"$TMP/sent.2"
	job traffic udp -n "$a" -d 10.0.0.2 -p 11 -t 160 -l 3000 >"$TMP/sent.3"
}

# changes: change each parameter; the last one prevents REQUESTs
changes() {
	cat <<-END
		profile paper
		profile tuned
		limit 1
		limit 1000000
		limit 64
		chain 256
		chain 1gb
		chain auto
		first 256
		first 100kb
		grants 1
		grants 64 noevict
		grants 8 evict
		mfwt off
		mfwt 1us
		mfwt auto
		eu
		nosrpt
		srpt
		noeu
		hold 1ms
		hold 10s
		hold 100ms
		window 20us
		window off
		spec 1000:2000:3000
		spec auto
		map off
		map 0:1,7:63
		map 0:56,1:48,2:40,3:32,4:24,5:16,6:8,7:1
		rate 0
		rate 1mbit overhead 100
		rate 50mbit overhead 0
		first 1gb
	END
}

# shellcheck disable=SC2034 # for sch_change.sh
{
	CHANGE_BEGIN="rate 50mbit"
	CHANGE_ALL="first 1gb"
	CHANGE_QUEUES="({qlen_packets: (.flows_ready + .flows_waiting), backlog_bytes: 0, sent_bytes: .bytes,
		sent_packets: ((.prio_packets | add) + .top_packets + .ungated_packets)})"
	CHANGE_DROPS=".dropped_limit_packets + .dropped_top_packets + .dropped_nomem_packets"
	CHANGE_MADE=".requests_sent + .probes_sent"
}
test_changes
finish

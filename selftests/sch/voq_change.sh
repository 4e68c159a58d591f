#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every parameter changes, and the qdisc is replaced and deleted, while traffic overloads it. Afterwards all queues are
# empty, and each packet was sent or counted as dropped.
#
#	+--------- a ---------+     +--------- b ---------+
#	| traffic -> v0: tree |=====| v1                  |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_voq
setup_ns a b
link_ab
ip -n "$b" addr add 10.0.0.3/24 dev v1
# no neighbour is resolved while packets are counted
for address in 10.0.0.2 10.0.0.3; do
	ip -n "$a" neigh replace $address dev v0 lladdr "$(ip netns exec "$b" cat /sys/class/net/v1/address)" nud permanent
done
. "$(dirname "$0")/../lib/sch_change.sh"

# flood: datagrams to two addresses, some with GSO; their numbers go to $TMP/sent.*
flood() {
	job traffic udp -n "$a" -d 10.0.0.2 -p 9 -l 1400 >"$TMP/sent.1"
	job traffic udp -n "$a" -d 10.0.0.3 -p 9 -l 3000 >"$TMP/sent.2"
	job traffic udp -n "$a" -d 10.0.0.3 -p 9 -l 100 >"$TMP/sent.3"
}

# changes: change each parameter
changes() {
	cat <<-END
		limit 1
		limit 10000 voq_limit 1
		voq_limit 1000
		quantum 256
		quantum 1mb
		quantum 3028
		voq_rate 1mbit
		voq_rate 10gbit
		voq_rate 0
		credit_size 256 rtt 1us retry 10us
		credit_size 1mb rtt 1s retry 1s
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
	CHANGE_ALL="limit 100000 voq_limit 100000"
	CHANGE_QUEUES="{qlen_packets: .qlen, backlog_bytes: .backlog, sent_packets: .packets, sent_bytes: .bytes}"
	CHANGE_DROPS="[.dropped_limit_packets, .dropped_voq_packets, .dropped_gso_packets] | add"
}
test_changes
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every parameter is changed, and the qdisc is replaced and deleted, while
# traffic overloads it; afterwards nothing is queued anywhere, and each packet
# was either sent or counted as dropped.
#
#	+--------- a ---------+     +--------- b ---------+
#	| traffic -> v0: tree |=====| v1                  |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_ndp
setup_ns a b
link_ab

# flood: NDP datagrams, some by GSO, and other traffic; their counts in $TMP/sent.*
# (GSO only for what stays NDP: a whole GSO packet that is dropped counts as one)
flood() {
	job traffic udp -n "$a" -d 10.0.0.2 -p 61199 -l 1400 >"$TMP/sent.1"
	job traffic udp -n "$a" -d 10.0.0.2 -p 61199 -l 1000 -g 8 >"$TMP/sent.2"
	job traffic udp -n "$a" -d 10.0.0.2 -p 9 -l 3000 >"$TMP/sent.3"
}

# changes LEAF: tc commands that change each parameter of the ndp qdisc there
changes() {
	local leaf=$1 set
	while read -r set; do
		echo "qdisc change dev v0 $leaf ndp $set"
	done <<-END
		limit 1
		limit 200
		limit_bytes 3000
		limit_bytes 0
		hlimit 64
		hlimit 100000
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
		other_ecn 1
		other_ecn 0
	END
}

check_tree() {
	local what=$1 leaf=$2 sent json
	flood
	wait_for 10 ndp_counts data.sent_packets
	check "$what: changes under traffic" tc -n "$a" -batch <(changes "$leaf"; changes "$leaf"; changes "$leaf")
	stop_jobs
	check "$what: the tree drains to zero" wait_for 20 drained
	sent=$(awk '{ n += $2 } END { print n }' "$TMP"/sent.*)
	json=$(ndp_stats)
	note "$what: $sent packets"
	check_json "$json" \
		"$what: each packet is sent or counted as dropped" ".packets + .drops == $sent" \
		"$what: each drop has a reason" \
		'.drops == .dropped_data_packets + .dropped_header_packets + .dropped_returned_packets + .dropped_other_packets + .dropped_nomem_packets' \
		"$what: each queue is at zero" \
		'all(.data, .header, .other; .qlen_packets == 0 and .backlog_bytes == 0)' \
		"$what: each packet left one queue" \
		'.data.sent_packets + .header.sent_packets + .other.sent_packets == .packets' \
		"$what: with all its bytes" \
		'.data.sent_bytes + .header.sent_bytes + .other.sent_bytes == .bytes'
}

ndp norts rate 50mbit
check_tree root root

tc -n "$a" -batch - <<-END
	qdisc replace dev v0 root handle 1: htb default 1
	class add dev v0 parent 1: classid 1:1 htb rate 100mbit
	qdisc add dev v0 parent 1:1 handle 10: prio
	qdisc add dev v0 parent 10:2 handle 20: ndp norts rate 50mbit
END
check_tree "htb, prio" "parent 10:2"

# comes and goes: at the leaf, in the middle, at the root
comings() {
	local i
	for i in 1 2 3 4 5 6; do
		echo "qdisc replace dev v0 parent 10:2 handle 2$i: ndp rate 1mbit match all"
		echo "qdisc replace dev v0 parent 10:2 handle 3$i: pfifo"
		echo "qdisc replace dev v0 parent 10:2 handle 4$i: ndp rate 1mbit"
		echo "qdisc del dev v0 parent 10:2"
	done
	echo "qdisc replace dev v0 parent 10:2 handle 50: ndp rate 1mbit match all"
	echo "qdisc del dev v0 parent 1:1 handle 10:"
}
flood
check "replaced and deleted under traffic" tc -n "$a" -batch <(comings)
stop_jobs
check "the tree drains to zero" wait_for 20 drained
flood
for _ in 1 2 3; do
	ndp rate 1mbit match all
	check "deleted at the root under traffic" tc -n "$a" qdisc del dev v0 root
done
stop_jobs

ndp rate 1kbit match all hlimit 100000
# shellcheck disable=SC2317 # wait_for calls it
waits() { [ "$(ndp_stats | jq .qlen)" -ge 100 ]; }
flood
check "packets wait" wait_for 10 waits
check "the device goes down under traffic" ip -n "$a" link set v0 down
stop_jobs
check_json "$(ndp_stats)" "nothing waits any more" '.qlen == 0 and .backlog == 0' \
	"in no queue" 'all(.data, .header, .other; .qlen_packets == 0 and .backlog_bytes == 0)'
ip -n "$a" -batch - <<-END
	link set v0 up
	neigh replace 10.0.0.2 lladdr $MAC_B nud permanent dev v0
END
tc -n "$a" qdisc change dev v0 root ndp rate 0
before=$(rx_packets)
check "it comes up again, and sends" traffic udp -n "$a" -d 10.0.0.2 -p 61199 -c 20
# shellcheck disable=SC2317 # wait_for calls it
arrived() { [ "$(rx_packets)" -eq $((before + 20)) ]; }
check "20 of 20 packets arrive" wait_for 10 arrived
tc -n "$a" qdisc change dev v0 root ndp rate 1kbit
flood 2>/dev/null
check "packets wait" wait_for 10 waits
check "the device goes away under traffic" ip -n "$a" link del v0
stop_jobs
finish

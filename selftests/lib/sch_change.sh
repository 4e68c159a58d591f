# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Change every parameter of a qdisc, and replace and delete the qdisc, while traffic overloads it. Afterwards no packet
# is queued anywhere, and each packet was either sent or counted as a drop. A test sources this file after link_ab, sets
# the following, and calls test_changes:
#
#	flood		function: starts traffic as jobs, which write their counts to $TMP/sent.*
#	changes		function: prints the changes, one a line
#	CHANGE_BEGIN	initial options
#	CHANGE_ALL	options with which all traffic of `flood` overloads the qdisc
#	CHANGE_QUEUES	jq expression for its queues
#	CHANGE_DROPS	jq sum of the counters of all drop reasons
#	CHANGE_MADE	jq count of packets that the qdisc itself made, default 0
# shellcheck disable=SC2317,SC2154,SC2086 # check calls functions; the tests set variables, words

# change_leaf LEAF: print all changes as tc commands for the qdisc at LEAF
change_leaf() { changes | sed "s/^/qdisc change dev v0 $1 $SCH /"; }

# check_tree NAME LEAF: change the qdisc at LEAF under traffic and check its counters; NAME begins each test name
check_tree() {
	local what=$1 leaf=$2 sent json
	flood
	wait_for 10 sch_counts packets
	check "$what: all parameters change under traffic" tc -n "$a" -batch \
		<(change_leaf "$leaf"; change_leaf "$leaf"; change_leaf "$leaf")
	stop_jobs
	check "$what: the qdisc tree drains to zero" wait_for 20 drained
	sent=$(awk '{ n += $2 } END { print n }' "$TMP"/sent.*)
	json=$(sch_stats)
	note "$what: $sent packets"
	check_json "$json" \
		"$what: each packet is sent or counted as a drop" \
		".packets + .drops - (${CHANGE_MADE:-0}) == $sent" \
		"$what: each drop has a reason" ".drops == ($CHANGE_DROPS)" \
		"$what: each queue is empty" \
		"all($CHANGE_QUEUES; .qlen_packets == 0 and .backlog_bytes == 0)" \
		"$what: sent packets of all queues add up to the total" "([$CHANGE_QUEUES | .sent_packets] | add) == .packets" \
		"$what: sent bytes of all queues add up to the total" "([$CHANGE_QUEUES | .sent_bytes] | add) == .bytes"
}

# leaf_changes: print tc commands that add, replace and delete the qdisc at the leaf, and delete it with its parent
leaf_changes() {
	local i
	for i in 1 2 3 4 5 6; do
		echo "qdisc replace dev v0 parent 10:2 handle 2$i: $SCH rate 1mbit $CHANGE_ALL"
		echo "qdisc replace dev v0 parent 10:2 handle 3$i: pfifo"
		echo "qdisc replace dev v0 parent 10:2 handle 4$i: $SCH rate 1mbit"
		echo "qdisc del dev v0 parent 10:2"
	done
	echo "qdisc replace dev v0 parent 10:2 handle 50: $SCH rate 1mbit $CHANGE_ALL"
	echo "qdisc del dev v0 parent 1:1 handle 10:"
}
waits() { [[ $(sch_stats) =~ \"qlen\":[1-9][0-9]{2} ]]; }
arrived() { [ "$(rx_packets)" -eq $((before + 20)) ]; }

# test_changes: test changes at the root and below other qdiscs, and every way in which the qdisc can go away
test_changes() {
	local before
	new_root "$SCH" $CHANGE_BEGIN
	check_tree "at the root" root
	tc -n "$a" -batch - <<-END
		qdisc replace dev v0 root handle 1: htb default 1
		class add dev v0 parent 1: classid 1:1 htb rate 100mbit
		qdisc add dev v0 parent 1:1 handle 10: prio
		qdisc add dev v0 parent 10:2 handle 20: $SCH $CHANGE_BEGIN
	END
	check_tree "below htb and prio" "parent 10:2"

	flood
	check "leaf qdisc is replaced and deleted under traffic" tc -n "$a" -batch <(leaf_changes)
	stop_jobs
	check "qdisc tree drains to zero after replacements" wait_for 20 drained
	flood
	for _ in 1 2 3; do
		new_root "$SCH" rate 1mbit $CHANGE_ALL
		check "root qdisc is deleted under traffic" tc -n "$a" qdisc del dev v0 root
	done
	stop_jobs

	new_root "$SCH" rate 1kbit $CHANGE_ALL
	flood
	check "packets are queued before the device goes down" wait_for 10 waits
	check "device goes down under traffic" ip -n "$a" link set v0 down
	stop_jobs
	check_json "$(sch_stats)" "going down empties the qdisc" '.qlen == 0 and .backlog == 0' \
		"going down empties each queue" "all($CHANGE_QUEUES; .qlen_packets == 0 and .backlog_bytes == 0)"
	ip -n "$a" -batch - <<-END
		link set v0 up
		neigh replace 10.0.0.2 lladdr $MAC_B nud permanent dev v0
	END
	tc -n "$a" qdisc change dev v0 root "$SCH" rate 0
	before=$(rx_packets)
	check "device sends after it comes up again" traffic udp -n "$a" -d 10.0.0.2 -p 61199 -c 20
	check "all 20 packets arrive after the device comes up again" wait_for 10 arrived
	tc -n "$a" qdisc change dev v0 root "$SCH" rate 1kbit
	flood 2>/dev/null
	check "packets are queued before the device is deleted" wait_for 10 waits
	check "device is deleted under traffic" ip -n "$a" link del v0
	stop_jobs
}

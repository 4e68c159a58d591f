# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Every parameter of a qdisc is changed, and it is replaced and deleted, while
# traffic overloads it; afterwards nothing is queued anywhere, and each packet
# was either sent or counted as dropped. A test sources this after link_ab, sets
# these, and calls test_changes:
#
#	flood		a function: starts traffic as jobs, its counts in $TMP/sent.*
#	changes		a function: prints a change a line
#	CHANGE_BEGIN	options to begin with
#	CHANGE_ALL	options with which all of the flood overloads it
#	CHANGE_QUEUES	jq's expression for its queues
#	CHANGE_DROPS	jq's sum of all reasons for drops
#	CHANGE_MADE	jq's sum of packets that it made by itself; 0 if not set
# shellcheck disable=SC2317,SC2154,SC2086 # check calls functions; the tests set variables, words

# change_leaf LEAF: all changes, as tc's commands for the qdisc there
change_leaf() { changes | sed "s/^/qdisc change dev v0 $1 $SCH /"; }

# check_tree WHAT LEAF: the qdisc there, while it changes
check_tree() {
	local what=$1 leaf=$2 sent json
	flood
	wait_for 10 sch_counts packets
	check "$what: changes under traffic" tc -n "$a" -batch <(change_leaf "$leaf"; change_leaf "$leaf"; change_leaf "$leaf")
	stop_jobs
	check "$what: the tree drains to zero" wait_for 20 drained
	sent=$(awk '{ n += $2 } END { print n }' "$TMP"/sent.*)
	json=$(sch_stats)
	note "$what: $sent packets"
	check_json "$json" \
		"$what: each packet is sent or counted as dropped" \
		".packets + .drops - (${CHANGE_MADE:-0}) == $sent" \
		"$what: each drop has a reason" ".drops == ($CHANGE_DROPS)" \
		"$what: each queue is at zero" \
		"all($CHANGE_QUEUES; .qlen_packets == 0 and .backlog_bytes == 0)" \
		"$what: each packet left one queue" "([$CHANGE_QUEUES | .sent_packets] | add) == .packets" \
		"$what: with all its bytes" "([$CHANGE_QUEUES | .sent_bytes] | add) == .bytes"
}

# comes and goes: at the leaf, in the middle, at the root
comings() {
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

# test_changes: at the root, and below others; and all ways in which it goes
test_changes() {
	local before
	new_root "$SCH" $CHANGE_BEGIN
	check_tree root root
	tc -n "$a" -batch - <<-END
		qdisc replace dev v0 root handle 1: htb default 1
		class add dev v0 parent 1: classid 1:1 htb rate 100mbit
		qdisc add dev v0 parent 1:1 handle 10: prio
		qdisc add dev v0 parent 10:2 handle 20: $SCH $CHANGE_BEGIN
	END
	check_tree "htb, prio" "parent 10:2"

	flood
	check "replaced and deleted under traffic" tc -n "$a" -batch <(comings)
	stop_jobs
	check "the tree drains to zero" wait_for 20 drained
	flood
	for _ in 1 2 3; do
		new_root "$SCH" rate 1mbit $CHANGE_ALL
		check "deleted at the root under traffic" tc -n "$a" qdisc del dev v0 root
	done
	stop_jobs

	new_root "$SCH" rate 1kbit $CHANGE_ALL
	flood
	check "packets wait" wait_for 10 waits
	check "the device goes down under traffic" ip -n "$a" link set v0 down
	stop_jobs
	check_json "$(sch_stats)" "nothing waits any more" '.qlen == 0 and .backlog == 0' \
		"in no queue" "all($CHANGE_QUEUES; .qlen_packets == 0 and .backlog_bytes == 0)"
	ip -n "$a" -batch - <<-END
		link set v0 up
		neigh replace 10.0.0.2 lladdr $MAC_B nud permanent dev v0
	END
	tc -n "$a" qdisc change dev v0 root "$SCH" rate 0
	before=$(rx_packets)
	check "it comes up again, and sends" traffic udp -n "$a" -d 10.0.0.2 -p 61199 -c 20
	check "20 of 20 packets arrive" wait_for 10 arrived
	tc -n "$a" qdisc change dev v0 root "$SCH" rate 1kbit
	flood 2>/dev/null
	check "packets wait" wait_for 10 waits
	check "the device goes away under traffic" ip -n "$a" link del v0
	stop_jobs
}

# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A qdisc as a child of other qdiscs. While packets are queued, each ancestor's counts equal the sums over its leaves.
# After the packets have left, or the qdisc was replaced under load, all counts are zero. No packet is lost without
# being counted. A test sources this file after link_ab, sets the following, and calls functions that begin with test_:
#
#	TREE_LOAD	frames; the first keeps a shaper of 1 kbit/s busy
#	TREE_PACKETS	number of packets in TREE_LOAD, with each GSO segment as one
#	TREE_ACCOUNTED	jq sum of sent and dropped packets
#	TREE_CLOSED	options with a shaper of 1 kbit/s, with which TREE_LOAD overloads the qdisc
#	TREE_OPEN	options without a shaper
#	TREE_NARROW	changes that may drop some of the queued packets
# shellcheck disable=SC2317,SC2154 # check calls functions; the tests set variables

# in_tree COMMAND...: run tc commands as one batch; append the output of show commands to $TMP/shows
in_tree() {
	printf '%s\n' "$@" >"$TMP/batch"
	tc -n "$a" -s -j -batch "$TMP/batch" >>"$TMP/shows"
}

# load_then COMMAND...: load the tree with TREE_LOAD, then run tc COMMANDs
# shellcheck disable=SC2317 # check calls it
load_then() {
	printf '%s\n' "$@" >"$TMP/batch"
	send_frames -s "$a/v0" -x "tc -n $a -s -j -batch $TMP/batch >>$TMP/shows" "${TREE_LOAD[@]}"
}

# agree N: jq filter: in JSON document N, the counts of the ancestors equal the sums over the leaves
agree() {
	echo ".[$1] | ([.[] | select(.kind == \"$SCH\")] | {q: (map(.qlen) | add), b: (map(.backlog) | add)}) as \$leaf |
		\$leaf.q > 0 and all(.kind == \"$SCH\" or .kind == \"clsact\" or (.qlen == \$leaf.q and .backlog == \$leaf.b))"
}

zero() { echo ".[$1] | all(.qlen == 0 and .backlog == 0)"; }

# tree NAME LEAF... -- COMMAND...: build a tree with COMMANDs and test the qdisc under the parents LEAF...
tree() {
	local name=$1 leaf add=() replace=() change=() narrow=() agreed=() options shows n=0
	shift
	while [ "$1" != -- ]; do
		leaf=$1
		add+=("qdisc add dev v0 $leaf $SCH $TREE_CLOSED")
		change+=("qdisc change dev v0 $leaf $SCH")
		replace+=("qdisc replace dev v0 $leaf pfifo")
		shift
	done
	shift
	for options in "${TREE_NARROW[@]}"; do
		narrow+=("${change[@]/%/ $options}" "qdisc show dev v0")
	done
	tc -n "$a" qdisc del dev v0 root 2>/dev/null || true
	rm -f "$TMP/shows"
	if ! err=$(in_tree "$@" "${add[@]}" 2>&1); then
		skip "$name: qdisc works as a child" "this kernel cannot: $err"
		return
	fi
	check "$name: overloaded qdisc is changed and released" load_then \
		"qdisc show dev v0" "${narrow[@]}" "${change[@]/%/ rate 0}"
	wait_for 10 drained || true
	in_tree "qdisc show dev v0" "${change[@]/%/ $TREE_CLOSED}"
	check "$name: overloaded qdisc is replaced" load_then \
		"qdisc show dev v0" "${replace[@]}" "qdisc show dev v0" "qdisc del dev v0 root"
	shows=$(wrap "$TMP/shows")
	for options in "${TREE_NARROW[@]}"; do
		n=$((n + 1))
		agreed+=("$name: ancestors' counts are right after change to $options" "$(agree $n)")
	done
	check_json "$shows" \
		"$name: ancestors' counts are right under overload" "$(agree 0)" \
		"${agreed[@]}" \
		"$name: all counts are zero after draining" "$(zero $((n + 1)))" \
		"$name: $TREE_PACKETS packets are accounted for" \
		"[.[$((n + 1))][] | select(.kind == \"$SCH\") | $TREE_ACCOUNTED] | add == $TREE_PACKETS" \
		"$name: ancestors' counts are right under a second overload" "$(agree $((n + 2)))" \
		"$name: all counts are zero after replacement under load" "$(zero $((n + 3)))"
}

# test_trees: test the qdisc below every classful qdisc of the kernel that fits
test_trees() {
	tree "at the root" root --
	tree tbf "parent 1:" -- \
		"qdisc add dev v0 root handle 1: tbf rate 1gbit burst 100kb limit 10mb"
	tree htb "parent 1:1" -- \
		"qdisc add dev v0 root handle 1: htb default 1" \
		"class add dev v0 parent 1: classid 1:1 htb rate 1gbit burst 100kb cburst 100kb"
	tree prio "parent 1:1" "parent 1:2" "parent 1:3" -- \
		"qdisc add dev v0 root handle 1: prio"
	tree drr "parent 1:1" -- \
		"qdisc add dev v0 root handle 1: drr" \
		"class add dev v0 parent 1: classid 1:1 drr" \
		"filter add dev v0 parent 1: matchall classid 1:1"
	tree ets "parent 1:1" "parent 1:2" -- \
		"qdisc add dev v0 root handle 1: ets strict 1 quanta 9000"
	tree mq "parent 1:1" "parent 1:2" "parent 1:3" "parent 1:4" -- \
		"qdisc add dev v0 root handle 1: mq"
	tree mqprio "parent 1:1" "parent 1:2" "parent 1:3" "parent 1:4" -- \
		"qdisc add dev v0 root handle 1: mqprio num_tc 2 map 0 1 queues 2@0 2@2 hw 0"
	tree netem "parent 1:" -- \
		"qdisc add dev v0 root handle 1: netem limit 10000"
	tree "htb, prio" "parent 2:1" "parent 2:2" "parent 2:3" -- \
		"qdisc add dev v0 root handle 1: htb default 1" \
		"class add dev v0 parent 1: classid 1:1 htb rate 1gbit burst 100kb cburst 100kb" \
		"qdisc add dev v0 parent 1:1 handle 2: prio"
	tree "tbf, drr" "parent 2:1" -- \
		"qdisc add dev v0 root handle 1: tbf rate 1gbit burst 100kb limit 10mb" \
		"qdisc add dev v0 parent 1: handle 2: drr" \
		"class add dev v0 parent 2: classid 2:1 drr" \
		"filter add dev v0 parent 2: matchall classid 2:1"
}

# held N: jq filter: in document N, each ancestor has the packets of the leaf and the packets held above the leaf in
# document 0. At most one packet is held between the leaf and the root: one that an ancestor has peeked at.
held() {
	echo "def leaf: [.[] | select(.kind == \"$SCH\")] | {q: (map(.qlen) | add // 0), b: (map(.backlog) | add // 0)};
		(.[0] | leaf as \$n | {q: (.[0].qlen - \$n.q), b: (.[0].backlog - \$n.b)}) as \$held |
		\$held.q <= 1 and (.[$1] | leaf as \$n | all(.kind == \"$SCH\" or .kind == \"pfifo\" or
			(.qlen - \$n.q == \$held.q and .backlog - \$n.b == \$held.b)))"
}

# shaped NAME LEAF COMMAND...: build a tree with COMMANDs in which an ancestor shapes, and test the qdisc under LEAF
shaped() {
	local name=$1 leaf=$2
	shift 2
	tc -n "$a" qdisc del dev v0 root 2>/dev/null || true
	rm -f "$TMP/shows"
	if ! err=$(in_tree "$@" "qdisc add dev v0 $leaf $SCH $TREE_OPEN" 2>&1); then
		skip "$name shapes: qdisc works below another shaper" "this kernel cannot: $err"
		return
	fi
	check "$name shapes: overloaded qdisc is changed and replaced" load_then "qdisc show dev v0" \
		"qdisc change dev v0 $leaf $SCH ${TREE_NARROW[0]}" "qdisc show dev v0" \
		"qdisc replace dev v0 $leaf pfifo" "qdisc show dev v0"
	check_json "$(wrap "$TMP/shows")" \
		"$name shapes: packets are queued" '.[0][0].qlen > 50' \
		"$name shapes: ancestors' counts are right" "$(held 0)" \
		"$name shapes: ancestors' counts are right after limits shrink" "$(held 1)" \
		"$name shapes: no packet is left after replacement under load" "$(held 2)"
}

# test_shaped: test the qdisc below other shapers
test_shaped() {
	shaped tbf "parent 1:" \
		"qdisc add dev v0 root handle 1: tbf rate 8kbit burst 9100 limit 10mb"
	shaped htb "parent 1:1" \
		"qdisc add dev v0 root handle 1: htb default 1" \
		"class add dev v0 parent 1: classid 1:1 htb rate 8kbit burst 1600 cburst 1600"
	shaped "tbf over qfq" "parent 2:1" \
		"qdisc add dev v0 root handle 1: tbf rate 8kbit burst 9100 limit 10mb" \
		"qdisc add dev v0 parent 1: handle 2: qfq" \
		"class add dev v0 parent 2: classid 2:1 qfq weight 1 maxpkt 9100" \
		"filter add dev v0 parent 2: matchall classid 2:1"
}

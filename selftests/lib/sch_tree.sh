# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A qdisc as a child of others: while packets wait, each ancestor counts exactly
# what it counts; after they left, or it was replaced under load, all is zero;
# and no packet is lost without being counted. A test sources this after link_ab,
# sets these, and calls the functions that test_ begins:
#
#	TREE_LOAD	frames, the first of which closes a shaper of 1 kbit/s
#	TREE_PACKETS	how many packets they are, with each segment
#	TREE_ACCOUNTED	jq's sum of what became of them
#	TREE_CLOSED	options with which these overload it, with that shaper
#	TREE_OPEN	options without a shaper
#	TREE_NARROW	changes that drop, or may drop, some of what waits
# shellcheck disable=SC2317,SC2154 # check calls functions; the tests set variables

# in_tree COMMAND...: tc's commands in one go; shows are appended to $TMP/shows
in_tree() {
	printf '%s\n' "$@" >"$TMP/batch"
	tc -n "$a" -s -j -batch "$TMP/batch" >>"$TMP/shows"
}

# load_then COMMAND...: loads the tree, then does COMMANDs
# shellcheck disable=SC2317 # check calls it
load_then() {
	printf '%s\n' "$@" >"$TMP/batch"
	send_frames -s "$a/v0" -x "tc -n $a -s -j -batch $TMP/batch >>$TMP/shows" "${TREE_LOAD[@]}"
}

# ancestors agree with the leaves in document N
agree() {
	echo ".[$1] | ([.[] | select(.kind == \"$SCH\")] | {q: (map(.qlen) | add), b: (map(.backlog) | add)}) as \$leaf |
		\$leaf.q > 0 and all(.kind == \"$SCH\" or .kind == \"clsact\" or (.qlen == \$leaf.q and .backlog == \$leaf.b))"
}

zero() { echo ".[$1] | all(.qlen == 0 and .backlog == 0)"; }

# tree NAME LEAF... -- COMMAND...: COMMANDs build a tree; LEAFs are the parents
# under which the qdisc goes
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
		skip "$name" "this kernel cannot: $err"
		return
	fi
	check "$name: overload, change, release" load_then \
		"qdisc show dev v0" "${narrow[@]}" "${change[@]/%/ rate 0}"
	wait_for 10 drained || true
	in_tree "qdisc show dev v0" "${change[@]/%/ $TREE_CLOSED}"
	check "$name: overload again, replace" load_then \
		"qdisc show dev v0" "${replace[@]}" "qdisc show dev v0" "qdisc del dev v0 root"
	shows=$(wrap "$TMP/shows")
	for options in "${TREE_NARROW[@]}"; do
		n=$((n + 1))
		agreed+=("$name: $options, ancestors agree" "$(agree $n)")
	done
	check_json "$shows" \
		"$name: overloaded, ancestors agree" "$(agree 0)" \
		"${agreed[@]}" \
		"$name: drained, all is zero" "$(zero $((n + 1)))" \
		"$name: $TREE_PACKETS packets are accounted for" \
		"[.[$((n + 1))][] | select(.kind == \"$SCH\") | $TREE_ACCOUNTED] | add == $TREE_PACKETS" \
		"$name: overloaded again, ancestors agree" "$(agree $((n + 2)))" \
		"$name: replaced under load, all is zero" "$(zero $((n + 3)))"
}

# test_trees: all parents that there are
test_trees() {
	tree root root --
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

# Between the leaf and the root, one packet may be held: one that was peeked at.
# In document N, ancestors have what the leaf has and what was held in document 0.
held() {
	echo "def leaf: [.[] | select(.kind == \"$SCH\")] | {q: (map(.qlen) | add // 0), b: (map(.backlog) | add // 0)};
		(.[0] | leaf as \$n | {q: (.[0].qlen - \$n.q), b: (.[0].backlog - \$n.b)}) as \$held |
		\$held.q <= 1 and (.[$1] | leaf as \$n | all(.kind == \"$SCH\" or .kind == \"pfifo\" or
			(.qlen - \$n.q == \$held.q and .backlog - \$n.b == \$held.b)))"
}

# shaped NAME LEAF COMMAND...: an ancestor is the shaper; the qdisc goes under LEAF
shaped() {
	local name=$1 leaf=$2
	shift 2
	tc -n "$a" qdisc del dev v0 root 2>/dev/null || true
	rm -f "$TMP/shows"
	if ! err=$(in_tree "$@" "qdisc add dev v0 $leaf $SCH $TREE_OPEN" 2>&1); then
		skip "$name shapes" "this kernel cannot: $err"
		return
	fi
	check "$name shapes: overload" load_then "qdisc show dev v0" \
		"qdisc change dev v0 $leaf $SCH ${TREE_NARROW[0]}" "qdisc show dev v0" \
		"qdisc replace dev v0 $leaf pfifo" "qdisc show dev v0"
	check_json "$(wrap "$TMP/shows")" \
		"$name shapes: packets wait" '.[0][0].qlen > 50' \
		"$name shapes: ancestors agree" "$(held 0)" \
		"$name shapes: limits shrunk, ancestors agree" "$(held 1)" \
		"$name shapes: replaced under load, nothing more is left" "$(held 2)"
}

# test_shaped: below other shapers
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

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# As a child of other qdiscs: while packets wait, each ancestor counts exactly
# what ndp counts; after they left, or ndp was replaced under load, all is zero;
# and no packet is lost without being counted.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> v0: tree  |=====| v1                  |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_ndp
setup_ns a b
VETH=(numtxqueues 4)
link_ab

super=tcp4,csum=partial,gso=1000,len=8054
# 24 segments; all kinds of overload: data, headers, other
load=("$PLUG" "udp4,n=40" "udp4,len=100,n=20" "raw,len=500,n=20" "$super,n=3")
load_packets=105
closed="ndp limit 8 hlimit 3000 other_limit 5000 mode ndp match all rate 1kbit"

# in_tree COMMAND...: tc's commands in one go; shows are appended to $TMP/shows
in_tree() {
	printf '%s\n' "$@" >"$TMP/batch"
	tc -n "$a" -s -j -batch "$TMP/batch" >>"$TMP/shows"
}

# load_then COMMAND...: loads the tree, then does COMMANDs
# shellcheck disable=SC2317 # check calls it
load_then() {
	printf '%s\n' "$@" >"$TMP/batch"
	ndp_packets -s "$a/v0" -x "tc -n $a -s -j -batch $TMP/batch >>$TMP/shows" "${load[@]}"
}

# ancestors agree with ndp in document N
agree() {
	echo ".[$1] | ([.[] | select(.kind == \"ndp\")] | {q: (map(.qlen) | add), b: (map(.backlog) | add)}) as \$ndp |
		\$ndp.q > 0 and all(.kind == \"ndp\" or .kind == \"clsact\" or (.qlen == \$ndp.q and .backlog == \$ndp.b))"
}

zero() { echo ".[$1] | all(.qlen == 0 and .backlog == 0)"; }

# tree NAME LEAF... -- COMMAND...: COMMANDs build a tree; LEAFs are the parents
# under which ndp goes
tree() {
	local name=$1 leaf leaves=() change=() add=() replace=() shows
	shift
	while [ "$1" != -- ]; do
		leaves+=("$1")
		shift
	done
	shift
	for leaf in "${leaves[@]}"; do
		add+=("qdisc add dev v0 $leaf $closed")
		change+=("qdisc change dev v0 $leaf ndp")
		replace+=("qdisc replace dev v0 $leaf pfifo")
	done
	tc -n "$a" qdisc del dev v0 root 2>/dev/null || true
	rm -f "$TMP/shows"
	if ! err=$(in_tree "$@" "${add[@]}" 2>&1); then
		skip "$name" "this kernel cannot: $err"
		return
	fi
	check "$name: overload, change, release" load_then \
		"qdisc show dev v0" \
		"${change[@]/%/ limit 4 hlimit 500 other_limit 1200}" "qdisc show dev v0" \
		"${change[@]/%/ mode cp}" "qdisc show dev v0" \
		"${change[@]/%/ rate 0}"
	wait_for 10 drained || true
	in_tree "qdisc show dev v0" "${change[@]/ndp/$closed}"
	check "$name: overload again, replace" load_then \
		"qdisc show dev v0" "${replace[@]}" "qdisc show dev v0" "qdisc del dev v0 root"
	shows=$(jq -cs . "$TMP/shows")
	check_json "$shows" \
		"$name: overloaded, ancestors agree" "$(agree 0)" \
		"$name: limits shrunk, ancestors agree" "$(agree 1)" \
		"$name: mode changed, ancestors agree" "$(agree 2)" \
		"$name: drained, all is zero" "$(zero 3)" \
		"$name: $load_packets packets sent, returned or dropped" \
		"[.[3][] | select(.kind == \"ndp\") | .packets + .returned_packets + .drops] | add == $load_packets" \
		"$name: overloaded again, ancestors agree" "$(agree 4)" \
		"$name: replaced under load, all is zero" "$(zero 5)"
}

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

# Two levels up, the first packet is not counted yet when ndp says how it changed.
first_packet() {
	local name=$1 options=$2 left=$3
	shift 3
	tc -n "$a" qdisc del dev v0 root 2>/dev/null || true
	rm -f "$TMP/shows"
	in_tree "qdisc add dev v0 root handle 1: htb default 1" \
		"class add dev v0 parent 1: classid 1:1 htb rate 1gbit" \
		"qdisc add dev v0 parent 1:1 handle 2: prio" \
		"qdisc add dev v0 parent 2:1 ndp match all norts $options" \
		"qdisc add dev v0 parent 2:2 ndp match all norts $options" \
		"qdisc add dev v0 parent 2:3 ndp match all norts $options"
	check "first packet of all, $name" ndp_packets -s "$a/v0" "$@"
	wait_for 10 drained || true
	in_tree "qdisc show dev v0"
	check_json "$(jq -cs . "$TMP/shows")" \
		"$name: all is zero" "$(zero 0)" \
		"$name: $left packets have left" "[.[0][] | select(.kind == \"ndp\") | .packets] | add == $left"
}
first_packet "trimmed" "limit_bytes 64 hlimit 10000" 1 udp4
first_packet "one segment of many stays" "mode droptail limit 1 rate 8kbit" 1 "$super"
first_packet "some segments are trimmed" "limit_bytes 1054 hlimit 10000" 8 "$super"

# Between ndp and the root, one packet may be held: one that was peeked at.
# In document N, ancestors have what ndp has and what was held in document 0.
held() {
	echo "def ndp: [.[] | select(.kind == \"ndp\")] | {q: (map(.qlen) | add // 0), b: (map(.backlog) | add // 0)};
		(.[0] | ndp as \$n | {q: (.[0].qlen - \$n.q), b: (.[0].backlog - \$n.b)}) as \$held |
		\$held.q <= 1 and (.[$1] | ndp as \$n | all(.kind == \"ndp\" or .kind == \"pfifo\" or
			(.qlen - \$n.q == \$held.q and .backlog - \$n.b == \$held.b)))"
}

# shaped NAME LEAF COMMAND...: an ancestor is the shaper; ndp goes under LEAF
shaped() {
	local name=$1 leaf=$2
	shift 2
	tc -n "$a" qdisc del dev v0 root 2>/dev/null || true
	rm -f "$TMP/shows"
	if ! err=$(in_tree "$@" "qdisc add dev v0 $leaf ndp match all norts" 2>&1); then
		skip "$name shapes" "this kernel cannot: $err"
		return
	fi
	check "$name shapes: overload" load_then "qdisc show dev v0" \
		"qdisc change dev v0 $leaf ndp limit 4 hlimit 500" "qdisc show dev v0" \
		"qdisc replace dev v0 $leaf pfifo" "qdisc show dev v0"
	check_json "$(jq -cs . "$TMP/shows")" \
		"$name shapes: packets wait" '.[0][0].qlen > 50' \
		"$name shapes: ancestors agree" "$(held 0)" \
		"$name shapes: limits shrunk, ancestors agree" "$(held 1)" \
		"$name shapes: replaced under load, nothing more is left" "$(held 2)"
}

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
finish

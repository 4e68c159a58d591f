#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The limit: a flow gets as many places as are left, so that another one finds room; ACKs and what is not IP have places
# of their own, which data does not take, nor they the data's; a flow that waits for a GRANT does not shut out others.
#
#	+--------- a ---------+     +----- b -----+
#	| frames -> v0: pcrp  |=====| v1          |
#	+---------------------+     +-------------+
. "$(dirname "$0")/../lib/lib.sh"
need_sch pcrp
setup_ns a b
link_ab
ip -n "$a" addr add 203.0.113.1/32 dev v0

# queue WHAT OPTIONS SPEC...: what is queued of these behind the plug, in $full; afterwards all is sent, in $empty
queue() {
	local what=$1 options=$2
	shift 2
	# shellcheck disable=SC2086 # OPTIONS are words
	new_root pcrp rate 1kbit $options
	check "$what: frames are sent" send_frames -s "$a/v0" \
		-x "tc -n $a -s -j qdisc show dev v0 >$TMP/stats; $(release)" "$PLUG" "$@"
	wait_for 10 drained || true
	full=$(unwrap <"$TMP/stats")
	empty=$(sch_stats)
}

# counted WHAT QUEUED LIMIT TOP: so many packets wait; so many were dropped, of data and of what is on top
counted() {
	check_json "$full" \
		"$1: $2 wait" ".qlen == $2" \
		"$1: $3 and $4 are dropped" ".dropped_limit_packets == $3 and .dropped_top_packets == $4 and .drops == $3 + $4"
	check_json "$empty" \
		"$1: all that waited are sent" ".packets == 1 + $2 and .qlen == 0 and .backlog == 0" \
		"$1: no more are dropped" ".drops == $3 + $4"
}

flow1=udp4,sport=1000,len=200
flow2=udp4,sport=2000,len=300
flow3=udp4,sport=3000,len=400

queue "one flow" "limit 20" $flow1,n=30
counted "one flow" 10 20 0
queue "an odd limit" "limit 7" $flow1,n=30
counted "an odd limit" 4 26 0
# 10 places are left after the first, 5 after the second
queue "three flows" "limit 20" $flow1,n=30 $flow2,n=30 $flow3,n=2
counted "three flows" 17 45 0
check_json "$full" "three flows: each has its share" ".backlog == $((10 * 200 + 5 * 300 + 2 * 400))"
# each with one packet fill it
queue "many flows" "limit 20" udp4,n=25
counted "many flows" 20 5 0
# what belongs to no flow shares one place in this
queue "fragments" "limit 20" udp4,frag=1,n=30
counted "fragments" 10 20 0
queue "the least limit" "limit 1" $flow1,n=3 raw,n=3
counted "the least limit" 2 2 2

queue "data, then the top" "limit 20" udp4,n=30 raw,len=60,n=25 tcp4,len=54,n=3
counted "data, then the top" 40 10 8
queue "the top, then data" "limit 20" raw,len=60,n=22 udp4,n=22 tcp4,len=54,n=3
counted "the top, then data" 40 2 5
queue "ACKs" "limit 20" udp4,n=30 tcp4,len=54,n=20
counted "ACKs" 40 10 0

# ---- a flow that waits for a GRANT

if exact; then
	SEND="sh=traffic udp -n $b -d 203.0.113.1 -p 9 -l 1000"
	ip -n "$b" -batch - <<-END
		addr add 203.0.113.2/24 dev v1
		neigh add 203.0.113.1 lladdr $MAC_A nud permanent dev v1
	END
	tc -n "$a" qdisc del dev v0 root
	tc -n "$b" qdisc add dev v1 root pcrp chain 10000 first 10000 hold 10s rate 100mbit limit 60
	# the first flow finds out that there is an answer, and is granted all; then it is granted nothing more
	check_to "$TMP/said" "waiting: can be told" pcrp_talk -s "$a/v0" \
		answer=1000000 "$SEND -c 40 >/dev/null" await wait=100 show \
		answer=10000 "$SEND -c 200 >/dev/null" wait=50 show \
		"sh=traffic udp -n $b -d 203.0.113.1 -p 10 -l 1000 -c 3 >/dev/null" \
		"sh=tc -n $b -s -j qdisc show dev v1 >$TMP/stats" wait=50 show
	waiting=$(unwrap <"$TMP/stats")
	check_json "$waiting" \
		"waiting: a flow waits" '.flows_waiting == 1' \
		"waiting: in half of the places" '.qlen > 10 and .qlen <= 30' \
		"waiting: its other packets are dropped" '.dropped_limit_packets > 20 and .dropped_top_packets == 0'
	check_eq "waiting: the other flow is sent" "$(sed -n 's/^data //p' "$TMP/said" | sed -n '$p')" 3000
else
	skip "a flow that waits for a GRANT" "the machine is late"
fi
finish

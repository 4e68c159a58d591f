#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The limit: a flow may queue as many packets as there are places left, so that other flows find room. ACKs and non-IP
# packets have a limit of their own. A flow that waits for a GRANT does not block other flows.
#
#	+--------- a ---------+     +----- b -----+
#	| frames -> v0: pcrp  |=====| v1          |
#	+---------------------+     +-------------+
. "$(dirname "$0")/../lib/lib.sh"
need_sch pcrp
setup_ns a b
link_ab
ip -n "$a" addr add 203.0.113.1/32 dev v0

# queue WHAT OPTIONS SPEC...: queue frames behind the plug, then let them leave; $full and $empty are the statistics
# before and after
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

# counted WHAT QUEUED DATA TOP: QUEUED packets were queued; DATA packets of flows, and TOP ACKs or non-IP packets, were
# dropped
counted() {
	check_json "$full" \
		"$1: $2 packets are queued" ".qlen == $2" \
		"$1: $3 packets of flows and $4 others are dropped" \
		".dropped_limit_packets == $3 and .dropped_top_packets == $4 and .drops == $3 + $4"
	check_json "$empty" \
		"$1: all queued packets are sent" ".packets == 1 + $2 and .qlen == 0 and .backlog == 0" \
		"$1: no queued packet is dropped" ".drops == $3 + $4"
}

flow1=udp4,sport=1000,len=200
flow2=udp4,sport=2000,len=300
flow3=udp4,sport=3000,len=400

queue "one flow" "limit 20" $flow1,n=30
counted "one flow" 10 20 0
queue "odd limit" "limit 7" $flow1,n=30
counted "odd limit" 4 26 0
# 10 places are left after the first, 5 after the second
queue "three flows" "limit 20" $flow1,n=30 $flow2,n=30 $flow3,n=2
counted "three flows" 17 45 0
check_json "$full" "three flows: each flow has its share of the limit" ".backlog == $((10 * 200 + 5 * 300 + 2 * 400))"
# flows of one packet each fill the limit
queue "many flows" "limit 20" udp4,n=25
counted "many flows" 20 5 0
# packets that belong to no flow count as one flow
queue "fragments" "limit 20" udp4,frag=1,n=30
counted "fragments" 10 20 0
queue "limit 1" "limit 1" $flow1,n=3 raw,n=3
counted "limit 1" 2 2 2

queue "data before ACKs" "limit 20" udp4,n=30 raw,len=60,n=25 tcp4,len=54,n=3
counted "data before ACKs" 40 10 8
queue "non-IP packets before data" "limit 20" raw,len=60,n=22 udp4,n=22 tcp4,len=54,n=3
counted "non-IP packets before data" 40 2 5
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
	# the first flow learns that the peer answers, and is granted in full; the second one gets no GRANT
	check_to "$TMP/talk" "flow without a GRANT: datagrams are sent" pcrp_talk -s "$a/v0" \
		answer=1000000 "$SEND -c 40 >/dev/null" await wait=100 show \
		answer=10000 "$SEND -c 200 >/dev/null" wait=50 show \
		"sh=traffic udp -n $b -d 203.0.113.1 -p 10 -l 1000 -c 3 >/dev/null" \
		"sh=tc -n $b -s -j qdisc show dev v1 >$TMP/stats" wait=50 show
	waiting=$(unwrap <"$TMP/stats")
	check_json "$waiting" \
		"flow without a GRANT: it waits" '.flows_waiting == 1' \
		"flow without a GRANT: it fills at most half of the limit" '.qlen > 10 and .qlen <= 30' \
		"flow without a GRANT: its other packets are dropped" \
		'.dropped_limit_packets > 20 and .dropped_top_packets == 0'
	check_eq "flow without a GRANT: another flow is sent" "$(sed -n 's/^data //p' "$TMP/talk" | sed -n '$p')" 3000
else
	skip "flow without a GRANT" "time is real"
fi
finish

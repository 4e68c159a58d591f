#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What a sender makes of GRANTs: legal, forged, malformed, repeated, late and absurd ones, and none at all.
#
#	+---- a ----+     +---------- b ----------+
#	| pcrp_talk |=====| v1: pcrp <- traffic   |
#	+-----------+     +-----------------------+
#
# b sends 50 datagrams of 1000 bytes at a time: the first leaves at once, the others are a flow of five chains.
. "$(dirname "$0")/../lib/lib.sh"
need_sch pcrp
exact || skip_all "the machine is late: datagrams leave one by one, and probes are not answered in time"
setup_ns a b
link_ab
ip -n "$b" -batch - <<-END
	addr add 203.0.113.2/24 dev v1
	neigh add 203.0.113.1 lladdr $MAC_A nud permanent dev v1
END
tc -n "$b" qdisc add dev v1 root pcrp chain 10000 first 10000 hold 10s rate 100mbit
SEND="sh=traffic udp -n $b -d 203.0.113.1 -p 9 -c 50 -l 1000 >/dev/null &"

sender() { tc -n "$b" -s -j qdisc show dev v1 | unwrap; }

# talk WHAT WANT STEP...: a says and hears this, and these bytes of data come, at each `show`
talk() {
	local what=$1 want=$2
	shift 2
	check_to "$TMP/said" "$what: can be told" pcrp_talk -s "$a/v0" "$@"
	check_eq "$what: bytes that come" "$(sed -n 's/^data //p' "$TMP/said" | paste -s -d ' ')" "$want"
}

talk "no answer, from one that never answered" 50000 "$SEND" wait=300 show
check "it was asked" grep -q '^request' "$TMP/said"
check_json "$(sender)" "ungated" '.chains_granted == 0 and .qlen == 0'

# one that has fallen silent is asked anew with a later flow
talk "an answer" 50000 answer=1000000 "$SEND" await wait=300 show
check_json "$(sender)" "it answers" '.peers_answering == 1 and .peers_silent == 0'

# while "nothing new" is answered to each probe
before=$(sender)
steps=()
for fields in cookie=1 cookie=0 flow_no=1 slot=5 slot=4000000000 slot=16384 version=2 prio=3 size=0 first=1 reserved=1 len=63; do
	steps+=("grant:udp4:offset=40000,$fields" wait=20)
done
talk "forged and malformed ones" "11000 0" answer=10000 "$SEND" await wait=200 show \
	"${steps[@]}" grant:udp4,csum=wrong:offset=40000 wait=50 show
now=$(sender)
check_eq "the forged are refused" $(($(jq .grants_refused <<<"$now") - $(jq .grants_refused <<<"$before"))) 6
check_eq "the malformed are counted" $(($(jq .rx_malformed <<<"$now") - $(jq .rx_malformed <<<"$before"))) 7
check_json "$now" "probes go on" '.probes_sent > 3' "the flow waits" '.flows_waiting == 1'

talk "legal, repeated, and older ones" "10000 0 0" answer=20000 await wait=100 show \
	grant:udp4:offset=20000 wait=30 show grant:udp4:offset=15000 wait=30 show
talk "one beyond all reason grants two chains" "20000 0" answer=20000 await grant:udp4:offset=0x10000000000 wait=100 show \
	wait=50 show
talk "the rest" 9000 answer=49000 await wait=200 show
check_json "$(sender)" "nothing is left" '.qlen == 0 and .backlog == 0 and .flows_waiting == 0'

# lost ones: the second probe is answered
talk "a grant is lost" "50000" "$SEND" await await await answer=1000000 wait=300 show
talk "all are lost" 50000 "$SEND" await wait=500 show
check_json "$(sender)" "the host is silent, and nothing waits for it" \
	'.peers_silent == 1 and .peers_answering == 0 and .qlen == 0'
talk "asked again, it answers" 50000 answer=1000000 "$SEND" await wait=300 show
check_json "$(sender)" "it answers again" '.peers_answering == 1 and .peers_silent == 0' \
	"no flow went on without a grant" '.chains_overdue == 0'

# ---- more than can be kept, while the parent lets nothing out

# tbf COMMAND ARGUMENT...: tc's, for the parent; it asks pcrp for nothing as long as it has a packet that must not leave
tbf() { echo "tc -n $b qdisc $1 dev v1 root handle 1: tbf limit 1mb ${*:2}"; }
look() { echo "tc -n $b -s -j qdisc show dev v1 parent 1: >$TMP/$1"; }
steps=()
for ((i = 0; i < 200; i++)); do
	steps+=(grant:udp4:offset=10000)
done
tc -n "$b" qdisc del dev v1 root
if eval "$(tbf add rate 100mbit burst 1500)"; then
	tc -n "$b" qdisc add dev v1 parent 1: handle 2: pcrp chain 10000 first 10000 hold 10s
	talk "a flow waits, the parent stops, 200 grants come" "50000 12000 1000 67000" \
		answer=1000000 "$SEND" await wait=100 show answer=10000 "$SEND" await wait=50 show \
		answer=off "sh=$(tbf change rate 8kbit burst 1500)" \
		"sh=traffic udp -n $b -d 203.0.113.1 -p 7 -c 30 -l 1000 >/dev/null" "sh=$(look before)" \
		"${steps[@]}" wait=1 show "sh=$(look full)" \
		answer=1000000 "sh=$(tbf change rate 100mbit burst 1500)" wait=200 show "sh=$(look after)"
	check_json "$(jq -s -c 'map(.[0])' "$TMP/before" "$TMP/full" "$TMP/after")" \
		"128 are kept, the others counted" '.[1].dropped_nomem_packets == .[0].dropped_nomem_packets + 72' \
		"none is looked at meanwhile" '.[1].grants_idle == .[0].grants_idle' \
		"then all that were kept are" '.[2].grants_idle >= .[0].grants_idle + 128' \
		"nothing is left" '.[2].qlen == 0 and .[2].backlog == 0 and .[2].flows_waiting == 0'
else
	skip "more grants than can be kept" "no tbf"
fi
finish

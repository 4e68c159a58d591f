#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# GRANTs at the sender: valid, forged, malformed, repeated, late, excessive and missing ones
#
#	+---- a ----+     +---------- b ----------+
#	| pcrp_talk |=====| v1: pcrp <- traffic   |
#	+-----------+     +-----------------------+
#
# b sends bursts of 50 datagrams of 1000 bytes. The first one leaves at once; the other ones are a flow of five chains.
. "$(dirname "$0")/../lib/lib.sh"
need_sch pcrp
exact || skip_all "in real time, datagrams leave one by one, and PROBEs are answered too late"
setup_ns a b
link_ab
ip -n "$b" -batch - <<-END
	addr add 203.0.113.2/24 dev v1
	neigh add 203.0.113.1 lladdr $MAC_A nud permanent dev v1
END
tc -n "$b" qdisc add dev v1 root pcrp chain 10000 first 10000 hold 10s rate 100mbit
SEND="sh=traffic udp -n $b -d 203.0.113.1 -p 9 -c 50 -l 1000 >/dev/null &"

sender() { tc -n "$b" -s -j qdisc show dev v1 | unwrap; }

# talk WHAT BYTES STEP...: run the steps of pcrp_talk at a; each `show` prints the bytes of data received, BYTES in all
talk() {
	local what=$1 bytes=$2
	shift 2
	check_to "$TMP/talk" "$what: the steps succeed" pcrp_talk -s "$a/v0" "$@"
	check_eq "$what: expected bytes of data arrive" "$(sed -n 's/^data //p' "$TMP/talk" | paste -s -d ' ')" "$bytes"
}

talk "no GRANT of a host that never answered" 50000 "$SEND" wait=300 show
check "a host that never answered gets a REQUEST" grep -q '^request' "$TMP/talk"
check_json "$(sender)" "a flow to a host that never answered is ungated" '.chains_granted == 0 and .qlen == 0'

# a later flow sends a REQUEST to a silent host again
talk "GRANT of a host that was silent" 50000 answer=1000000 "$SEND" await wait=300 show
check_json "$(sender)" "a host that sends a GRANT counts as answering" '.peers_answering == 1 and .peers_silent == 0'

# each PROBE is answered, but no new bytes are granted
before=$(sender)
steps=()
for fields in cookie=1 cookie=0 flow_no=1 slot=5 slot=4000000000 slot=16384 version=2 prio=3 size=0 first=1 reserved=1 \
	len=63; do
	steps+=("grant:udp4:offset=40000,$fields" wait=20)
done
talk "forged and malformed GRANTs" "11000 0" answer=10000 "$SEND" await wait=200 show \
	"${steps[@]}" grant:udp4,csum=wrong:offset=40000 wait=50 show
now=$(sender)
check_eq "forged GRANTs are counted as refused" \
	$(($(jq .grants_refused <<<"$now") - $(jq .grants_refused <<<"$before"))) 6
check_eq "malformed GRANTs are counted" $(($(jq .rx_malformed <<<"$now") - $(jq .rx_malformed <<<"$before"))) 7
check_json "$now" "the flow continues to send PROBEs" '.probes_sent > 3' \
	"the flow waits despite forged GRANTs" '.flows_waiting == 1'

talk "valid, repeated and older GRANTs" "10000 0 0" answer=20000 await wait=100 show \
	grant:udp4:offset=20000 wait=30 show grant:udp4:offset=15000 wait=30 show
talk "GRANT far beyond the flow's size, limited to two chains" "20000 0" \
	answer=20000 await grant:udp4:offset=0x10000000000 wait=100 show wait=50 show
talk "GRANT of the remaining bytes" 9000 answer=49000 await wait=200 show
check_json "$(sender)" "no packet stays queued after all GRANTs" '.qlen == 0 and .backlog == 0 and .flows_waiting == 0'

# the second PROBE is answered
talk "one lost GRANT" "50000" "$SEND" await await await answer=1000000 wait=300 show
talk "all GRANTs lost" 50000 "$SEND" await wait=500 show
check_json "$(sender)" "after all GRANTs were lost, the peer is silent and no packet waits" \
	'.peers_silent == 1 and .peers_answering == 0 and .qlen == 0'
talk "GRANT of a peer that was silent again" 50000 answer=1000000 "$SEND" await wait=300 show
check_json "$(sender)" \
	"a peer that was silent again counts as answering" '.peers_answering == 1 and .peers_silent == 0' \
	"no chain is overdue" '.chains_overdue == 0'

# ---- more GRANTs than pcrp keeps while its parent does not dequeue

# tbf COMMAND ARGUMENT...: tc command for the parent; it does not dequeue from pcrp while it holds back a packet
tbf() { echo "tc -n $b qdisc $1 dev v1 root handle 1: tbf limit 1mb ${*:2}"; }
look() { echo "tc -n $b -s -j qdisc show dev v1 parent 1: >$TMP/$1"; }
steps=()
for ((i = 0; i < 200; i++)); do
	steps+=(grant:udp4:offset=10000)
done
tc -n "$b" qdisc del dev v1 root
if eval "$(tbf add rate 100mbit burst 1500)"; then
	tc -n "$b" qdisc add dev v1 parent 1: handle 2: pcrp chain 10000 first 10000 hold 10s
	talk "200 GRANTs while the parent does not dequeue" "50000 12000 1000 67000" \
		answer=1000000 "$SEND" await wait=100 show answer=10000 "$SEND" await wait=50 show \
		answer=off "sh=$(tbf change rate 8kbit burst 1500)" \
		"sh=traffic udp -n $b -d 203.0.113.1 -p 7 -c 30 -l 1000 >/dev/null" "sh=$(look before)" \
		"${steps[@]}" wait=1 show "sh=$(look full)" \
		answer=1000000 "sh=$(tbf change rate 100mbit burst 1500)" wait=200 show "sh=$(look after)"
	check_json "$(jq -s -c 'map(.[0])' "$TMP/before" "$TMP/full" "$TMP/after")" \
		"of 200 GRANTs, 128 are kept and 72 counted as dropped" \
		'.[1].dropped_nomem_packets == .[0].dropped_nomem_packets + 72' \
		"GRANTs are not processed before the next dequeue" '.[1].grants_idle == .[0].grants_idle' \
		"kept GRANTs are processed at the next dequeue" '.[2].grants_idle >= .[0].grants_idle + 128' \
		"no packet stays queued after 200 GRANTs" \
		'.[2].qlen == 0 and .[2].backlog == 0 and .[2].flows_waiting == 0'
else
	skip "200 GRANTs while the parent does not dequeue" "no tbf"
fi
finish

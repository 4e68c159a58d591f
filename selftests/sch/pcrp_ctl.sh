#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Control packets at the receiver: valid ones in all kinds of frames, malformed, repeated, reordered and foreign ones,
# and flows whose sender falls silent.
#
#	+---- a ----+     +------- b -------+
#	| pcrp_talk |=====| v1: pcrp        |
#	+-----------+     +-----------------+
. "$(dirname "$0")/../lib/lib.sh"
need_sch pcrp
setup_ns a b
link_ab
ip netns exec "$b" tee /proc/sys/net/ipv6/conf/{all,v1}/disable_ipv6 >/dev/null <<<0
ip -n "$b" link add link v1 name v1.5 type vlan id 5
ip -n "$b" -batch - <<-END
	link set v1.5 up
	addr add 203.0.113.2/24 dev v1
	neigh add 203.0.113.1 lladdr $MAC_A nud permanent dev v1
	addr add 2001:db8::2/64 dev v1 nodad
	neigh add 2001:db8::1 lladdr $MAC_A nud permanent dev v1
END
port=100
# answer FIELDS [DSCP]: the GRANT that answers the first REQUEST of a flow
answer() { echo "grant dscp=${2:-56} prio=7${1:+ $1} offset=10000"; }
# granted PRIO OFFSET [FIELDS [DSCP]]: a GRANT that a data packet triggers
granted() { echo "grant dscp=${4:-56} prio=$1${3:+ $3} offset=$2 ask=0"; }

# fresh [ARGUMENT...]: create a new qdisc without state at b
fresh() {
	[[ " $* " = *" grants "* ]] || set -- grants 2 "$@"
	tc -n "$b" qdisc replace dev v1 root handle "$(printf %x $((${EPOCHREALTIME/./} % 60000 + 16))):" \
		pcrp chain 10000 "$@"
}

# receiver: statistics of the qdisc
receiver() { tc -n "$b" -s -j qdisc show dev v1 | unwrap; }

# trusted: deliver three chains, so that the flows' common source has credit
trusted() {
	pcrp_talk -s "$a/v0" request:udp4:sport=9,size=30000 data:tcp4,sport=9,gso=1000,csum=partial:bytes=20000,seq=5000 \
		data:tcp4,sport=9,gso=1000,csum=partial:bytes=10000,seq=25000 wait=1 >/dev/null
}

# time to wait for answers, ms
ANSWERS=5
exact || ANSWERS=50

# talk WHAT EXPECTED STEP...: run the steps of pcrp_talk at a; the answers are EXPECTED
talk() {
	local what=$1 expected=$2
	shift 2
	check_to "$TMP/answers" "$what: packets are sent" pcrp_talk -s "$a/v0" "$@" wait=$ANSWERS
	check_eq "$what: expected answers" "$(<"$TMP/answers")" "$expected"
}

# ---- valid control packets in all kinds of frames

gso=yes	# UDP GSO frames can be sent, since 6.2
pcrp_talk -s "$a/v0" request:udp4,gso=64,csum=partial:n=3 2>/dev/null || gso=''
fresh
for spec in udp4 udp6 udp4,csum=partial udp6,csum=partial udp4,opt=8 udp6,opt=16 udp4,pad=10 udp4,ecn=3; do
	port=$((port + 1))
	talk "REQUEST in $spec" "$(answer sport=$port)" "request:$spec:sport=$port"
done
for spec in udp4,vlan=in udp6,vlan=in; do
	port=$((port + 1))
	talk "REQUEST in $spec" "$(answer sport=$port "56 vlan=5")" "request:$spec:sport=$port"
done
talk "PROBE" "$(answer sport=200)" probe:udp4:sport=200
requests=12
if [ -n "$gso" ]; then
	talk "three REQUESTs in one GRO packet" "$(answer)"$'\n'"$(answer) ask=2"$'\n'"$(answer) ask=3" \
		request:udp4,gso=64,csum=partial:n=3
	requests=15
fi
talk "REQUEST of a UDP flow" "$(answer proto=17)" request:udp4:proto=17,seq=0
talk "REQUEST of a GRE flow" "$(answer "proto=47 sport=0 dport=0")" request:udp4:proto=47,seq=0,sport=0,dport=0
check_json "$(receiver)" "no valid control packet is malformed" '.rx_malformed == 0' \
	"each valid REQUEST and PROBE is counted" ".rx_requests == $requests and .rx_probes == 1"

# ---- foreign packets

fresh
for spec in udp4,port=1022 udp4,sport=1022 udp4,sport=61200 udp4,frag=1 udp6,frag=1 udp4,mcast=1 udp6,mcast=1 \
	udp4,vlan=qinq tcp4; do
	talk "REQUEST in foreign $spec" "" "request:$spec"
done
talk "REQUEST to another Ethernet address" "" request:udp4:mac=other
for src in 0.0.0.0 224.0.0.1 255.255.255.255; do
	talk "REQUEST from the invalid source $src" "" "request:udp4,csum=partial:src=$src"
done
for src in :: ff02::1; do
	talk "REQUEST from the invalid source $src" "" "request:udp6,csum=partial:src=$src"
done
ip -n "$b" addr del 203.0.113.2/24 dev v1
talk "REQUEST to a foreign IP address" "" request
ip -n "$b" addr add 203.0.113.2/24 dev v1
check_json "$(receiver)" "foreign packets are not counted" '.rx_malformed == 0 and .rx_requests == 0 and .rx_flows == 0'

# ---- malformed

bad='version=0 version=2 type=0 type=4 type=255 prio=8 proto=0 proto=1,seq=0 proto=17 size=0 size=0x1000000000000001
	offset=100001 chain_no=0 first=0 first=0x40000001 chain=0 chain=0x40000001 ask=0 reserved=1 len=0 len=1 len=63 len=65
	n=2 type=3 type=3,first=0,chain=0,seq=0,prio=3'
frames='udp4,csum=wrong udp4,csum=none udp6,csum=wrong udp6,csum=none'
steps=()
for fields in $bad; do
	steps+=("request:udp4:$fields")
done
for spec in $frames; do
	steps+=("request:$spec")
done
for len in 1 8 71 73 136; do
	steps+=("request:udp4,csum=partial:udplen=$len" "request:udp6,csum=partial:udplen=$len")
done
talk "malformed control packets" "" "${steps[@]}"
check_json "$(receiver)" \
	"each malformed control packet is counted" ".rx_malformed == ${#steps[@]}" \
	"malformed control packets create no flow" \
	'.rx_requests == 0 and .rx_flows == 0 and .answers_sent == 0 and .grants_sent == 0'

if [ -n "$gso" ]; then
	fresh
	talk "three malformed REQUESTs in one GRO packet" "" request:udp4,gso=64,csum=partial:n=3,version=2
	check_json "$(receiver)" "each malformed REQUEST in a GRO packet is counted" '.rx_malformed == 3'
	talk "more REQUESTs than GRO merges" "" request:udp4,gso=64,csum=partial:n=65
	check_json "$(receiver)" "a GRO packet of 65 REQUESTs counts as one malformed packet" \
		'.rx_malformed == 4 and .rx_requests == 0'
fi

# ---- repeated and reordered packets

# must end before the receiver considers the sender silent
test_order() {
	fresh
	talk "REQUEST sent twice" "$(answer)"$'\n'"$(answer)" request request
	talk "first packet of a chain" "$(granted 4 20000)" data:tcp4:bytes=1000,seq=5000
	talk "duplicate and second packet of a chain" "" data:tcp4:bytes=1000,seq=5000 data:tcp4:bytes=5000,seq=6000
	talk "last packet of the second chain, reordered" "$(granted 4 30000)" \
		data:tcp4:bytes=1000,seq=24000
	talk "first packets of the second chain, late" "" data:tcp4:bytes=8000,seq=15000 data:tcp4:bytes=1000,seq=23000
	talk "PROBE of a flow with a GRANT" "grant dscp=56 prio=4 offset=30000 ask=9" \
		probe:udp4:offset=20000,seq=25000,ask=9
	talk "packets of two chains in one GRO packet" "$(granted 4 40000)" \
		data:tcp4,gso=1000,csum=partial:bytes=10000,seq=25000
	talk "late REQUEST of an older flow" "" request:udp4:flow_no=0
	talk "REQUEST of a newer flow" "$(answer flow_no=2)" request:udp4:flow_no=2
	talk "data of a flow without a REQUEST" "" data:tcp4,sport=3000:bytes=1000
	check_json "$(receiver)" \
		"reordered control packets are counted" \
		'.rx_requests == 4 and .rx_probes == 1 and .grants_sent == 3 and .answers_sent == 4' \
		"the newest flow replaces the older one" '.rx_flows == 1 and .rx_granted == 0 and .rx_malformed == 0'
}

# ---- the table of granted flows

test_table() {
	fresh
	trusted
	talk "three flows for two table entries" "$(answer "sport=1 size=70000")
$(answer "sport=2 size=60000")
$(answer "sport=3 size=50000")
$(granted 4 20000 "sport=1 size=70000")
$(granted 4 20000 "sport=2 size=60000")
$(granted 4 20000 "sport=3 size=50000")" \
		request:udp4:sport=1,size=70000 request:udp4:sport=2,size=60000 request:udp4:sport=3,size=50000 \
		data:tcp4,sport=1:seq=5000 data:tcp4,sport=2:seq=5000 data:tcp4,sport=3:seq=5000 \
		data:tcp4,sport=2:bytes=1000,seq=64000
	check_json "$(receiver)" \
		"a flow that was received completely is finished" '.rx_finished == 2 and .rx_flows == 2' \
		"at most two flows are granted at a time" '.rx_granted == 2 and .rx_granted_peak == 2'
	check "the size of a received flow is in the histogram" eval "pcrp_netlink -n $b get | grep -qw 16:1"
	sleep 0.3
	check_json "$(receiver)" "flows of a silent sender expire" \
		'.rx_expired == 2 and .rx_flows == 0 and .rx_granted == 0'
}

# ---- VLAN and DSCP of GRANTs

# GRANTs use the VLAN of the newest REQUEST.
test_vlan_and_map() {
	fresh
	talk "REQUEST by another VLAN" "$(answer)
$(answer "" "56 vlan=5")
$(granted 4 20000 "" "56 vlan=5")" request request:udp4,vlan=in data:tcp4:bytes=1000,seq=5000
	talk "REQUEST of an older flow by another VLAN" "$(granted 4 30000 "" "56 vlan=5")" \
		request:udp4:flow_no=0 data:tcp4:bytes=1000,seq=15000
	fresh map 0:46,4:10
	talk "map 0:46,4:10" "$(answer "" 46)" request
	tc -n "$b" qdisc change dev v1 root pcrp map off
	talk "map off" "$(answer "" 0)" request
}

# chain auto follows the device's MTU when a packet is sent.
test_chain() {
	fresh
	in_ns "$b" ethtool -K v1 gso off
	tc -n "$b" qdisc change dev v1 root pcrp chain auto rate 1gbit
	check_json "$(receiver)" "chain auto is two packets at MTU 9000" '.chain_bytes == 18000'
	ip -n "$b" link set v1 mtu 1500
	sleep 0.02
	talk "chain of the receiver shorter than the sender's" "$(answer)
$(granted 4 13000)" request data:tcp4:bytes=1000,seq=5000
	check_json "$(receiver)" "chain auto is two packets at MTU 1500" '.chain_bytes == 3000'
	ip -n "$b" link set v1 mtu 9000
	in_ns "$b" ethtool -K v1 gso on
}

# A smaller flow evicts a larger one when all granted data of the larger one has arrived.
test_evict() {
	fresh grants 1 evict
	trusted
	talk "smaller flow with evict" "$(answer "sport=1 size=70000")
$(granted 4 20000 "sport=1 size=70000")
$(answer "sport=2 size=50000")
$(granted 4 20000 "sport=2 size=50000")" \
		request:udp4:sport=1,size=70000 data:tcp4,sport=1:seq=5000 \
		request:udp4:sport=2,size=50000 data:tcp4,sport=2:seq=5000 \
		data:tcp4,sport=1,gso=1000,csum=partial:bytes=19000,seq=6000
	check_json "$(receiver)" "an eviction is counted" '.rx_evicted == 1 and .rx_granted == 1 and .rx_granted_peak == 1'
}

# With profile paper, a flow that found the table full does not wait, and priorities rise at once.
test_paper() {
	fresh profile paper
	trusted
	talk "three flows for two table entries with profile paper" "$(answer "sport=1 size=70000")
$(granted 4 20000 "sport=1 size=70000")
$(answer "sport=2 size=60000")
$(granted 4 20000 "sport=2 size=60000")
$(granted 5 30000 "sport=1 size=70000")
$(answer "sport=3 size=50000")
$(granted 4 40000 "sport=1 size=70000")
$(granted 4 20000 "sport=3 size=50000")" \
		request:udp4:sport=1,size=70000 data:tcp4,sport=1:seq=5000 \
		request:udp4:sport=2,size=60000 data:tcp4,sport=2:seq=5000 data:tcp4,sport=1:bytes=1000,seq=15000 \
		request:udp4:sport=3,size=50000 data:tcp4,sport=3:seq=5000 data:tcp4,sport=2:bytes=1000,seq=64000 \
		data:tcp4,sport=1:bytes=1000,seq=25000 data:tcp4,sport=3:bytes=1000,seq=6000
}

# A flow without data gets no table entry. A source without credit, which has not delivered data yet, gets one entry.
test_untrusted() {
	fresh
	talk "REQUEST and PROBE of a flow without data" "$(answer sport=1)
grant dscp=56 prio=7 sport=1 offset=10000 ask=2" \
		request:udp4:sport=1 probe:udp4:sport=1,ask=2
	check_json "$(receiver)" "a flow without data has no table entry" '.rx_flows == 1 and .rx_granted == 0'
	talk "data of two flows of a new source" "$(granted 4 20000 sport=1)
$(answer sport=2)" data:tcp4,sport=1:bytes=10,seq=5000 request:udp4:sport=2 \
		data:tcp4,sport=2:bytes=10,seq=5000 data:tcp4,sport=2:bytes=10,seq=5010
	check_json "$(receiver)" "a source without credit has one table entry" \
		'.rx_flows == 2 and .rx_granted == 1'
	sleep 0.03
	check_json "$(receiver)" "a table entry without data is revoked" '.rx_granted == 0 and .rx_revoked == 1'
}

# The receiver remembers 256 flows per host. Further flows are granted in full.
test_full() {
	local steps=() sport
	for ((sport = 1; sport <= 260; sport++)); do
		steps+=("request:udp4:sport=$sport")
		((sport % 32)) || steps+=(wait=0)	# the socket buffer holds 32 answers
	done
	fresh
	check_to "$TMP/answers" "REQUESTs of 260 flows are sent" pcrp_talk -s "$a/v0" "${steps[@]}" wait=$ANSWERS
	check_eq "256 flows are answered without a new GRANT, 4 are granted in full" \
		"$(grep -c ' offset=10000$' "$TMP/answers") $(grep -c ' offset=100000$' "$TMP/answers")" "256 4"
	check_json "$(receiver)" "REQUESTs beyond 256 flows are counted as overflow" '.rx_flows == 256 and .rx_overflow == 4'
	sleep 0.15
	check_json "$(receiver)" "256 flows without data expire" '.rx_flows == 0 and .rx_expired == 256'
}

if exact; then
	test_order
	test_table
	test_vlan_and_map
	test_chain
	test_evict
	test_paper
	test_untrusted
	test_full
else
	skip "order, table of granted flows, VLAN, map, chain" "time is real"
fi

# ---- deletion under traffic

job traffic udp -n "$a" -d 10.0.0.2 -p 9 -l 1400
for i in 1 2 3 4 5 6 7 8; do
	pcrp_talk -s "$a/v0" request request:udp4:sport=$((i + 10)) data data:tcp4:seq=6000 wait=5 >/dev/null
	fresh window $((i % 2 * 100))us
done
check "pcrp can be deleted under traffic" tc -n "$b" qdisc del dev v1 root
stop_jobs
check "pcrp can be added after it was deleted" tc -n "$b" qdisc add dev v1 root pcrp
ip netns del "$b"
NAMESPACES=("$a")
check "sch_pcrp unloads after the namespace was deleted" wait_for 5 rmmod sch_pcrp
load_module sch_pcrp
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What a receiver makes of control packets: good ones in all sorts of frames, malformed, repeated, late and early ones,
# ones for others, and those of senders that fall silent.
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
# answer FIELDS [DSCP]: to a flow's first request
answer() { echo "grant dscp=${2:-56} prio=7${1:+ $1} offset=10000"; }
# granted PRIO OFFSET [FIELDS [DSCP]]: a grant that a packet has brought about; it answers no request
granted() { echo "grant dscp=${4:-56} prio=$1${3:+ $3} offset=$2 ask=0"; }

# fresh [ARGUMENT...]: a new qdisc at b, which knows nothing
fresh() {
	[[ " $* " = *" grants "* ]] || set -- grants 2 "$@"
	tc -n "$b" qdisc replace dev v1 root handle "$(printf %x $((${EPOCHREALTIME/./} % 60000 + 16))):" \
		pcrp chain 10000 "$@"
}

# receiver: what the qdisc has counted
receiver() { tc -n "$b" -s -j qdisc show dev v1 | unwrap; }

# trusted: a, all of whose flows have the same source, has delivered three chains
trusted() {
	pcrp_talk -s "$a/v0" request:udp4:sport=9,size=30000 data:tcp4,sport=9,gso=1000,csum=partial:bytes=20000,seq=5000 \
		data:tcp4,sport=9,gso=1000,csum=partial:bytes=10000,seq=25000 wait=1 >/dev/null
}

# how long answers may take, ms
ANSWERS=5
exact || ANSWERS=50

# talk WHAT WANT STEP...: a says this, and nothing but WANT comes back
talk() {
	local what=$1 want=$2
	shift 2
	check_to "$TMP/said" "$what: can be sent" pcrp_talk -s "$a/v0" "$@" wait=$ANSWERS
	check_eq "$what: answer" "$(<"$TMP/said")" "$want"
}

# ---- good ones, in all sorts of frames

gso=yes	# can a frame of several datagrams be sent? Not before 6.2
pcrp_talk -s "$a/v0" request:udp4,gso=64,csum=partial:n=3 2>/dev/null || gso=''
fresh
for spec in udp4 udp6 udp4,csum=partial udp6,csum=partial udp4,opt=8 udp6,opt=16 udp4,pad=10 udp4,ecn=3; do
	port=$((port + 1))
	talk "request in $spec" "$(answer sport=$port)" "request:$spec:sport=$port"
done
for spec in udp4,vlan=in udp6,vlan=in; do
	port=$((port + 1))
	talk "request in $spec" "$(answer sport=$port "56 vlan=5")" "request:$spec:sport=$port"
done
talk "probe" "$(answer sport=200)" probe:udp4:sport=200
requests=12
if [ -n "$gso" ]; then
	talk "three in one of GRO's packets" "$(answer)"$'\n'"$(answer) ask=2"$'\n'"$(answer) ask=3" \
		request:udp4,gso=64,csum=partial:n=3
	requests=15
fi
talk "UDP's flow" "$(answer proto=17)" request:udp4:proto=17,seq=0
talk "another protocol's flow" "$(answer "proto=47 sport=0 dport=0")" request:udp4:proto=47,seq=0,sport=0,dport=0
check_json "$(receiver)" "none is malformed" '.rx_malformed == 0' "all are counted" ".rx_requests == $requests and .rx_probes == 1"

# ---- for others

fresh
for spec in udp4,port=1022 udp4,sport=1022 udp4,sport=61200 udp4,frag=1 udp6,frag=1 udp4,mcast=1 udp6,mcast=1 udp4,vlan=qinq tcp4; do
	talk "in $spec" "" "request:$spec"
done
talk "to another host" "" request:udp4:mac=other
for src in 0.0.0.0 224.0.0.1 255.255.255.255; do
	talk "from $src, which is no host" "" "request:udp4,csum=partial:src=$src"
done
for src in :: ff02::1; do
	talk "from $src, which is no host" "" "request:udp6,csum=partial:src=$src"
done
ip -n "$b" addr del 203.0.113.2/24 dev v1
talk "to be forwarded" "" request
ip -n "$b" addr add 203.0.113.2/24 dev v1
check_json "$(receiver)" "none of them is ours" '.rx_malformed == 0 and .rx_requests == 0 and .rx_flows == 0'

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
talk "malformed ones" "" "${steps[@]}"
check_json "$(receiver)" \
	"all of them are counted" ".rx_malformed == ${#steps[@]}" \
	"no flow comes of them" '.rx_requests == 0 and .rx_flows == 0 and .answers_sent == 0 and .grants_sent == 0'

if [ -n "$gso" ]; then
	fresh
	talk "three malformed in one" "" request:udp4,gso=64,csum=partial:n=3,version=2
	check_json "$(receiver)" "each is counted" '.rx_malformed == 3'
	talk "more in one than GRO puts together" "" request:udp4,gso=64,csum=partial:n=65
	check_json "$(receiver)" "it is malformed" '.rx_malformed == 4 and .rx_requests == 0'
fi

# ---- repeated, late, early

# All of that has to be done before the sender counts as silent.
test_order() {
	fresh
	talk "a request twice" "$(answer)"$'\n'"$(answer)" request request
	talk "a chain's first packet" "$(granted 4 20000)" data:tcp4:bytes=1000,seq=5000
	talk "again, and one more of that chain" "" data:tcp4:bytes=1000,seq=5000 data:tcp4:bytes=5000,seq=6000
	talk "the second chain's last packet, before the others" "$(granted 4 30000)" \
		data:tcp4:bytes=1000,seq=24000
	talk "those, late" "" data:tcp4:bytes=8000,seq=15000 data:tcp4:bytes=1000,seq=23000
	talk "a probe says how things are" "grant dscp=56 prio=4 offset=30000 ask=9" probe:udp4:offset=20000,seq=25000,ask=9
	talk "two chains in one of GRO's packets" "$(granted 4 40000)" \
		data:tcp4,gso=1000,csum=partial:bytes=10000,seq=25000
	talk "an older flow's request is late" "" request:udp4:flow_no=0
	talk "a newer flow's" "$(answer flow_no=2)" request:udp4:flow_no=2
	talk "a packet that no request spoke of" "" data:tcp4,sport=3000:bytes=1000
	check_json "$(receiver)" \
		"counted" '.rx_requests == 4 and .rx_probes == 1 and .grants_sent == 3 and .answers_sent == 4' \
		"one flow, of which no data have come" '.rx_flows == 1 and .rx_granted == 0 and .rx_malformed == 0'
}

# ---- the table, and its end

test_table() {
	fresh
	trusted
	talk "three flows, two places" "$(answer "sport=1 size=70000")
$(answer "sport=2 size=60000")
$(answer "sport=3 size=50000")
$(granted 4 20000 "sport=1 size=70000")
$(granted 4 20000 "sport=2 size=60000")
$(granted 4 20000 "sport=3 size=50000")" \
		request:udp4:sport=1,size=70000 request:udp4:sport=2,size=60000 request:udp4:sport=3,size=50000 \
		data:tcp4,sport=1:seq=5000 data:tcp4,sport=2:seq=5000 data:tcp4,sport=3:seq=5000 \
		data:tcp4,sport=2:bytes=1000,seq=64000
	check_json "$(receiver)" \
		"one was received whole" '.rx_finished == 2 and .rx_flows == 2' \
		"never more than two" '.rx_granted == 2 and .rx_granted_peak == 2'
	check "its size is in the histogram" eval "pcrp_netlink -n $b get | grep -qw 16:1"
	sleep 0.3
	check_json "$(receiver)" "senders that fell silent are forgotten" '.rx_expired == 2 and .rx_flows == 0 and .rx_granted == 0'
}

# ---- where grants go, and how

# A way is told by the VLAN: the newest request's is taken.
test_ways() {
	fresh
	talk "a flow asks on another way" "$(answer)
$(answer "" "56 vlan=5")
$(granted 4 20000 "" "56 vlan=5")" request request:udp4,vlan=in data:tcp4:bytes=1000,seq=5000
	talk "an older flow's way is not taken" "$(granted 4 30000 "" "56 vlan=5")" \
		request:udp4:flow_no=0 data:tcp4:bytes=1000,seq=15000
	fresh map 0:46,4:10
	talk "another map" "$(answer "" 46)" request
	tc -n "$b" qdisc change dev v1 root pcrp map off
	talk "no map" "$(answer "" 0)" request
}

# The device's MTU makes the chain, once something was sent.
test_chain() {
	fresh
	in_ns "$b" ethtool -K v1 gso off
	tc -n "$b" qdisc change dev v1 root pcrp chain auto rate 1gbit
	check_json "$(receiver)" "two packets of 9000 bytes" '.chain_bytes == 18000'
	ip -n "$b" link set v1 mtu 1500
	sleep 0.02
	talk "a chain has become shorter than the sender's" "$(answer)
$(granted 4 13000)" request data:tcp4:bytes=1000,seq=5000
	check_json "$(receiver)" "two packets of 1500 bytes" '.chain_bytes == 3000'
	ip -n "$b" link set v1 mtu 9000
	in_ns "$b" ethtool -K v1 gso on
}

# One place: a smaller flow gets it when all has come that the larger one was granted
test_evict() {
	fresh grants 1 evict
	trusted
	talk "a smaller flow takes the larger one's place" "$(answer "sport=1 size=70000")
$(granted 4 20000 "sport=1 size=70000")
$(answer "sport=2 size=50000")
$(granted 4 20000 "sport=2 size=50000")" \
		request:udp4:sport=1,size=70000 data:tcp4,sport=1:seq=5000 \
		request:udp4:sport=2,size=50000 data:tcp4,sport=2:seq=5000 \
		data:tcp4,sport=1,gso=1000,csum=partial:bytes=19000,seq=6000
	check_json "$(receiver)" "counted" '.rx_evicted == 1 and .rx_granted == 1 and .rx_granted_peak == 1'
}

# Flows without data have no place, and a source without credit has one.
test_untrusted() {
	fresh
	talk "flows without data ask and ask" "$(answer sport=1)
grant dscp=56 prio=7 sport=1 offset=10000 ask=2" \
		request:udp4:sport=1 probe:udp4:sport=1,ask=2
	check_json "$(receiver)" "a flow without data has no place" '.rx_flows == 1 and .rx_granted == 0'
	talk "two flows, and two packets of each" "$(granted 4 20000 sport=1)
$(answer sport=2)" data:tcp4,sport=1:bytes=10,seq=5000 request:udp4:sport=2 \
		data:tcp4,sport=2:bytes=10,seq=5000 data:tcp4,sport=2:bytes=10,seq=5010
	check_json "$(receiver)" "a source that has delivered nothing has one place" '.rx_flows == 2 and .rx_granted == 1'
	sleep 0.03
	check_json "$(receiver)" "a place without data is lost" '.rx_granted == 0 and .rx_revoked == 1'
}

# More flows of a host than are remembered: the others are granted all that they have.
test_full() {
	local steps=() sport
	for ((sport = 1; sport <= 260; sport++)); do
		steps+=("request:udp4:sport=$sport")
		((sport % 32)) || steps+=(wait=0)	# the socket keeps no more answers
	done
	fresh
	check_to "$TMP/said" "260 flows ask" pcrp_talk -s "$a/v0" "${steps[@]}" wait=$ANSWERS
	check_eq "256 get an answer that grants nothing new, 4 one that grants all" \
		"$(grep -c ' offset=10000$' "$TMP/said") $(grep -c ' offset=100000$' "$TMP/said")" "256 4"
	check_json "$(receiver)" "counted" '.rx_flows == 256 and .rx_overflow == 4'
	sleep 0.15
	check_json "$(receiver)" "all are forgotten" '.rx_flows == 0 and .rx_expired == 256'
}

if exact; then
	test_order
	test_table
	test_ways
	test_chain
	test_evict
	test_untrusted
	test_full
else
	skip "order, the table, ways, chains" "the machine is late"
fi

# ---- nothing is left behind

job traffic udp -n "$a" -d 10.0.0.2 -p 9 -l 1400
for i in 1 2 3 4 5 6 7 8; do
	pcrp_talk -s "$a/v0" request request:udp4:sport=$((i + 10)) data data:tcp4:seq=6000 wait=5 >/dev/null
	fresh window $((i % 2 * 100))us
done
check "deleted under traffic" tc -n "$b" qdisc del dev v1 root
stop_jobs
check "the device is free" tc -n "$b" qdisc add dev v1 root pcrp
ip netns del "$b"
NAMESPACES=("$a")
check "nothing holds the module" wait_for 5 rmmod sch_pcrp
load_module sch_pcrp
finish

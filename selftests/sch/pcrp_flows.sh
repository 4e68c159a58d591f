#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# More flows than the table has entries: excess flows share one ungated queue, and their packets are counted. Only
# finished flows give up their entries. No packet is lost or stays queued.
# shellcheck disable=SC2317 # functions are called through check and wait_for
#
#	+------------ a ------------+     +---- b ----+
#	| frames, traffic, v0: pcrp |=====| v1        |
#	+---------------------------+     +-----------+
. "$(dirname "$0")/../lib/lib.sh"
need_sch pcrp
setup_ns a b
link_ab
. "$(dirname "$0")/../lib/pcrp_pair.sh"

# send PORT COUNT [KIND]: send COUNT frames, each a flow with its own source port
send() { send_frames -s "$a/v0" "${3:-udp4},len=100,port=$1,n=$2"; }

# all_arrive WHAT COUNT: b has received COUNT packets since `before` was set, and a has no packet queued
arrived() { [ "$(rx_packets)" -ge "$1" ]; }
all_arrive() {
	check "$1: $2 packets arrive" wait_for 20 arrived $((before + $2))
	check_eq "$1: no other packet arrives" "$(rx_packets)" $((before + $2))
	check_json "$(pcrp_stats "$a/v0")" \
		"$1: no packet stays queued" '.qlen == 0 and .backlog == 0' \
		"$1: all flows have finished" \
			'.flows_started == .flows_finished and .flows_ready == 0 and .flows_waiting == 0' \
		"$1: no packet is dropped" '.drops == 0 and .dropped_limit_packets == 0'
}

# ---- 40 unfinished flows for 16 entries

pcrp_new "$a/v0" flows 16 first 1gb rate 1kbit
before=$(rx_packets)
send_frames -s "$a/v0" "$PLUG"
send 1 40
send 1 40
check_json "$(pcrp_stats "$a/v0")" \
	"16 of 40 flows have an entry, the excess flows share one" '.flows_ready == 17 and .flows_started == 18' \
	"each packet of 24 excess flows is counted as overflow" '.flows_overflow == 48' \
	"a finished flow gives up its entry" '.flows_idle == 0 and .flows_finished == 1' \
	"all packets of 40 flows are queued" '.qlen == 80'
tc -n "$a" qdisc change dev v0 root pcrp rate 0
all_arrive "40 flows, 16 entries" 81
check_eq "finished flows keep their entries, and so do the excess flows together" \
	"$(pcrp_count "$a/v0" flows_idle)" 17
before=$(rx_packets)
for port in 2 3; do
	send $port 100
done
all_arrive "200 flows in sequence" 200
check_json "$(pcrp_stats "$a/v0")" "each of 200 flows in sequence gets an entry" \
	'.flows_overflow == 48 and .flows_started == 218'

# ---- 10,200 concurrent flows: IPv4, IPv6, UDP, TCP

each=3400
exact || each=1000 # an emulated machine is slow
# all packets arrive at b at once
backlog=$(sysctl -n net.core.netdev_max_backlog)
defer "sysctl -qw net.core.netdev_max_backlog=$backlog"
sysctl -qw net.core.netdev_max_backlog=20000

# many ENTRIES: queue a packet of each flow in a table of ENTRIES
many() {
	local all=$((3 * each)) overflow=0 what
	[ "$1" -ge $all ] || overflow=$((all - $1))
	what="$all flows, $1 entries"
	pcrp_new "$a/v0" limit 20000 first 1gb rate 1kbit flows "$1"
	before=$(rx_packets)
	send_frames -s "$a/v0" "$PLUG"
	send 1001 $each udp4
	send 1002 $each tcp4
	send 1003 $each udp6
	check_json "$(pcrp_stats "$a/v0")" \
		"$what: $overflow flows have no entry" ".flows_overflow == $overflow" \
		"$what: all other flows have an entry" ".flows_ready == $((all - overflow + (overflow > 0)))" \
		"$what: all packets are queued" ".qlen == $all"
	tc -n "$a" qdisc change dev v0 root pcrp rate 0
	all_arrive "$what" $((all + 1))
}
many 16384
many 1024

# ---- flows that wait for GRANTs keep their entries

# b sends flows of 50 datagrams of 1000 bytes. pcrp_talk at a answers, but grants only the first chain of ten datagrams.
test_waiting() {
	local look="tc -n $b -s -j qdisc show dev v1 root"
	tc -n "$a" qdisc del dev v0 root
	ip -n "$b" -batch - <<-END
		addr add 203.0.113.2/24 dev v1
		neigh add 203.0.113.1 lladdr $MAC_A nud permanent dev v1
	END
	pcrp_new "$b/v1" flows 16 chain 10000 first 10000 hold 10s rate 100mbit
	for ((i = 1; i <= 20; i++)); do
		echo "traffic udp -n $b -d 203.0.113.1 -p $i -c 50 -l 1000"
	done >"$TMP/flows"
	check_to "$TMP/talk" "21 flows send datagrams, 16 of them get no GRANT" \
		pcrp_talk -s "$a/v0" answer=1000000 "sh=sed 1q $TMP/flows | sh >/dev/null" wait=50 show \
		answer=10000 "sh=sh $TMP/flows >/dev/null" wait=100 show "sh=$look >$TMP/waiting" \
		"sh=sed 1q $TMP/flows | sed s/-p.1/-p99/ | sh >/dev/null" wait=50 show "sh=$look >$TMP/later" \
		answer=1000000 wait=150 show
	# a granted flow; 16 first chains and 4 flows without an entry; another flow without an entry; then the rest
	check_eq "granted chains and flows without an entry are sent" \
		"$(sed -n 's/^data //p' "$TMP/talk" | paste -s -d ' ')" "50000 361000 50000 639000"
	check_json "$(<"$TMP/waiting")" "16 flows wait, packets without an entry are counted" \
		'.[0].flows_waiting == 16 and .[0].flows_overflow == 200'
	check_json "$(<"$TMP/later")" "a new flow takes no entry of a waiting flow" \
		'.[0].flows_waiting == 16 and .[0].flows_overflow == 250'
	check "all flows finish when they are granted" settled "$b/v1"
}

# ---- more peers than the table holds

# send_to_hosts: send a datagram to each of 2000 hosts, and often one to b
# shellcheck disable=SC2016 # another shell expands
send_to_hosts() {
	in_ns "$a" bash -c 'for ((i = 0; i < 2000; i++)); do
			echo >"/dev/udp/198.18.$((i / 250)).$((i % 250 + 1))/9"
			((i % 25)) || echo >/dev/udp/10.0.0.2/9
		done' 2>"$TMP/refused"
}

test_hosts() {
	tc -n "$b" qdisc replace dev v1 root handle 1: pcrp chain 20000
	pcrp_new "$a/v0" chain 20000 rate 1gbit
	ip -n "$a" route add 198.18.0.0/16 via 10.0.0.2
	check "data arrives at b before datagrams to 2000 hosts" transfer 10.0.0.2 300000
	check_json "$(pcrp_stats "$a/v0")" "b is counted as answering" '.peers == 1 and .peers_answering == 1'
	check "datagrams to 2000 hosts are sent" send_to_hosts
	ungated=$(pcrp_count "$a/v0" flows_ungated)
	check_json "$(pcrp_stats "$a/v0")" \
		"about 1024 peers are remembered, less collisions of their hashes" '.peers <= 1024 and .peers >= 950' \
		"a peer in frequent use is remembered" '.peers_answering == 1'
	check "data arrives at b after datagrams to 2000 hosts" transfer 10.0.0.2 300000
	check_eq "flows to a remembered peer are gated" "$(pcrp_count "$a/v0" flows_ungated)" "$ungated"
}

if exact; then
	test_waiting
	test_hosts
else
	skip "waiting flows and peers" "in real time, PROBEs are answered too late"
fi
finish

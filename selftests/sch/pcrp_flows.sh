#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# More flows than the table has places: those beyond go on ungated, together, and are counted; only flows that have
# ended give their places away; nothing is lost, and nothing is left queued.
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

# send PORT COUNT [KIND]: frames of a flow each, told by their source port
send() { send_frames -s "$a/v0" "${3:-udp4},len=100,port=$1,n=$2"; }

# all_arrive WHAT COUNT: b has got so many since `before` was set, and a has none left
arrived() { [ "$(rx_packets)" -ge "$1" ]; }
all_arrive() {
	check "$1: $2 arrive" wait_for 20 arrived $((before + $2))
	check_eq "$1: no more" "$(rx_packets)" $((before + $2))
	check_json "$(pcrp_stats "$a/v0")" \
		"$1: nothing is queued" '.qlen == 0 and .backlog == 0' \
		"$1: all flows have ended" \
			'.flows_started == .flows_finished and .flows_ready == 0 and .flows_waiting == 0' \
		"$1: nothing was dropped" '.drops == 0 and .dropped_limit_packets == 0'
}

# ---- 40 flows in 16 places, while none ends

pcrp_new "$a/v0" flows 16 first 1gb rate 1kbit
before=$(rx_packets)
send_frames -s "$a/v0" "$PLUG"
send 1 40
send 1 40
check_json "$(pcrp_stats "$a/v0")" \
	"16 are told apart, and what the others send is a flow" '.flows_ready == 17 and .flows_started == 18' \
	"that of 24 of them, each packet counted" '.flows_overflow == 48' \
	"a flow that has ended gave its place away" '.flows_idle == 0 and .flows_finished == 1' \
	"all wait" '.qlen == 80'
tc -n "$a" qdisc change dev v0 root pcrp rate 0
all_arrive "40 flows, 16 places" 81
check_eq "ended ones are remembered, as many as have a place, and what the others sent" \
	"$(pcrp_count "$a/v0" flows_idle)" 17
before=$(rx_packets)
for port in 2 3; do
	send $port 100
done
all_arrive "200 more, one after the other" 200
check_json "$(pcrp_stats "$a/v0")" "each has a place for its time" '.flows_overflow == 48 and .flows_started == 218'

# ---- 10,200 at a time: IPv4, IPv6, UDP, TCP

each=3400
exact || each=1000 # an emulated machine takes its time
# all come to b at once
backlog=$(sysctl -n net.core.netdev_max_backlog)
defer "sysctl -qw net.core.netdev_max_backlog=$backlog"
sysctl -qw net.core.netdev_max_backlog=20000

# many PLACES: so many flows have a place
many() {
	local all=$((3 * each)) overflow=0 what
	[ "$1" -ge $all ] || overflow=$((all - $1))
	what="$all flows, $1 places"
	pcrp_new "$a/v0" limit 20000 first 1gb rate 1kbit flows "$1"
	before=$(rx_packets)
	send_frames -s "$a/v0" "$PLUG"
	send 1001 $each udp4
	send 1002 $each tcp4
	send 1003 $each udp6
	check_json "$(pcrp_stats "$a/v0")" \
		"$what: $overflow have no place" ".flows_overflow == $overflow" \
		"$what: all others have" ".flows_ready == $((all - overflow + (overflow > 0)))" \
		"$what: all wait" ".qlen == $all"
	tc -n "$a" qdisc change dev v0 root pcrp rate 0
	all_arrive "$what" $((all + 1))
}
many 16384
many 1024

# ---- flows that wait for grants keep their places

# pcrp_talk, at a, answers b: flows of 50 datagrams of 1000 bytes, of which one chain of ten may leave
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
	check_to "$TMP/said" "21 flows, of which 16 are told that they may not go on" \
		pcrp_talk -s "$a/v0" answer=1000000 "sh=sed 1q $TMP/flows | sh >/dev/null" wait=50 show \
		answer=10000 "sh=sh $TMP/flows >/dev/null" wait=100 show "sh=$look >$TMP/waiting" \
		"sh=sed 1q $TMP/flows | sed s/-p.1/-p99/ | sh >/dev/null" wait=50 show "sh=$look >$TMP/later" \
		answer=1000000 wait=150 show
	check_eq "bytes: one flow that is granted; 16 chains, 4 flows without a place; one more of these; the rest" \
		"$(sed -n 's/^data //p' "$TMP/said" | paste -s -d ' ')" "50000 361000 50000 639000"
	check_json "$(<"$TMP/waiting")" "16 wait, the others are counted" \
		'.[0].flows_waiting == 16 and .[0].flows_overflow == 200'
	check_json "$(<"$TMP/later")" "no place of those that wait was taken" \
		'.[0].flows_waiting == 16 and .[0].flows_overflow == 250'
	check "all is over" settled "$b/v1"
}

# ---- more hosts than are remembered

# speak: a datagram each to 2000 hosts, and to b in between
# shellcheck disable=SC2016 # another shell expands
speak() {
	in_ns "$a" bash -c 'for ((i = 0; i < 2000; i++)); do
			echo >"/dev/udp/198.18.$((i / 250)).$((i % 250 + 1))/9"
			((i % 25)) || echo >/dev/udp/10.0.0.2/9
		done' 2>"$TMP/refused"
}

test_hosts() {
	tc -n "$b" qdisc replace dev v1 root handle 1: pcrp chain 20000
	pcrp_new "$a/v0" chain 20000 rate 1gbit
	ip -n "$a" route add 198.18.0.0/16 via 10.0.0.2
	check "data arrives at b" transfer 10.0.0.2 300000
	check_json "$(pcrp_stats "$a/v0")" "which answers" '.peers == 1 and .peers_answering == 1'
	check "2000 others are sent something" speak
	ungated=$(pcrp_count "$a/v0" flows_ungated)
	check_json "$(pcrp_stats "$a/v0")" \
		"1024 are remembered, or what their hash leaves of that" '.peers <= 1024 and .peers >= 950' \
		"b is among them: it was spoken with all the time" '.peers_answering == 1'
	check "data arrives at b" transfer 10.0.0.2 300000
	check_eq "its flows wait for grants" "$(pcrp_count "$a/v0" flows_ungated)" "$ungated"
}

if exact; then
	test_waiting
	test_hosts
else
	skip "flows that wait, and hosts" "the machine is late: probes are not answered in time"
fi
finish

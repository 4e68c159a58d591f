#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# pcrp on each TX queue of two hosts: the flows of every queue get their GRANTs, and each host is one receiver with one
# table. The queues of a device share the state of peers, the round-trip time and options. Qdiscs are replaced and
# deleted under traffic.
# shellcheck disable=SC2317,SC2016 # functions are called through check and wait_for; $n is jq's
#
#	+------------ a ------------+     +------------ b ------------+
#	| w0: mq, 4 pcrp            |=====| w1: mq, 4 pcrp            |
#	+---------------------------+     +---------------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_sch pcrp
need_closwire
setup_ns a b
WIRE=(numtxqueues 4)
wire_ab rate 10gbit delay 5us
. "$(dirname "$0")/../lib/pcrp_pair.sh"
chain=20000
patience=10
! exact || patience=1

# queues NS/DEV: options and statistics of the qdiscs, in the order of the TX queues, as a JSON list
queues() {
	tc -n "${1%/*}" -s -j qdisc show dev "${1#*/}" | jq -c '[.[] | select(.kind == "pcrp")] | sort_by(.parent)'
}

# queue NS/DEV COMMAND QUEUE ARGUMENT...: run a tc command for the qdisc of a TX queue from 1 on
queue() { tc -n "${1%/*}" qdisc "$2" dev "${1#*/}" parent "1:$3" "${@:4}"; }

# new_queues NS/DEV: mq with a new qdisc for each TX queue
new_queues() {
	local i
	tc -n "${1%/*}" qdisc replace dev "${1#*/}" root handle 1: mq || return
	for i in 1 2 3 4; do
		queue "$1" replace $i handle 1$i: pcrp chain $chain || return
	done
}

# to_queues NS/DEV: send TCP packets to or from port 100 + i by TX queue i
to_queues() {
	local i side
	tc -n "${1%/*}" qdisc add dev "${1#*/}" clsact || return
	for side in src dst; do
		for i in 1 2 3 4; do
			tc -n "${1%/*}" filter add dev "${1#*/}" egress protocol ip flower ip_proto tcp \
				${side}_port 10$i action skbedit queue_mapping $((i - 1)) || return
		done
	done
}

# send QUEUE BYTES...: as transfer, by a TX queue
send() {
	local bytes=("${@:2}")
	tcp_flow -s "$a" -r "$b" -d 10.0.0.2 -p "10$1" connect "${bytes[@]/#/send=}" close eof
}

# send_all BYTES: send BYTES by each TX queue at the same time
send_all() {
	local i pids=() status=0
	for i in 1 2 3 4; do
		send "$i" "$1" &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || status=$?
	done
	return "$status"
}

# quiet: true if no packet is queued or expected at either end
quiet() {
	local at
	for at in "$a/w0" "$b/w1"; do
		queues "$at" | jq -e 'all(.qlen == 0 and .flows_ready == 0 and .flows_waiting == 0 and .rx_flows == 0)' \
			>/dev/null || return
	done
}

new_queues "$a/w0" 2>"$TMP/log" || skip_all "no pcrp below mq: $(<"$TMP/log")"
new_queues "$b/w1"
to_queues "$a/w0" 2>"$TMP/log" || skip_all "this kernel lacks flower or skbedit: $(<"$TMP/log")"
check_json "$(queues "$a/w0")" \
	"the TX queues divide the default number of flows" '[.[].options.flows] == [4096, 4096, 4096, 4096]'

# ---- one queue after the other

check "TX queue 1: data of the first flow arrives" send 1 300000
check_json "$(queues "$a/w0")" \
	"the first flow is one of TX queue 1" '.[0].flows_started > 0 and ([.[1:][].flows_started] | add) == 0' \
	"all TX queues know that the peer answers" 'all(.peers == 1 and .peers_answering == 1)' \
	"the first flow begins ungated" '.[0].flows_ungated > 0'
sleep 0.02 # a qdisc reads it every 10 ms
check "TX queue 2: data of a flow of one packet arrives" send 2 1000
if exact; then
	check_json "$(queues "$a/w0")" "a TX queue has the base round-trip time that another one has measured" \
		'.[1].base_rtt_ns == .[0].base_rtt_ns and .[1].base_rtt_ns != .[2].base_rtt_ns'
fi
for i in 2 3 4; do
	check "TX queue $i: data arrives" send $i 1000000
done
least=1
! exact || least=20
check_json "$(queues "$a/w0")" \
	"each further TX queue gets its GRANTs" "all(.[1:][]; .chains_granted >= $least)" \
	"no GRANT is refused" 'all(.grants_refused == 0)'
if exact; then
	check_json "$(queues "$a/w0")" \
		"the first flows of the other TX queues are gated" 'all(.[1:][]; .flows_ungated == 0)' \
		"no chain is overdue" 'all(.chains_overdue == 0)'
fi

# ---- all queues at once: one receiver

queue "$b/w1" change 2 pcrp grants 2
before=$(queues "$b/w1")
check "four flows at once by four TX queues: data arrives" send_all 2000000
check "all flows finish at both ends" wait_for 10 quiet
check_json "[$before,$(queues "$b/w1")]" \
	"the TX queues of the receiver show one receiver" '.[1] | map({rx_requests, rx_probes, rx_granted_peak,
		rx_finished, grants_sent, answers_sent, rx_malformed, peers}) | unique | length == 1' \
	"the receiver gets a REQUEST of each flow" '.[1][0].rx_requests >= .[0][0].rx_requests + 4' \
	"the receiver grants at most two flows at a time" '.[1][0].rx_granted_peak == 2' \
	"no control packet is malformed" '.[1][0].rx_malformed == 0'
check_json "$(queues "$a/w0")" "each TX queue sent granted chains" "all(.chains_granted >= $least)"

# ---- options

check "options can be changed at one TX queue" queue "$b/w1" change 3 pcrp grants 5 map 0:1 eu limit 77
check_json "$(queues "$b/w1")" \
	"options of the device change in all TX queues" \
		'all(.options | .grants == 5 and .eu and (.map | tostring | test("56") | not))' \
	"limit changes in one TX queue" '[.[].options.limit] == [10000, 10000, 77, 10000]'
requests=$(queues "$b/w1" | jq '.[0].rx_requests')
check "the qdisc of one TX queue can be replaced" queue "$b/w1" replace 3 handle 33: pcrp rate 5gbit
check_json "$(queues "$b/w1")" \
	"a new qdisc takes over the options of the device" '.[2].options | .grants == 5 and .eu' \
	"a new qdisc has its own queue" '[.[].options.limit] == [10000, 10000, 10000, 10000]' \
	"the receiver outlives one of its qdiscs" "all(.rx_requests == $requests)"
check "a new qdisc can set options of the device" queue "$b/w1" replace 4 handle 44: pcrp grants 6 noeu
check_json "$(queues "$b/w1")" \
	"options of a new qdisc become those of the device" 'all(.options | .grants == 6 and (.eu | not))'

# a receiver with chains of 3000 bytes would grant 1 MB in more than 300 chains
if exact; then
	ip -n "$b" link set w1 gso_max_segs 1
	queue "$b/w1" change 3 pcrp rate 0
	queue "$b/w1" change 1 pcrp chain auto rate 1gbit
	check_json "$(queues "$b/w1")" "an automatic chain follows the rate of its TX queue" \
		'.[0].chain_bytes == 3000 and all(.[1:][]; .chain_bytes > 10000)'
	before=$(queues "$a/w0")
	check "TX queues of unequal rates: data arrives" send 2 1000000
	check_json "[$before,$(queues "$a/w0")]" "the receiver grants the longest chains of its TX queues" \
		'(.[1][1].chains_granted - .[0][1].chains_granted) as $n | $n > 20 and $n < 200'
fi

# ---- qdiscs come and go under traffic

# until_stop QUEUE: a connection that sends until $TMP/stop exists; each byte is checked
until_stop() { tcp_flow -s "$a" -r "$b" -d 10.0.0.2 -p "10$1" connect until="$TMP/stop" close eof; }

# active: do both ends exchange REQUESTs and GRANTs?
active() {
	[ "$(queues "$b/w1" | jq '.[0].grants_sent')" -ge "$1" ] &&
		[ "$(queues "$a/w0" | jq '[.[].grants_received] | add')" -ge "$1" ]
}

# flows_active NAME: pass if both ends exchange REQUESTs and GRANTs soon, else end the test: further waits at line rate
# take minutes in virtual time
flows_active() {
	if wait_for "$patience" active 20; then
		ok "$1"
		return
	fi
	not_ok "$1" "$(queues "$a/w0" | head -c 1000)"
	touch "$TMP/stop"
	finish
}

# replace_each NS/DEV: replace every qdisc of the TX queues, one after the other
replace_each() {
	local i
	for i in 1 2 3 4; do
		queue "$1" replace "$i" handle "2$i:" pcrp chain "$chain" || return
	done
}

# alone NS/DEV: replace mq and its qdiscs by one root qdisc
alone() { tc -n "${1%/*}" qdisc replace dev "${1#*/}" root handle 5: pcrp chain "$chain"; }

new_queues "$a/w0"
new_queues "$b/w1"
for i in 1 2 3 4; do
	until_stop $i &
	pids+=($!)
done
for at in "$a/w0" "$b/w1"; do
	where="sender"
	[ "$at" = "$a/w0" ] || where="receiver"
	flows_active "$where: flows are active before the qdiscs are replaced"
	check "$where: the qdisc of each TX queue can be replaced under traffic" replace_each "$at"
	flows_active "$where: flows are active before a root qdisc replaces them"
	check "$where: a root qdisc can replace those of the TX queues under traffic" alone "$at"
	check "$where: those of the TX queues can replace a root qdisc under traffic" new_queues "$at"
	flows_active "$where: flows are active before the qdiscs are deleted"
	check "$where: mq can be deleted under traffic" tc -n "${at%/*}" qdisc del dev "${at#*/}" root
	new_queues "$at"
done
flows_active "flows are active after all changes"
touch "$TMP/stop"
check_job "all data arrives despite replaced and deleted qdiscs" "${pids[@]}"
check "no packet stays queued, and no flow is left" wait_for 10 quiet

# ---- the device goes

rm "$TMP/stop"
until_stop 1 &
pid=$!
flows_active "flows are active before the device is deleted"
check "a device with pcrp below mq can be deleted under traffic" ip -n "$a" link del w0
kill $pid
wait $pid || true
check "sch_pcrp unloads after its devices were deleted" wait_for 5 rmmod sch_pcrp
load_module sch_pcrp
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A host without sch_pcrp is remembered as silent: flows to it are ungated, and REQUESTs are sent at growing intervals.
# Once it answers, flows are gated, until its qdisc is deleted, even during a flow.
# shellcheck disable=SC2317 # functions are called through check and wait_for
#
#	+------ a ------+     +----------- b -----------+
#	| w0: pcrp      |=====| w1: pcrp at times       |
#	+---------------+     +-------------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_sch pcrp
need_closwire
setup_ns a b
wire_ab rate 10gbit delay 5us
. "$(dirname "$0")/../lib/tcp_basic.sh"
. "$(dirname "$0")/../lib/pcrp.sh"
. "$(dirname "$0")/../lib/pcrp_pair.sh"
wire_ipv6
chain=40000
# An ungated flow sends a REQUEST with each chain. This size is less than a chain, so a flow sends one REQUEST.
short=30000

# requests_to ADDRESS: send a short flow, and print the number of REQUESTs sent so far
requests_to() { transfer "$1" "$short" && pcrp_count "$a/w0" requests_sent; }

# until_one ADDRESS NAME: send a short flow; is the counter NAME 1?
until_one() { transfer "$1" "$short" && [ "$(pcrp_count "$a/w0" "$2")" = 1 ]; }

# test_silent WHAT ADDRESS: five flows send REQUESTs in a little more than 5 ms, the sixth one does not
test_silent() {
	local what=$1 to=$2 i
	for i in 1 2 3 4 5; do
		check_eq "$what: flow $i sends a REQUEST" "$(requests_to "$to")" $i
		sleep 0.001
	done
	check_json "$(pcrp_stats "$a/w0")" "$what: the peer is not silent after five flows" \
		'.peers == 1 and .peers_answering == 0 and .peers_silent == 0'
	check_eq "$what: flow 6 sends no REQUEST" "$(requests_to "$to")" 5
}

# test_backoff WHAT ADDRESS: the next REQUESTs are sent after 10, 20, 40 and 80 ms
test_backoff() {
	local what=$1 to=$2 requests=5 ms
	for ms in 10 20 40 80; do
		sleep "$(printf 0.%03d $((ms - 2)))"
		check_eq "$what: no REQUEST is sent within $ms ms" "$(requests_to "$to")" $requests
		sleep 0.004
		requests=$((requests + 1))
		check_eq "$what: a REQUEST is sent after $ms ms" "$(requests_to "$to")" $requests
	done
	tc -n "$b" qdisc add dev w1 root pcrp chain $chain
	sleep 0.15
	check_eq "$what: no REQUEST is sent within 160 ms" "$(requests_to "$to")" $requests
	sleep 0.02
}

# test_answering WHAT ADDRESS: the flow whose REQUEST is answered waits from then on; later flows are gated
test_answering() {
	local what=$1 to=$2 before
	before=$(pcrp_stats "$a/w0")
	check "$what: data of the flow whose REQUEST is answered arrives" transfer "$to" 1000000
	check_json "[$before,$(pcrp_stats "$a/w0")]" \
		"$what: the peer counts as answering" '.[1].peers == 1 and .[1].peers_answering == 1 and .[1].peers_silent == 0' \
		"$what: the flow whose REQUEST is answered begins ungated" '.[1].flows_ungated == .[0].flows_ungated + 1' \
		"$what: the flow whose REQUEST is answered is granted chains" '.[1].chains_granted > .[0].chains_granted + 10'
	before=$(pcrp_stats "$a/w0")
	check "$what: data of the next flow arrives" transfer "$to" 1000000
	check_json "[$before,$(pcrp_stats "$a/w0")]" \
		"$what: the next flow is gated from its first chain on" '.[1].flows_ungated == .[0].flows_ungated
			and .[1].chains_speculative == .[0].chains_speculative + 1'
}

# test_deleted WHAT ADDRESS: the peer's qdisc is deleted during a flow of 80 ms; it is two flows if the sender pauses
test_deleted() {
	local what=$1 to=$2 before timeouts pid
	before=$(pcrp_stats "$a/w0")
	timeouts=$(netstat "$a" TCPTimeouts)
	tc -n "$a" qdisc change dev w0 root pcrp rate 200mbit
	transfer "$to" 2000000 &
	pid=$!
	if exact; then
		sleep 0.02
		check_json "$(pcrp_stats "$b/w1")" "$what: the peer grants the flow before it is deleted" '.rx_granted == 1'
	else
		wait_for 5 reaches "$b/w1" rx_granted 1 || true
	fi
	tc -n "$b" qdisc del dev w1 root
	check_job "$what: data arrives although the peer's qdisc is deleted" $pid
	if exact; then
		check_json "[$before,$(pcrp_stats "$a/w0")]" \
			"$what: a deleted peer is sent PROBEs" '.[1].probes_sent >= .[0].probes_sent + 4' \
			"$what: a deleted peer counts as silent" '.[1].peers_silent == 1 and .[1].peers_answering == 0' \
			"$what: a flow to a deleted peer continues ungated" '.[1].flows_ungated > .[0].flows_ungated' \
			"$what: no chain to a deleted peer is overdue" '.[1].chains_overdue == 0'
		check_eq "$what: a deleted peer causes no RTO" "$(netstat "$a" TCPTimeouts)" "$timeouts"
	fi
	check "$what: all flows finish after the peer is deleted" wait_for 5 settled "$a/w0"
}

# test_peer NAME ADDRESS
test_peer() {
	pcrp_new "$a/w0" chain $chain first 10000
	if exact; then
		test_silent "$@"
	else
		check "$1: the peer becomes silent" wait_for 30 until_one "$2" peers_silent
	fi
	check_json "$(pcrp_stats "$a/w0")" \
		"$1: the peer counts as silent" '.peers == 1 and .peers_answering == 0 and .peers_silent == 1' \
		"$1: flows to a silent peer are ungated" '.flows_started > 0 and .flows_ungated == .flows_started' \
		"$1: packets to a silent peer are not marked" '.ungated_packets > 0 and ([.prio_packets[]] | add) == 0' \
		"$1: a silent peer sends no GRANT" '.grants_received == 0 and .chains_granted == 0'
	if exact; then
		test_backoff "$@"
		test_answering "$@"
	else
		tc -n "$b" qdisc add dev w1 root pcrp chain $chain
		check "$1: the peer becomes answering" wait_for 30 until_one "$2" peers_answering
	fi
	test_deleted "$@"
}

test_peer IPv4 10.0.0.2
test_peer IPv6 fd00::2
check "data to a second address of the host arrives" transfer 10.0.0.2 100000
check_json "$(pcrp_stats "$a/w0")" "a second address of the host is a second peer" '.peers == 2'
finish

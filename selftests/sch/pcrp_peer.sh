#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A host without sch_pcrp is remembered as silent: flows to it go on as they would anyway, and it is asked again, less
# and less often. Once it answers, flows wait for its grants, until it goes away again, be it in the midst of one.
# shellcheck disable=SC2317 # functions are called through check and wait_for
#
#	+------ a ------+     +----------- b -----------+
#	| w0: pcrp      |=====| w1: pcrp, now and then  |
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
# of so much, a flow that does not wait asks once: with each chain that begins
short=30000

# sent_to ADDRESS: is what is sent received, and how many times was the host asked until then?
sent_to() { transfer "$1" "$short" && pcrp_count "$a/w0" requests_sent; }

# until ADDRESS NAME: after a flow to it, does the counter say that there is one?
until_one() { transfer "$1" "$short" && [ "$(pcrp_count "$a/w0" "$2")" = 1 ]; }

# falls_silent WHAT ADDRESS: five flows ask, in a little more than 5 ms; the sixth finds that enough
falls_silent() {
	local what=$1 to=$2 i
	for i in 1 2 3 4 5; do
		check_eq "$what: it is asked with flow $i" "$(sent_to "$to")" $i
		sleep 0.001
	done
	check_json "$(pcrp_stats "$a/w0")" "$what: not silent yet" \
		'.peers == 1 and .peers_answering == 0 and .peers_silent == 0'
	check_eq "$what: not with the next" "$(sent_to "$to")" 5
}

# backs_off WHAT ADDRESS: it is asked again after 10, 20, 40 and 80 ms, and no sooner
backs_off() {
	local what=$1 to=$2 asked=5 ms
	for ms in 10 20 40 80; do
		sleep "$(printf 0.%03d $((ms - 2)))"
		check_eq "$what: before $ms ms it is not asked" "$(sent_to "$to")" $asked
		sleep 0.004
		asked=$((asked + 1))
		check_eq "$what: after $ms ms it is" "$(sent_to "$to")" $asked
	done
	tc -n "$b" qdisc add dev w1 root pcrp chain $chain
	sleep 0.15
	check_eq "$what: before 160 ms nobody knows that it would answer" "$(sent_to "$to")" $asked
	sleep 0.02
}

# answers WHAT ADDRESS: one flow is asked for, and waits from then on; all later ones do
answers() {
	local what=$1 to=$2 before
	before=$(pcrp_stats "$a/w0")
	check "$what: it is asked, and answers" transfer "$to" 1000000
	check_json "[$before,$(pcrp_stats "$a/w0")]" \
		"$what: so it is known" '.[1].peers == 1 and .[1].peers_answering == 1 and .[1].peers_silent == 0' \
		"$what: the flow that asked began without waiting" '.[1].flows_ungated == .[0].flows_ungated + 1' \
		"$what: and went on with grants" '.[1].chains_granted > .[0].chains_granted + 10'
	before=$(pcrp_stats "$a/w0")
	check "$what: the next flow" transfer "$to" 1000000
	check_json "[$before,$(pcrp_stats "$a/w0")]" \
		"$what: waits from its first chain on" '.[1].flows_ungated == .[0].flows_ungated
			and .[1].chains_speculative == .[0].chains_speculative + 1'
}

# goes_away WHAT ADDRESS: in the midst of a flow, which takes 80 ms; it is two if the program is slow to send more
goes_away() {
	local what=$1 to=$2 before timeouts pid
	before=$(pcrp_stats "$a/w0")
	timeouts=$(netstat "$a" TCPTimeouts)
	tc -n "$a" qdisc change dev w0 root pcrp rate 200mbit
	transfer "$to" 2000000 &
	pid=$!
	if exact; then
		sleep 0.02
		check_json "$(pcrp_stats "$b/w1")" "$what: in the midst of a flow" '.rx_granted == 1'
	else
		wait_for 5 reaches "$b/w1" rx_granted 1 || true
	fi
	tc -n "$b" qdisc del dev w1 root
	check_job "$what: the peer goes away, the data arrives" $pid
	if exact; then
		check_json "[$before,$(pcrp_stats "$a/w0")]" \
			"$what: it was asked" '.[1].probes_sent >= .[0].probes_sent + 4' \
			"$what: and is silent" '.[1].peers_silent == 1 and .[1].peers_answering == 0' \
			"$what: the flow waits no longer" '.[1].flows_ungated > .[0].flows_ungated' \
			"$what: no chain was overdue" '.[1].chains_overdue == 0'
		check_eq "$what: TCP has not noticed" "$(netstat "$a" TCPTimeouts)" "$timeouts"
	fi
	check "$what: all is over" wait_for 5 settled "$a/w0"
}

# life NAME ADDRESS
life() {
	pcrp_new "$a/w0" chain $chain first 10000
	if exact; then
		falls_silent "$@"
	else
		check "$1: without an answer" wait_for 30 until_one "$2" peers_silent
	fi
	check_json "$(pcrp_stats "$a/w0")" \
		"$1: the host is silent" '.peers == 1 and .peers_answering == 0 and .peers_silent == 1' \
		"$1: nothing has waited for it" '.flows_started > 0 and .flows_ungated == .flows_started' \
		"$1: nothing was marked" '.ungated_packets > 0 and ([.prio_packets[]] | add) == 0' \
		"$1: no grant came" '.grants_received == 0 and .chains_granted == 0'
	if exact; then
		backs_off "$@"
		answers "$@"
	else
		tc -n "$b" qdisc add dev w1 root pcrp chain $chain
		check "$1: it answers" wait_for 30 until_one "$2" peers_answering
	fi
	goes_away "$@"
}

life IPv4 10.0.0.2
life IPv6 fd00::2
check "the other address" transfer 10.0.0.2 100000
check_json "$(pcrp_stats "$a/w0")" "is another peer" '.peers == 2'
finish

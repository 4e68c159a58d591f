#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A rate that congestion has cut recovers while the connection carries RPCs of
# one packet each, and after an idle period.
#
#	+------- a -------+  delay  +------- b -------+
#	| timely -> w0    |=========| w1 -> receiver  |
#	+-----------------+         +-----------------+
#
# A longer link delay simulates congestion.
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
exact || skip_all "virtual time only: RPC times are compared to 5 %"
need_closwire
need_cc timely
setup_ns a b
. "$(dirname "$0")/../lib/timely.sh"
wire_ab rate 1gbit delay 10us
DELAY=10us

# median, eleventh: the median from the 11th on, and the 11th, of the RPC times that tcp_flow printed
median() { sed -n 's/^rpc //p' | tail -n +11 | sort -n | awk '{ v[NR] = $1 } END { print v[int(NR / 2) + 1] }'; }
eleventh() { sed -n 's/^rpc //p' | sed -n 11p; }

# within PERCENT A B: is A at most PERCENT above B?
within() { awk -v p="$1" -v a="$2" -v b="$3" 'BEGIN { print a, "us against", b; exit !(a <= b * (1 + p / 100)) }'; }

# cut_rate PAUSE STEP...: open a connection, keep RTTs above T_high until the rate is the minimum, pause for PAUSE
# seconds, then do STEPs
cut_rate() {
	local pause=$1 wire="ip -n $a link set w0 type closwire delay"
	shift
	flow cc=timely connect send=100000 "run=$wire 2ms" send=250000 "$INFO" "run=$wire $DELAY; sleep $pause" \
		"$@" close eof
}

# cut_bw FILE: the rate before the pause
cut_bw() { sed '/^rpc/q' "$1" | ss_number bw; }

# test_rpcs NAME: from the 11th on, RPCs take as long as with cubic, with and without congestion before them
test_rpcs() {
	local cubic
	cubic=$(flow cc=cubic connect rpc=50 close eof | median)
	check "$1: RPCs on an idle path take as long as cubic's" \
		within 5 "$(flow cc=timely connect rpc=50 close eof | median)" "$cubic"
	check_to "$TMP/after" "$1: RPCs after congestion complete" cut_rate 0.1 rpc=50
	check "$1: congestion cuts the rate to the minimum" test "$(cut_bw "$TMP/after")" -le 1000000
	check "$1: the 11th RPC after congestion takes as long as cubic's" within 5 "$(eleventh <"$TMP/after")" "$cubic"
	check "$1: later RPCs after congestion take as long as cubic's" within 5 "$(median <"$TMP/after")" "$cubic"
}

test_rpcs "path shorter than T_low"
DELAY=100us
wire_set "$a/w0" delay $DELAY
test_rpcs "path longer than T_low"
DELAY=10us
wire_set "$a/w0" delay $DELAY

# ---- service time

check_to "$TMP/think" "RPCs with a service time of 1 ms complete" \
	flow cc=timely connect send=100000 "$INFO" think=1000 rpc=50 "$INFO" close eof
check_eq "a service time of 1 ms does not lower the rate" \
	"$(tac "$TMP/think" | ss_number bw)" "$(ss_number bw <"$TMP/think")"

# ---- idle

mark
check_to "$TMP/idle" "idle for 1 s after congestion: data arrives" \
	cut_rate 1 put=1000 receive "run=ip netns exec $a ss -Htine dport = 5001 | sed s/^/idle:/" send=1000000
check "idle for 1 s after congestion: the rate was the minimum" test "$(ss_number bw <"$TMP/idle")" -le 1000000
check_eq "idle for 1 s after congestion: one restart is counted" "$(since idle_restarts)" 1
check_eq "idle for 1 s after congestion: restart at line rate" \
	"$(grep ^idle: "$TMP/idle" | ss_number bw)" "$(line_rate 1000)"
check "idle for 1 s after congestion: restart with the initial window" \
	test "$(grep ^idle: "$TMP/idle" | ss_number cwnd)" -le 11
mark
check "idle for less than an RTO: data arrives" cut_rate 0.1 send=1000000
check_eq "idle for less than an RTO: no restart" "$(since idle_restarts)" 0
finish

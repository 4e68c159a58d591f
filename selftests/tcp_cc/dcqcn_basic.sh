#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Permission to choose dcqcn, data transfer with each kind of address and qdisc,
# the initial rate, the pacing rate in ss and the limit by SO_MAX_PACING_RATE,
# and counters per network namespace.
#
#	+--------- a ---------+     +--------- b ---------+
#	| sender -> w0        |=====| w1 -> receiver      |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
need_cc dcqcn
# a test that made dcqcn the default has also permitted it to all users; reloading undoes that
rmmod tcp_dcqcn && load_module tcp_dcqcn
setup_ns a b
. "$(dirname "$0")/../lib/tcp_dcqcn.sh"
. "$(dirname "$0")/../lib/tcp_permission.sh"
wire_ab rate 500mbit delay 20us
. "$(dirname "$0")/../lib/tcp_basic.sh"

test_permission 1

# ---- addresses and directions

wire_ipv6
netem=$(tc -n "$a" qdisc add dev w0 root netem limit 10000 2>&1 && echo yes)
for address in 10.0.0.2 fd00::2 ::ffff:10.0.0.2; do
	FLOW=(-d "$address" listener-cc=dcqcn)
	mark
	marks=$(cc_counter ce_packets "$b")
	check "$address: data arrives" flow cc=dcqcn connect is=dcqcn send=100000 \
		${netem:+"$MARK"} send=300000 ${netem:+"$MARK_NOT"} send=1000000 close eof
	check_eq "$address: one connection is counted" "$(since connections)" 1
	[ -n "$netem" ] || continue
	check "$address: the receiver counts the marks" test $(($(cc_counter ce_packets "$b") - marks)) -ge 100
	check "$address: CNPs cut the rate" test "$(since cnp_handled)" -ge 2
	check "$address: the rate rises again" test $(($(since fast_recovery) + $(since additive_increase))) -ge 2
done
FLOW=(listener-cc=dcqcn)
check_eq "each namespace counts its own events only" \
	"$(cc_counter cnp_sent) $(cc_counter ce_packets) $(cc_counter cnp_handled "$b")" "0 0 0"
check "data arrives in both directions" flow cc=dcqcn connect send=300000 swap is=dcqcn send=300000 close eof

# ---- rates

tc -n "$a" qdisc del dev w0 root 2>/dev/null
check_to "$TMP/info" "a connection opens without sending data" flow cc=dcqcn connect "$INFO" close eof
check "ss shows the name dcqcn" grep -qw dcqcn "$TMP/info"
check_eq "a new connection has line rate and alpha 1" "$(shown bw) $(shown pacing_gain) $(shown cwnd_gain)" \
	"$(line_rate 500)bps 0.941406 1"
check_eq "a new connection paces at line rate" "$(shown pacing_rate)" "$(line_rate 500)bps"
test_max_rate rpg_max_rate

wire_set "$a/w0" rate 200mbit
check_to "$TMP/info" "data arrives over a slower link" flow cc=dcqcn connect send=100000 "$INFO" close eof
check_eq "a new connection has the rate of the slower link" "$(shown bw)" "$(line_rate 200)bps"
check_to "$TMP/info" "data arrives while the link gets faster and slower" flow cc=dcqcn connect send=100000 \
	"run=ip -n $a link set w0 type closwire rate 500mbit" send=1000000 \
	"run=ip -n $a link set w0 type closwire rate 300mbit" send=1000000 "$INFO" close eof
check_eq "the rate follows the link's rate" "$(shown bw)" "$(line_rate 300)bps"
wire_set "$a/w0" rate 500mbit

test_paces
finish

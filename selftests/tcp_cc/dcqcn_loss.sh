#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Loss, reordering, duplication, and peers without TCP options: all data arrives,
# the rate is cut once per loss episode, and rises again afterwards.
#
#	+--------- a ---------+     +--------- b ---------+
#	| sender -> netem, w0 |=====| w1 -> receiver      |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
need_cc dcqcn
setup_ns a b
. "$(dirname "$0")/../lib/tcp_dcqcn.sh"
. "$(dirname "$0")/../lib/tcp_loss.sh"
wire_ab rate 500mbit delay 20us

# recovered: does the connection's final rate reach half of line rate?
recovered() {
	local bps
	bps=$(ss_number bw <"$TMP/info")
	echo "$bps bps"
	[ "$bps" -ge $(($(line_rate 500) / 2)) ]
}

for sack in 1 0; do
	both net.ipv4.tcp_sack=$sack
	test_frames_lost "sack=$sack"
	check "sack=$sack: the rate recovers after the losses" recovered
	test_acks_lost "sack=$sack"
done
both net.ipv4.tcp_sack=1
test_timeouts

if test_order; then
	test_twice
	# netem marks one packet in 50, closwire drops one in 100
	tc -n "$a" qdisc replace dev w0 root netem limit 10000 loss 2% ecn
	count_from_here
	check "marks and losses: all data arrives" flow cc=dcqcn connect send=300000 "$(loss 1)" send=3000000 \
		"$(loss 0)" "run=tc -n $a qdisc change dev w0 root netem limit 10000" send=1000000 "$INFO" close eof
	check "marks and losses: CNPs cut the rate" test "$(since cnp_handled)" -ge 3
	check "marks and losses: losses cut the rate" test "$(since losses)" -ge 1
	tc -n "$a" qdisc del dev w0 root
fi

test_ends
test_options
test_windows
finish

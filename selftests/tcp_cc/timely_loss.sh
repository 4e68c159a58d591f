#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Loss, reordering, duplication, and peers without TCP options: all data arrives,
# the rate is cut once per loss episode, retransmitted segments give no RTT
# sample, and samples and the full rate return afterwards.
#
#	+--------- a ---------+     +--------- b ---------+
#	| sender -> netem, w0 |=====| w1 -> receiver      |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
need_cc timely
setup_ns a b
. "$(dirname "$0")/../lib/timely.sh"
wire_ab rate 500mbit delay 20us
high_thresholds
. "$(dirname "$0")/../lib/tcp_loss.sh"

full_rate() { grep -q "bw:$(line_rate 500)bps" "$TMP/info" || { cat "$TMP/info" && return 1; }; }

for sack in 1 0; do
	both net.ipv4.tcp_sack=$sack
	test_frames_lost "sack=$sack"
	check "sack=$sack: retransmitted segments give no RTT sample" test "$(since skipped_retrans)" -ge 1
	check "sack=$sack: full rate returns after losses" full_rate
	test_acks_lost "sack=$sack"
done
both net.ipv4.tcp_sack=1
test_timeouts

# ---- order

if test_order; then
	check "reordered packets give RTT samples" test $(($(since samples_sw) + $(since samples_hw))) -ge 5
	test_twice
	check "duplicated packets give RTT samples" test $(($(since samples_sw) + $(since samples_hw))) -ge 10
	# netem drops or marks whole bursts, one in 20 of some 400
	for ecn in 1 0; do
		tc -n "$a" qdisc replace dev w0 root netem limit 10000 loss 5% ecn
		both net.ipv4.tcp_ecn=$ecn
		count_from_here
		check "ecn=$ecn: all data arrives" \
			between_transfers send=6000000 "run=tc -n $a qdisc change dev w0 root netem limit 10000" send=1000000
		check "ecn=$ecn: full rate returns" full_rate
		if [ $ecn -eq 1 ]; then
			check "ecn=1: marks cut the rate" test "$(since losses)" -ge 1
			marked=$(netstat RetransSegs)
		else
			check "ecn=0: packets are lost" test "$(netstat RetransSegs)" -ge 20
			check "ecn=0: more segments are retransmitted than with ECN" test "$(netstat RetransSegs)" -gt "$marked"
			check "ecn=0: each loss episode cuts the rate once" episodes
		fi
	done
	both net.ipv4.tcp_ecn=2
	tc -n "$a" qdisc del dev w0 root
fi

# ---- close

# The tracepoint does not see the ACKs of a connection that is being closed.
test_ends
check "closing connections: samples are TCP's RTTs" test "$(since samples_rtt)" -ge 5
check "closing connections: no sample during loss recovery" test "$(since skipped_recovery)" -ge 1

# ---- peers

test_options
check "without TCP options there are RTT samples" test $(($(since samples_sw) + $(since samples_hw))) -ge 20
test_windows
check "with small windows there are RTT samples" test $(($(since samples_sw) + $(since samples_rtt))) -ge 5

# Each byte is sent after the previous one was received. Its ACK may be delayed, but the path is empty.
one_by_one=()
for ((i = 0; i < 40; i++)); do
	one_by_one+=(send=1)
done
count_from_here
check "single bytes arrive" flow cc=timely connect "${one_by_one[@]}" close eof
check "single bytes on an empty path give RTT samples" \
	test $(($(since samples_sw) + $(since samples_hw) + $(since samples_rtt))) -ge 20
check_eq "single bytes on an empty path do not lower the rate" "$(since rate_high) $(since rate_mul)" "0 0"

# The ACK of a packet is delayed while the application does not read it, unless the connection is new or was idle.
unread=()
for ((i = 0; i < 10; i++)); do
	unread+=(put=1448 "run=sleep 0.1" receive)
done
FLOW=(listener-cc=timely)
# delayed PROMPT_ACK: number of delayed ACKs, which give no sample
delayed() {
	params "prompt_ack=$1"
	mark
	flow cc=timely connect send=1448000 "${unread[@]}" close eof && since skipped_delayed
}
if exact; then
	check "prompt_ack=0 delays ACKs" test "$(delayed 0)" -ge 5
	check_eq "prompt_ack=1 delays no ACK" "$(delayed 1)" 0
else
	skip "prompt_ack=1 delays no ACK" "time is real"
fi
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What a network does to packets, and what peers lack: all bytes arrive, the
# rate is cut once in each episode of losses, what was sent twice gives no RTT,
# and afterwards there are RTTs and the full rate again.
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
calm_params
. "$(dirname "$0")/../lib/tcp_loss.sh"

full_rate() { grep -q "bw:$(line_rate 500)bps" "$TMP/info" || { cat "$TMP/info" && return 1; }; }

for sack in 1 0; do
	both net.ipv4.tcp_sack=$sack
	test_frames_lost "sack=$sack"
	check "sack=$sack: no RTT of what was sent twice" test "$(since skipped_retrans)" -ge 1
	check "sack=$sack: afterwards full rate" full_rate
	test_acks_lost "sack=$sack"
done
both net.ipv4.tcp_sack=1
test_timeouts

# ---- order

if test_order; then
	check "samples in spite of it" test $(($(since samples_sw) + $(since samples_hw))) -ge 5
	test_twice
	check "samples in spite of it" test $(($(since samples_sw) + $(since samples_hw))) -ge 10
	# netem drops, or marks, a burst at a time: of some 400, one in 20
	for ecn in 1 0; do
		tc -n "$a" qdisc replace dev w0 root netem limit 10000 loss 5% ecn
		both net.ipv4.tcp_ecn=$ecn
		count_from_here
		check "ecn=$ecn: all bytes arrive" goes_on send=6000000 "run=tc -n $a qdisc change dev w0 root netem limit 10000" send=1000000
		check "ecn=$ecn: afterwards full rate" full_rate
		if [ $ecn -eq 1 ]; then
			check "ecn=1: marks cut the rate" test "$(since losses)" -ge 1
			marked=$(netstat RetransSegs)
		else
			check "ecn=0: there are no marks: losses" test "$(netstat RetransSegs)" -ge 20
			check "more is sent twice than with marks" test "$(netstat RetransSegs)" -gt "$marked"
			check "ecn=0: a cut for each episode" episodes
		fi
	done
	both net.ipv4.tcp_ecn=2
	tc -n "$a" qdisc del dev w0 root
fi

# ---- the end

# The tracepoint does not see the ACKs of a connection that is being closed.
test_ends
check "RTTs are then TCP's" test "$(since samples_rtt)" -ge 5
check "none while a loss is repaired" test "$(since skipped_recovery)" -ge 1

# ---- peers

test_options
check "samples" test $(($(since samples_sw) + $(since samples_hw))) -ge 20
test_windows
check "samples" test $(($(since samples_sw) + $(since samples_rtt))) -ge 5

# Each byte is sent when the one before has been received. Its ACK may have been delayed, but the path was empty.
one_by_one=()
for ((i = 0; i < 40; i++)); do
	one_by_one+=(send=1)
done
count_from_here
check "byte by byte" flow cc=timely connect "${one_by_one[@]}" close eof
check "RTTs of lone bytes on an empty path are used" \
	test $(($(since samples_sw) + $(since samples_hw) + $(since samples_rtt))) -ge 20
check_eq "they lower no rate" "$(since rate_high) $(since rate_mul)" "0 0"

# A packet that is not read is acknowledged late. Many first ones are not, nor those after a long time.
unread=()
for ((i = 0; i < 10; i++)); do
	unread+=(put=1448 "run=sleep 0.1" receive)
done
FLOW=(listener-cc=timely)
# delayed PROMPT_ACK: how many give no RTT
delayed() {
	params "prompt_ack=$1"
	mark
	flow cc=timely connect send=1448000 "${unread[@]}" close eof && since skipped_delayed
}
if exact; then
	check "prompt_ack=0: ACKs are delayed" test "$(delayed 0)" -ge 5
	check_eq "prompt_ack=1: none is" "$(delayed 1)" 0
else
	skip "prompt_ack" "time is real"
fi
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Packets that arrive together share one CONTROL packet, which reports each packet and its path as a CONTROL of its own
# would. A packet that arrives alone is answered without delay.
#
#	+--------- a ---------+     +--------- b ---------+
#	| ndp_msg send -> v0  |=====| v1 -> receive       |	veth: packets sent together arrive together
#	|                 w0  |-----| w1                  |	closwire: packets arrive one by one
#	+---------------------+     +---------------------+
# shellcheck disable=SC2154 # setup_ns sets a and b
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
need_ndp
. "$(dirname "$0")/../lib/ndp.sh"
setup_ns a b
wire_ab rate 500mbit delay 5us
ip link add v0 netns "$a" type veth peer name v1 netns "$b"
ip -n "$a" addr add 10.0.1.1/24 dev v0
ip -n "$b" addr add 10.0.1.2/24 dev v1
ip -n "$a" link set v0 up
ip -n "$b" link set v1 up
wait_for 5 has_carrier "$a" v0

# answers: CONTROL packets of b that name a packet; arrived: DATA packets of b
answers() { echo $(($(snmp "$b" OutControl) - $(snmp "$b" OutPull))); }
arrived() { snmp "$b" InData; }
# acked ADDRESS: sum over all paths to ADDRESS of acknowledged packets
acked() {
	in_ns "$a" closnet ndp peers -j |
		jq --arg to "$1" '[.peers[] | select(.remote == $to) | .acked | add] | add // 0'
}
# transfer NAME ADDRESS COUNT SIZES: send messages and set $answers, $packets and $judged to their increases
transfer() {
	answers=$(answers) packets=$(arrived) judged=$(acked "$2")
	messages "$1: all messages arrive" \
		receive -n "$b" -p 9 -c "$3" -l "$4" -q 10 -- send -n "$a" -d "$2" -p 9 -c "$3" -l "$4"
	answers=$(($(answers) - answers)) packets=$(($(arrived) - packets)) judged=$(($(acked "$2") - judged))
	note "$1: $packets packets, $answers answers, $judged packets credited to paths"
}

# messages from b keep a's state of its paths to b
job ndp_msg receive -n "$a" -p 10 -s 3 -l 1 -t 1000
for address in 10.0.0.1 10.0.1.1; do
	check "a message from b to $address arrives" ndp_msg send -n "$b" -d $address -p 10 -l 1
done

for size in 300k 1m; do
	transfer "burst of $size" 10.0.1.2 1 $size
	check "packets of a burst of $size share answers" test "$answers" -gt 0 -a $((answers * 3)) -lt "$packets"
	# Retransmissions may be ambiguous, and in real time the peer may be forgotten by now.
	! exact || check "each packet of a burst of $size is credited to its path" \
		test "$judged" -ge $((packets - 2 * $(total rtx))) -a "$judged" -le "$packets"
done

if exact; then
	transfer "messages of one packet" 10.0.1.2 200 1000
	check_eq "each message of one packet has its own answer" "$answers" "$packets"
	transfer "packets that arrive one by one" 10.0.0.2 1 100k
	check "packets that arrive alone do not wait for others" test "$answers" -ge $((packets - 2))
	check_eq "each packet that arrives alone is credited to its path" "$judged" "$packets"
	check_eq "packets that arrive one by one are not retransmitted" "$(total rtx)" 0
fi
stop_jobs
check "all flows are freed" wait_for 20 unused
finish

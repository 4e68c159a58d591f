#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Packets that come together share an answer, which says of each of them, and of its path, what an
# answer of its own would say. One that comes alone does not wait.
#
#	+--------- a ---------+     +--------- b ---------+
#	| ndp_msg send -> v0  |=====| v1 -> receive       |	veth: what is sent at once comes at once
#	|                 w0  |-----| w1                  |	closwire: one after the other
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

# answers: CONTROLs that name a packet; arrived: packets
answers() { echo $(($(snmp "$b" OutControl) - $(snmp "$b" OutPull))); }
arrived() { snmp "$b" InData; }
# acked ADDRESS: packets to it that its paths have delivered
acked() {
	in_ns "$a" closnet ndp peers -j |
		jq --arg to "$1" '[.peers[] | select(.remote == $to) | .acked | add] | add // 0'
}
# transfer WHAT ADDRESS COUNT SIZES: $answers, $packets, $judged are how many there were
transfer() {
	answers=$(answers) packets=$(arrived) judged=$(acked "$2")
	messages "$1" receive -n "$b" -p 9 -c "$3" -l "$4" -q 10 -- send -n "$a" -d "$2" -p 9 -c "$3" -l "$4"
	answers=$(($(answers) - answers)) packets=$(($(arrived) - packets)) judged=$(($(acked "$2") - judged))
	note "$1: $packets packets, $answers answers, $judged paths judged"
}

# what comes from b keeps what a knows of its paths to b
job ndp_msg receive -n "$a" -p 10 -s 3 -l 1 -t 1000
for address in 10.0.0.1 10.0.1.1; do
	check "a knows b by $address" ndp_msg send -n "$b" -d $address -p 10 -l 1
done

for size in 300k 1m; do
	transfer "$size at once" 10.0.1.2 1 $size
	check "$size at once: packets share answers" test "$answers" -gt 0 -a $((answers * 3)) -lt "$packets"
	# of what is sent again, nobody may know which packet came; where time is real, the peer may be forgotten by then
	! exact || check "$size at once: each path is judged" test "$judged" -ge $((packets - 2 * $(said rtx))) \
		-a "$judged" -le "$packets"
done

if exact; then
	transfer "messages of a packet" 10.0.1.2 200 1000
	check_eq "messages of a packet: each has its answer" "$answers" "$packets"
	transfer "one after the other" 10.0.0.2 1 100k
	check_eq "one after the other: each packet has its answer" "$answers" "$packets"
	check_eq "one after the other: each path is judged" "$judged" "$packets"
	check_eq "one after the other: nothing is sent again" "$(said rtx)" 0
fi
stop_jobs
check "nothing is left" wait_for 20 unused
finish

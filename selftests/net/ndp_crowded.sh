#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# All sockets together would need twice the memory that they may have: messages that are not whole take all of it, none
# of which can become whole. Each is read by and by then, and all come. On a slow machine that takes minutes.
#
#	+----------- a -----------+     +--------- b ---------+
#	| 60 x ndp_msg send -> w0 |=====| w1 -> receive       |
#	+-------------------------+     +---------------------+
# shellcheck disable=SC2154 # setup_ns sets a and b
. "$(dirname "$0")/../lib/lib.sh"
exact || skip_all "time is real"
need_closwire
. "$(dirname "$0")/../lib/ndp.sh"
setup_ns a b
WIRE=(mtu 9000)
wire_ab rate 10gbit delay 5us

senders=60 seconds=100
# three quarters of an eighth of the memory are for all sockets
kbytes=$(awk '/^MemTotal/ { print int($2 * 3 / 32) }' /proc/meminfo)
bytes=$((kbytes * 1024 * 2 / senders))

# crowd OPTION...: ndp_msg's commands for all senders
crowd() {
	local i
	for ((i = 0; i < senders; i++)); do
		commands+=(-- send -n "$a" -d 10.0.0.2 -l "$bytes" -k $((2 * bytes)) -t "$seconds" "$@")
	done
}

for kind in SOCK_RDM SOCK_SEQPACKET; do
	ordered=()
	[ $kind = SOCK_RDM ] || ordered=(-O)
	without=$(snmp "$b" InNoMemory)
	commands=(receive -n "$b" -p 9 -s "$senders" -l "$bytes" -r $((senders * bytes)) -t "$seconds" "${ordered[@]}")
	crowd -p 9 "${ordered[@]}"
	messages "$kind: twice what they may have" "${commands[@]}"
	check "they had none left" test "$(snmp "$b" InNoMemory)" -gt "$without"
	check_eq "no message has failed" "$(said failed)" 0
done

job ndp_msg receive -n "$b" -p 10 -f -l $bytes -c 100000000 -t 1000
wait_for 10 listens
commands=()
crowd -p 10 -D -e
messages "MSG_DONTWAIT" "${commands[@]:1}"
check "some may send" test "$(said msgs)" -gt 0
check "no more than half of it" test $(($(said msgs) * bytes / 1024)) -le $((kbytes / 2))
stop_jobs

messages "and all is as before" receive -n "$b" -p 9 -s 10 -l $bytes -- send -n "$a" -d 10.0.0.2 -p 9 -S 10 -l $bytes
check "nothing is left" wait_for 90 unused
finish

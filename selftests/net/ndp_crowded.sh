#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Incomplete messages fill the memory that all sockets share, which is half of the memory they need, so that no message
# can complete. The receiver then reads partial messages, and every message arrives. Takes minutes on a slow machine.
#
#	+----------- a -----------+     +--------- b ---------+
#	| 60 x ndp_msg send -> w0 |=====| w1 -> receive       |
#	+-------------------------+     +---------------------+
# shellcheck disable=SC2154 # setup_ns sets a and b
. "$(dirname "$0")/../lib/lib.sh"
exact || skip_all "needs virtual time"
need_closwire
. "$(dirname "$0")/../lib/ndp.sh"
setup_ns a b
WIRE=(mtu 9000)
wire_ab rate 10gbit delay 5us

senders=60 seconds=100
# all sockets may use three quarters of an eighth of the memory
kbytes=$(awk '/^MemTotal/ { print int($2 * 3 / 32) }' /proc/meminfo)
bytes=$((kbytes * 1024 * 2 / senders))

# add_senders OPTION...: add ndp_msg's commands for all senders to `commands`
add_senders() {
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
	add_senders -p 9 "${ordered[@]}"
	messages "$kind: messages of twice the memory limit arrive" "${commands[@]}"
	check "$kind: messages fill the memory limit" test "$(snmp "$b" InNoMemory)" -gt "$without"
	check_eq "$kind: no message fails at the memory limit" "$(total failed)" 0
done

job ndp_msg receive -n "$b" -p 10 -f -l $bytes -c 100000000 -t 1000
wait_for 10 listens
commands=()
add_senders -p 10 -D -e
messages "senders with MSG_DONTWAIT end" "${commands[@]:1}"
check "some messages with MSG_DONTWAIT are sent" test "$(total msgs)" -gt 0
check "messages with MSG_DONTWAIT take at most half of the memory limit" \
	test $(($(total msgs) * bytes / 1024)) -le $((kbytes / 2))
stop_jobs

messages "messages arrive after the memory limit was reached" \
	receive -n "$b" -p 9 -s 10 -l $bytes -- send -n "$a" -d 10.0.0.2 -p 9 -S 10 -l $bytes
check "all flows are freed" wait_for 90 unused
finish

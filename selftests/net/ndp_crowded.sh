#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Messages need 1.2 times the memory that all sockets share. One after the other, they find it. In turn, incomplete ones fill
# it, so that none can complete: the receiver then reads messages as they arrive, and each message arrives.
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
# all sockets may use 3/16 of the memory
kbytes=$(awk '/^MemTotal/ { print int($2 * 3 / 16) }' /proc/meminfo)
bytes=$((kbytes * 1024 * 12 / 10 / senders))

# add_senders OPTION...: add ndp_msg's commands for all senders to `commands`
add_senders() {
	local i
	for ((i = 0; i < senders; i++)); do
		commands+=(-- send -n "$a" -d 10.0.0.2 -l "$bytes" -k $((2 * bytes)) -t "$seconds" "$@")
	done
}

# crowd TEXT OPTION...: let messages arrive from all senders
crowd() {
	local text=$1
	shift
	without=$(snmp "$b" InNoMemory)
	commands=(receive -n "$b" -p 9 -s "$senders" -l "$bytes" -r $((senders * bytes)) -t "$seconds" "$@")
	add_senders -p 9 "$@"
	messages "$text: messages of 1.2 times the memory limit arrive" "${commands[@]}"
	check_eq "$text: no message fails" "$(total failed)" 0
}

crowd "one after the other"
check_eq "only packets that have arrived take memory" "$(snmp "$b" InNoMemory)" "$without"
for ns in "$a" "$b"; do
	in_ns "$ns" tee /proc/sys/net/ndp/pull_policy >/dev/null <<<0
done
for ordered in "" -O; do
	# shellcheck disable=SC2086 # nothing, or one option
	crowd "in turn $ordered" $ordered
	check "in turn $ordered: messages fill the memory limit" test "$(snmp "$b" InNoMemory)" -gt "$without"
done

job ndp_msg receive -n "$b" -p 10 -f -l $bytes -c 100000000 -t 1000
wait_for 10 listens
commands=()
add_senders -p 10 -D -e
messages "senders with MSG_DONTWAIT end" "${commands[@]:1}"
check "some messages with MSG_DONTWAIT are sent" test "$(total msgs)" -gt 0
check "messages with MSG_DONTWAIT take at most a quarter of the memory limit" \
	test $(($(total msgs) * bytes / 1024)) -le $((kbytes / 4))
stop_jobs

messages "messages arrive after the memory limit was reached" \
	receive -n "$b" -p 9 -s 10 -l $bytes -- send -n "$a" -d 10.0.0.2 -p 9 -S 10 -l $bytes
check "all flows are freed" wait_for 90 unused
finish

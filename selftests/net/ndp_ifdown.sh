#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Addresses, devices, namespaces and hosts that disappear while many sockets exchange messages in both directions
#
#	+-------- a --------+     +-------- b --------+
#	| ndp_msg  w0       |=====| w1        ndp_msg |
#	+-------------------+     +-------------------+
# shellcheck disable=SC2154,SC2317 # setup_ns sets a, b and c; functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
. "$(dirname "$0")/../lib/ndp.sh"
setup_ns a b c
wire_ab rate 100mbit delay 20us
rx=(receive -n "$b" -p 9)
tx=(send -n "$a" -p 9 -d 10.0.0.2)

# both NAME SHELL-COMMAND: check that the 20 messages of 4 sockets on each side arrive while SHELL-COMMAND runs
both() {
	messages "$1" "${rx[@]}" -s 4 -c 20 -l 1,10k,40k -- "${tx[@]}" -S 4 -c 20 -l 1,10k,40k -- \
		receive -n "$a" -p 9 -s 4 -c 20 -l 1,10k,40k -- \
		send -n "$b" -p 9 -d 10.0.0.1 -S 4 -c 20 -l 1,10k,40k -- run "sleep 0.03; $2"
}
# readdress NS DEV ADDRESS PEER LLADDR: print the command that restores DEV's address and neighbour
readdress() { echo "ip -n $1 addr add $3/24 dev $2; ip -n $1 neigh replace $4 lladdr $5 nud permanent dev $2"; }
a_back=$(readdress "$a" w0 10.0.0.1 10.0.0.2 "$MAC_B")
b_back=$(readdress "$b" w1 10.0.0.2 10.0.0.1 "$MAC_A")

# more_in_use COUNT: true if the module has more than COUNT users
more_in_use() { [ "$(<"/sys/module/ndp/refcnt")" -gt "$1" ]; }

# ---- addresses and devices

both "messages arrive after the address of a was missing for 50 ms" "ip -n $a addr flush dev w0; sleep 0.05; $a_back"
check "packets without a route are counted" test "$(snmp "$a" OutNoRoute)" -gt 0
both "messages arrive after the address of b was missing for 50 ms" "ip -n $b addr flush dev w1; sleep 0.05; $b_back"
both "messages arrive after the device was down 5 times" "for i in 1 2 3 4 5; do
	ip -n $a link set w0 down; sleep 0.01; ip -n $a link set w0 up
	ip -n $a neigh replace 10.0.0.2 lladdr $MAC_B nud permanent dev w0; sleep 0.02; done"
both "messages arrive after the MTU was smaller for 50 ms" \
	"ip -n $a link set w0 mtu 1400; ip -n $b link set w1 mtu 1400; sleep 0.05
	ip -n $a link set w0 mtu 1500; ip -n $b link set w1 mtu 1500"
# 80 ms at the rate of the link: IP fragments
messages "a message arrives whose MTU became smaller" "${rx[@]}" -l 1m -- "${tx[@]}" -l 1m -- \
	run "sleep 0.03; ip -n $a link set w0 mtu 1400; ip -n $b link set w1 mtu 1400"
for port in "$a w0" "$b w1"; do
	ip -n "${port% *}" link set "${port#* }" mtu 1500
done
check "all flows are freed after changes of devices" wait_for 20 unused
job ndp_msg "${rx[@]}" -f -c 80 -l 40k -t 1000
check "receiver has a socket" wait_for 10 in_use
messages "senders end after their address was removed" "${tx[@]}" -e -T 200 -S 4 -c 20 -l 40k -- \
	run "sleep 0.03; ip -n $a addr flush dev w0"
stop_jobs
check "messages in flight time out after the address was removed" test "$(total ETIMEDOUT)" -gt 0
check_refused "message without a source address is refused" "unreachable" ndp_msg "${tx[@]}" -l 1
eval "$a_back"
both "messages arrive after the address was restored" true
check "all flows are freed after the address was restored" wait_for 20 unused

# ---- a host that restarts: it rejects unknown flows

job ndp_msg "${rx[@]}" -f -c 1000 -l 100k -t 1000
check "the old host has a socket" wait_for 10 in_use
old=$(<"/sys/module/ndp/refcnt")
job ndp_msg receive -n "$c" -p 9 -f -c 1000 -l 100k -t 1000
check "the new host has a socket" wait_for 10 more_in_use "$old"
# 10 MB take 0.8 s, and each message waits for room in the send buffer. The old host's link moves to the new host.
messages "sender ends after its receiver has restarted" "${tx[@]}" -e -k 200000 -c 100 -l 100k -- \
	run "sleep 0.2; ip -n $b link set w1 netns $c; ip -n $c addr add 10.0.0.2/24 dev w1; ip -n $c link set w1 up
		ip -n $c neigh replace 10.0.0.1 lladdr $MAC_A nud permanent dev w1"
check "messages in flight fail with ECONNRESET at a restart" test "$(total ECONNRESET)" -gt 0
check "at most 10 messages fail at a restart" test "$(total ECONNRESET)" -le 10
check_eq "each message arrives or fails with ECONNRESET" "$(($(total msgs) + $(total ECONNRESET)))" 100
check "the new host counts packets of unknown flows" test "$(snmp "$c" InNoFlow)" -gt 0
stop_jobs
check "all flows are freed after the restart" wait_for 20 unused

# ---- namespaces deleted with open sockets and messages in flight: they live on until these have ended

setup_ns d e
a=$d b=$e
wire_ab rate 100mbit delay 20us
job ndp_msg receive -n "$e" -p 9 -f -c 1000000 -l 100k -t 1000
receiver=$!
wait_for 10 in_use
job ndp_msg send -n "$d" -p 9 -d 10.0.0.2 -S 4 -c 1000000 -l 100k -t 1000
sender=$!
sleep 0.1
ip netns del "$d"
ip netns del "$e"
NAMESPACES=("${NAMESPACES[@]:0:3}")
sleep 0.2
check "sender runs after its namespace's name was deleted" kill -0 $sender
check "receiver runs after its namespace's name was deleted" kill -0 $receiver
check_refused "module of sockets in deleted namespaces cannot be unloaded" "in use" rmmod ndp
stop_jobs
check "all flows are freed after the processes have ended" wait_for 90 unused
check "module is unloaded after the processes have ended" rmmod ndp
load_module ndp
finish

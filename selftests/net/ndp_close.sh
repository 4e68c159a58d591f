#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Sockets on either side, the link, the device, the namespace and the module go away while messages are in flight.
#
#	+--------- a ---------+     +--------- b ---------+
#	| ndp_msg send -> w0  |=====| w1 -> receive       |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2154,SC2317 # setup_ns sets a and b; functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
. "$(dirname "$0")/../lib/ndp.sh"
setup_ns a b
wire_ab rate 100mbit delay 20us
ip -n "$a" neigh add 10.0.0.9 lladdr 02:00:00:00:00:09 nud permanent dev w0
rx=(receive -n "$b" -p 9)
tx=(send -n "$a" -p 9 -d 10.0.0.2)

# ---- the sender closes: 2 MB take 160 ms

messages "queued messages arrive after close()" "${rx[@]}" -c 20 -l 100k -- "${tx[@]}" -x -c 20 -l 100k
check "close() does not wait for delivery" test "$(total us)" -lt "$(total us receive)"
messages "messages arrive with SO_LINGER" "${rx[@]}" -c 20 -l 100k -- "${tx[@]}" -x -z 10 -c 20 -l 100k
check "close() waits for delivery with SO_LINGER" test "$(total us)" -ge 150000
check "close() to a silent host ends after an SO_LINGER of 1 s" ndp_msg send -n "$a" -p 9 -d 10.0.0.9 -x -z 1 -l 100
check_refused "SO_LINGER of 0 in the middle of a message resets the reader's message" "Connection reset" \
	ndp_msg "${rx[@]}" -r 100000 -l 8m -- "${tx[@]}" -x -z 0 -l 8m
check_refused "close() with SO_LINGER of 0 drops queued messages" "" \
	ndp_msg "${rx[@]}" -c 20 -l 100k -t 1 -- "${tx[@]}" -x -z 0 -c 20 -l 100k
check "message of a killed sender that has arrived is delivered" ndp_msg "${rx[@]}" -f -c 1 -l 100k -- \
	run "timeout -s KILL 3 ndp_msg send -n $a -p 9 -d 10.0.0.2,10.0.0.9 -c 20 -l 100k; :"

# ---- the receiver ends

messages "sender ends after its receiver has ended" run "ndp_msg ${rx[*]} -l 64m -t 1; :" -- run "sleep 0.2" -- \
	"${tx[@]}" -l 64m -e
check "sender of a gone receiver gets ECONNREFUSED or ECONNRESET" \
	test $(($(total ECONNREFUSED) + $(total ECONNRESET))) -ge 1
check "all flows are freed after the receiver has ended" wait_for 20 unused

# ---- the link

messages "messages arrive after the receiver's link was down for 100 ms" \
	"${rx[@]}" -c 20 -l 100k -- "${tx[@]}" -c 20 -l 100k -- \
	run "sleep 0.05; ip -n $b link set w1 down; sleep 0.1; ip -n $b link set w1 up
		ip -n $b neigh replace 10.0.0.1 lladdr $MAC_A nud permanent dev w1"
messages "messages arrive after the sender's link was down for 100 ms" \
	"${rx[@]}" -c 20 -l 100k -- "${tx[@]}" -c 20 -l 100k -- \
	run "sleep 0.05; ip -n $a link set w0 down; sleep 0.1; ip -n $a link set w0 up
		ip -n $a neigh replace 10.0.0.2 lladdr $MAC_B nud permanent dev w0"
messages "sender ends after its device was deleted" run "ndp_msg ${rx[*]} -c 20 -l 100k -t 1; :" -- \
	"${tx[@]}" -e -T 300 -c 20 -l 100k -- run "sleep 0.1; ip -n $a link del w0"
check "messages in flight fail after the device was deleted" test "$(total failed)" -gt 0
check "all flows are freed after the device was deleted" wait_for 20 unused
wire_ab rate 100mbit delay 20us
messages "messages arrive over a new device" "${rx[@]}" -c 20 -l 100k -- "${tx[@]}" -c 20 -l 100k

# ---- the namespace

check "sockets with messages to a silent host are closed" \
	ndp_msg send -n "$a" -p 9 -d 10.0.0.9 -x -S 5 -c 5 -l 100,50k
ip netns del "$a"
ip netns del "$b"
NAMESPACES=()
check "all flows are freed after their namespaces were deleted" wait_for 20 unused

# ---- the module

setup_ns a b
wire_ab rate 100mbit delay 20us
job ndp_msg "${rx[@]}" -l 1 -t 5
check "a socket holds a reference to the module" wait_for 5 in_use
check_refused "module of an open socket cannot be unloaded" "in use" rmmod ndp
stop_jobs
check "module is unused after the socket was closed" wait_for 10 unused
for i in 1 2 3; do
	check "module is unloaded while packets arrive: $i" ndp_msg \
		run "ndp_forge -s $a/w0 random:udp4:3000,$i wait=10 random:udp4:3000,${i}0 >$TMP/forged" -- run "rmmod ndp"
	check "module is loaded again: $i" load_module ndp
	messages "messages arrive after reloading the module: $i" "${rx[@]}" -c 5 -l 100k -- "${tx[@]}" -c 5 -l 100k
	check "all flows are freed after reloading the module: $i" wait_for 20 unused
done
finish

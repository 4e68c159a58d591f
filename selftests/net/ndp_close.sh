#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What ends while messages are under way: sockets on either side, the link, the device,
# the namespace, and the module.
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

messages "closed at once, the messages go on" "${rx[@]}" -c 20 -l 100k -- "${tx[@]}" -x -c 20 -l 100k
check "close() did not wait" test "$(said us)" -lt "$(said us receive)"
messages "SO_LINGER" "${rx[@]}" -c 20 -l 100k -- "${tx[@]}" -x -z 10 -c 20 -l 100k
check "close() waited" test "$(said us)" -ge 150000
check "SO_LINGER of 1 s, to a silent host: no longer" ndp_msg send -n "$a" -p 9 -d 10.0.0.9 -x -z 1 -l 100
check_refused "SO_LINGER of 0 in the middle of a message: the reader is told" "Connection reset" \
	ndp_msg "${rx[@]}" -r 100000 -l 8m -- "${tx[@]}" -x -z 0 -l 8m
check_refused "SO_LINGER of 0: what has not arrived does not" "" \
	ndp_msg "${rx[@]}" -c 20 -l 100k -t 1 -- "${tx[@]}" -x -z 0 -c 20 -l 100k
check "a killed sender, of which a message has come" ndp_msg "${rx[@]}" -f -c 1 -l 100k -- \
	run "timeout -s KILL 3 ndp_msg send -n $a -p 9 -d 10.0.0.2,10.0.0.9 -c 20 -l 100k; :"

# ---- the receiver goes

messages "the receiver goes" run "ndp_msg ${rx[*]} -l 64m -t 1; :" -- run "sleep 0.2" -- \
	"${tx[@]}" -l 64m -e
check "the sender is told" test $(($(said ECONNREFUSED) + $(said ECONNRESET))) -ge 1
check "all has gone" wait_for 20 unused

# ---- the link

messages "down for 100 ms" "${rx[@]}" -c 20 -l 100k -- "${tx[@]}" -c 20 -l 100k -- \
	run "sleep 0.05; ip -n $b link set w1 down; sleep 0.1; ip -n $b link set w1 up
		ip -n $b neigh replace 10.0.0.1 lladdr $MAC_A nud permanent dev w1"
messages "the sender's device down, and up again" "${rx[@]}" -c 20 -l 100k -- "${tx[@]}" -c 20 -l 100k -- \
	run "sleep 0.05; ip -n $a link set w0 down; sleep 0.1; ip -n $a link set w0 up
		ip -n $a neigh replace 10.0.0.2 lladdr $MAC_B nud permanent dev w0"
messages "the device goes" run "ndp_msg ${rx[*]} -c 20 -l 100k -t 1; :" -- \
	"${tx[@]}" -e -T 300 -c 20 -l 100k -- run "sleep 0.1; ip -n $a link del w0"
check "what was under way fails" test "$(said failed)" -gt 0
check "all has gone" wait_for 20 unused
wire_ab rate 100mbit delay 20us
messages "a new one" "${rx[@]}" -c 20 -l 100k -- "${tx[@]}" -c 20 -l 100k

# ---- the namespace

check "to a silent host, and closed" \
	ndp_msg send -n "$a" -p 9 -d 10.0.0.9 -x -S 5 -c 5 -l 100,50k
ip netns del "$a"
ip netns del "$b"
NAMESPACES=()
check "namespaces went: so do flows" wait_for 20 unused

# ---- the module

setup_ns a b
wire_ab rate 100mbit delay 20us
job ndp_msg "${rx[@]}" -l 1 -t 5
check "a socket uses the module" wait_for 5 in_use
check_refused "which is not unloaded" "in use" rmmod ndp
stop_jobs
check "without, it is" wait_for 10 unused
for i in 1 2 3; do
	check "unloaded, while packets come: $i" ndp_msg \
		run "ndp_forge -s $a/w0 random:udp4:3000,$i wait=10 random:udp4:3000,${i}0 >$TMP/forged" -- run "rmmod ndp"
	check "loaded again" load_module ndp
	messages "works as before" "${rx[@]}" -c 5 -l 100k -- "${tx[@]}" -c 5 -l 100k
	check "nothing is left" wait_for 20 unused
done
finish

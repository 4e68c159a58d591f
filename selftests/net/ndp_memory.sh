#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Sockets with little memory: senders and receivers wait for each other, but not forever.
#
#	+--------- a ---------+     +--------- b ---------+
#	| ndp_msg send -> w0  |=====| w1 -> receive       |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2154,SC2317 # setup_ns sets a and b; functions are called through wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
. "$(dirname "$0")/../lib/ndp.sh"
setup_ns a b
WIRE=(mtu 9000)
wire_ab rate 500mbit delay 5us
rx=(receive -n "$b" -p 9)
tx=(send -n "$a" -p 9 -d 10.0.0.2)

messages "messages arrive with the smallest SO_SNDBUF" \
	"${rx[@]}" -c 12 -l 1,1k,30k,1m -- "${tx[@]}" -k 1 -c 12 -l 1,1k,30k,1m
messages "messages arrive with a small SO_SNDBUF and MSG_DONTWAIT" \
	"${rx[@]}" -c 200 -l 1,1k,5k -- "${tx[@]}" -D -k 20000 -c 200 -l 1,1k,5k
messages "messages arrive with the smallest SO_RCVBUF" \
	"${rx[@]}" -r 1 -c 12 -l 1,1k,30k,300k -- "${tx[@]}" -c 12 -l 1,1k,30k,300k
# The link needs 16 ms. A receiver without room accepts only the next packet in order, so sending later packets costs
# time.
! exact || check "the smallest SO_RCVBUF delays messages by less than 1 s" test "$(total us)" -lt 1000000
messages "16 concurrent messages arrive, each longer than SO_RCVBUF" \
	"${rx[@]}" -r 100000 -s 16 -l 300k -- "${tx[@]}" -S 16 -l 300k
messages "concurrent messages arrive with room for two at a time" \
	"${rx[@]}" -r 200000 -s 16 -c 3 -l 100k -- "${tx[@]}" -S 16 -c 3 -l 100k
messages "100 messages of all sizes arrive with a small SO_RCVBUF" \
	"${rx[@]}" -r 150000 -c 100 -l 1,100,10k,200k,1m -- "${tx[@]}" -c 100 -l 1,100,10k,200k,1m
messages "messages to a slow reader arrive" \
	"${rx[@]}" -w 2 -r 60000 -s 4 -c 20 -l 100,5k,40k -- "${tx[@]}" -S 4 -c 20 -l 100,5k,40k
messages "messages to a slow reader with a short buffer arrive" \
	"${rx[@]}" -w 1 -b 3000 -r 60000 -s 2 -c 5 -l 100,50k -- "${tx[@]}" -S 2 -c 5 -l 100,50k
messages "small messages of 40 sockets with little memory arrive" \
	"${rx[@]}" -r 20000 -s 40 -c 30 -l 10,1000 -- "${tx[@]}" -k 5000 -S 40 -c 30 -l 10,1000

# a receiver that does not read does not delay other receivers; its sender waits
messages "messages arrive beside those to a receiver that hardly reads" \
	receive -n "$b" -p 10 -w 20 -r 20000 -c 20 -l 3000 -- \
	send -n "$a" -p 10 -d 10.0.0.2 -c 20 -l 3000 -- "${rx[@]}" -c 30 -l 100k -- "${tx[@]}" -c 30 -l 100k
check_eq "no message to a receiver that hardly reads fails" "$(total failed)" 0

# long_arrives: check that the ndp_msg in the background succeeds
long_arrives() {
	local status=0
	wait "$long" || status=$?
	check_eq "long messages arrive" "$status" 0
}

if exact; then
	# senders in turn, so that all messages begin
	for ns in "$a" "$b"; do
		in_ns "$ns" tee /proc/sys/net/ndp/pull_policy >/dev/null <<<0
	done
	# while others wait for room, a new sender is asked for the token, instead of being refused until a timeout
	ndp_msg receive -n "$b" -p 10 -r 500000 -f -s 13 -l 200k -- \
		send -n "$a" -p 10 -d 10.0.0.2 -S 12 -l 200k >"$TMP/long" &
	long=$!
	sleep 0.01
	cookies=$(snmp "$a" SndCookies)
	messages "a short message is sent beside long ones that wait" send -n "$a" -p 10 -d 10.0.0.2 -o 7 -l 20k
	check "its sender is asked for the token" test "$(snmp "$a" SndCookies)" -gt "$cookies"
	long_arrives
fi
check "all flows are freed" wait_for 20 unused
finish

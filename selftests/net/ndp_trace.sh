#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Trace events of a message that arrives and of a message that fails
#
#	+--------- a ---------+     +--------- b ---------+
#	| ndp_msg send -> w0  |=====| w1 -> receive       |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2154,SC2317 # setup_ns sets a and b; wait_for calls functions
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
. "$(dirname "$0")/../lib/ndp.sh"
. "$(dirname "$0")/../lib/trace.sh"
setup_ns a b
wire_ab rate 500mbit delay 5us
ip -n "$a" neigh add 10.0.0.9 lladdr 02:00:00:00:00:09 nud permanent dev w0
trace_events ndp || skip_all "no tracefs"

# lines EVENT [TEXT...]: number of traced events that contain all TEXTs
lines() {
	local lines text
	lines=$(traced "$1") || true
	for text in "${@:2}"; do
		lines=$(grep -F -- " $text" <<<"$lines") || true
	done
	grep -c . <<<"$lines" || true
}

# all_received COUNT TEXT: true once COUNT packets were received; a retransmission may arrive after its message is
# acknowledged
all_received() { [ "$(lines ndp_came "$2")" -eq "$1" ]; }

answers_received() { [ "$(lines ndp_came type=control)" -eq "$(lines ndp_sent type=control)" ]; }

messages "a message arrives" receive -n "$b" -p 9 -l 100k -- send -n "$a" -P 2000 -d 10.0.0.2 -p 9 -l 100k
packets=$(total packets)
up="local=::ffff:10.0.0.1 remote=::ffff:10.0.0.2 sport=2000 dport=9 type=data"
check_eq "each sent packet is traced" "$(lines ndp_sent "$up")" "$packets"
check_eq "the first packet of the message is traced once" "$(lines ndp_sent "$up" try=0 offset=0)" 1
up="local=::ffff:10.0.0.2 remote=::ffff:10.0.0.1 sport=2000 dport=9 type=data"
check "each received packet is traced" wait_for 5 all_received "$packets" "$up"
check "each CONTROL packet is traced when sent and received" wait_for 5 answers_received
# With one flow, all pulls may be part of ACKs, and on a late machine the pulls of several flows as well.
messages "four concurrent messages arrive" \
	receive -n "$b" -p 9 -s 4 -l 100k -- send -n "$a" -S 4 -d 10.0.0.2 -p 9 -l 100k
if exact; then
	check "paced pulls are traced" test "$(lines ndp_pull remote=::ffff:10.0.0.1)" -gt 0
fi
check_eq "the end of an acknowledged message is traced" \
	"$(lines ndp_msg_ended "remote=::ffff:10.0.0.2 sport=2000 dport=9" "no=1 len=102400 prio=0 error=0")" 1
messages "a message to a silent host fails" send -n "$a" -d 10.0.0.9 -p 9 -l 100 -T 50 -e
check "packet timeouts are traced" test "$(lines ndp_timeout remote=::ffff:10.0.0.9)" -gt 0
check_eq "the end of a message that failed with ETIMEDOUT is traced" \
	"$(lines ndp_msg_ended remote=::ffff:10.0.0.9 "len=100 prio=0 error=110")" 1
finish

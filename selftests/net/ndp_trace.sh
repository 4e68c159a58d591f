#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Trace events: what they say of a message that arrives, and of one that does not
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

# lines EVENT [TEXT...]: how many of its lines have all TEXTs
lines() {
	local lines text
	lines=$(traced "$1") || true
	for text in "${@:2}"; do
		lines=$(grep -F -- " $text" <<<"$lines") || true
	done
	grep -c . <<<"$lines" || true
}

# all_came COUNT TEXT: a retransmission may still be on its way when its message is acknowledged
all_came() { [ "$(lines ndp_came "$2")" -eq "$1" ]; }

answers_came() { [ "$(lines ndp_came type=control)" -eq "$(lines ndp_sent type=control)" ]; }

messages "a message" receive -n "$b" -p 9 -l 100k -- send -n "$a" -P 2000 -d 10.0.0.2 -p 9 -l 100k
packets=$(said packets)
up="local=::ffff:10.0.0.1 remote=::ffff:10.0.0.2 sport=2000 dport=9 type=data"
check_eq "each packet is sent" "$(lines ndp_sent "$up")" "$packets"
check_eq "one is the first of the message" "$(lines ndp_sent "$up" try=0 offset=0)" 1
up="local=::ffff:10.0.0.2 remote=::ffff:10.0.0.1 sport=2000 dport=9 type=data"
check "and comes" wait_for 5 all_came "$packets" "$up"
check "answers come as they were sent" wait_for 5 answers_came
# Of one flow, each pull may be in an answer; so may all, where packets come later than the line brings them.
messages "four at a time" receive -n "$b" -p 9 -s 4 -l 100k -- send -n "$a" -S 4 -d 10.0.0.2 -p 9 -l 100k
if exact; then
	check "some packets are pulled" test "$(lines ndp_pull remote=::ffff:10.0.0.1)" -gt 0
fi
check_eq "the message is acknowledged" \
	"$(lines ndp_msg_ended "remote=::ffff:10.0.0.2 sport=2000 dport=9" "no=1 len=102400 prio=0 error=0")" 1
messages "one to a silent host" send -n "$a" -d 10.0.0.9 -p 9 -l 100 -T 50 -e
check "packets time out" test "$(lines ndp_timeout remote=::ffff:10.0.0.9)" -gt 0
check_eq "the message fails: ETIMEDOUT" "$(lines ndp_msg_ended remote=::ffff:10.0.0.9 "len=100 prio=0 error=110")" 1
finish

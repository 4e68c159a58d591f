#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A trimmed packet no longer counts as its sender's: the socket's send buffer
# is free while the header still waits, and zero-copy memory is its owner's again.
#
#	+--------- a ---------+     +--------- b ---------+
#	| sockets -> v0: ndp  |=====| v1                  |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_ndp
setup_ns a b
link_ab

send() { traffic udp -n "$a" -d 10.0.0.2 -p 61199 -q "$@"; }

ndp mode cp limit 1 hlimit 1000000 rate 1kbit
# leaves; waits for ever
send -l 8000 -c 1 >/dev/null
send -l 1000 -c 1 >/dev/null
check_eq "50 are trimmed: the socket is charged for none" \
	"$(send -l 1400 -c 50)" $'outq 0\nsent 50 failed 0'
check_eq "a send buffer of 2 packets takes 100 in a row" \
	"$(send -l 1400 -c 100 -b 2304)" $'outq 0\nsent 100 failed 0'
check_eq "zero-copy memory comes back, too" \
	"$(send -l 8000 -c 20 -Z)" $'completed 20\noutq 0\nsent 20 failed 0'
check_json "$(sch_stats)" "170 headers wait" '.header.qlen_packets == 170'

ndp limit 1 hlimit 1000000 rate 1kbit
send -l 8000 -c 1 >/dev/null
one=$(send -l 1400 -c 1)
many=$(send -l 1400 -c 50)
note "charged for the first packet: $one; after 50 more: $many"
check "trimmed at the tail, too: 50 packets are charged like one at most" \
	test "$(sed -n 's/outq //p' <<<"$many")" -le "$(sed -n 's/outq //p' <<<"$one")"

tc -n "$a" qdisc replace dev v0 root tbf rate 8kbit burst 9000 limit 1000000
check "for comparison: tbf holds it" \
	grep -q 'failed [1-9]' <(send -l 1400 -c 100 -b 2304)
finish

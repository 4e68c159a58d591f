#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A trimmed packet is no longer charged to its socket: the send buffer is free
# while the header is still queued, and zero-copy memory is returned to the user.
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
# the first packet leaves, the second fills the data queue
send -l 8000 -c 1 >/dev/null
send -l 1000 -c 1 >/dev/null
check_eq "50 trimmed packets are not charged to the socket" \
	"$(send -l 1400 -c 50)" $'outq 0\nsent 50 failed 0'
check_eq "a send buffer of 2 packets accepts 100 packets that are trimmed" \
	"$(send -l 1400 -c 100 -b 2304)" $'outq 0\nsent 100 failed 0'
check_eq "zero-copy sends complete when their packets are trimmed" \
	"$(send -l 8000 -c 20 -Z)" $'completed 20\noutq 0\nsent 20 failed 0'
check_json "$(sch_stats)" "the headers of 170 trimmed packets are queued" '.header.qlen_packets == 170'

ndp limit 1 hlimit 1000000 rate 1kbit
send -l 8000 -c 1 >/dev/null
one=$(send -l 1400 -c 1)
many=$(send -l 1400 -c 50)
note "charged to the socket after the first packet: $one; after 50 more: $many"
check "packets trimmed at the tail are not charged to the socket" \
	test "$(sed -n 's/outq //p' <<<"$many")" -le "$(sed -n 's/outq //p' <<<"$one")"

tc -n "$a" qdisc replace dev v0 root tbf rate 8kbit burst 9000 limit 1000000
check "with tbf instead of ndp, the send buffer is full" \
	grep -q 'failed [1-9]' <(send -l 1400 -c 100 -b 2304)
finish

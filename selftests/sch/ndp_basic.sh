#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# sch_ndp can be added, shown, changed, replaced and deleted, its defaults are
# the documented ones, and what tc prints can be given to tc again.
#
#	+--------- a ---------+     +--------- b ---------+
#	| v0: ndp             |=====| v1                  |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_ndp
setup_ns a b
link_ab

options() { sch_stats | jq -c .options; }

# text_options: the options as tc prints them, without what stands before them
text_options() {
	tc -n "$a" qdisc show dev v0 | sed -n 's/.* refcnt [0-9]* //p'
}

check "add" tc -n "$a" qdisc add dev v0 root handle 1: ndp
check_json "$(options)" \
	"default queues" '.limit == 8 and .limit_bytes == 0 and .ratio == 10 and .mode == "ndp"' \
	"default hlimit and other_limit: auto" '.hlimit == 0 and .other_limit == 0' \
	"default match" '.match == "udp_port" and .udp_port == 61199' \
	"default DSCPs" '.dscp_trimmed == 48 and .dscp_returned == 49 and (.rts | not)' \
	"default trim_size" '.trim_size == 128' \
	"no shaper by default" '(.rate // 0) == 0 and .overhead == 0' \
	"default other_ecn: never" '.other_ecn == 0'

check_refused "adding it twice is refused" "" tc -n "$a" qdisc add dev v0 root ndp

check "change all" tc -n "$a" qdisc change dev v0 root handle 1: ndp limit 20 \
	limit_bytes 30000 hlimit 4000 ratio 7 trim_size 200 mode cp \
	match dscp 10,af21,30-32 dscp_trimmed 50 rts dscp_returned 51 \
	rate 100mbit overhead 24 other_limit 50000 other_ecn 20000
check_json "$(options)" \
	"changed queues" '.limit == 20 and .limit_bytes == 30000 and .hlimit == 4000 and .ratio == 7' \
	"changed mode and trim_size" '.mode == "cp" and .trim_size == 200' \
	"changed match" '.match == "dscp" and .dscp == [10, 18, 30, 31, 32]' \
	"changed DSCPs" '.dscp_trimmed == 50 and .dscp_returned == 51 and .rts' \
	"changed shaper" '.rate == 12500000 and .overhead == 24' \
	"changed other" '.other_limit == 50000 and .other_ecn == 20000'

text=$(text_options)
json=$(options)
check "delete" tc -n "$a" qdisc del dev v0 root
# shellcheck disable=SC2086 # the text is words
check "the text is accepted by tc" tc -n "$a" qdisc add dev v0 root handle 1: ndp $text
check_eq "and makes the same qdisc, in text" "$(text_options)" "$text"
check_eq "and in JSON" "$(options)" "$json"

check "a change keeps what it does not name" \
	tc -n "$a" qdisc change dev v0 root handle 1: ndp limit 21
check_eq "only the limit differs" "$(options)" "${json/\"limit\":20,/\"limit\":21,}"

check "replace by pfifo" tc -n "$a" qdisc replace dev v0 root handle 2: pfifo
check "replace by ndp" tc -n "$a" qdisc replace dev v0 root handle 1: ndp match all limit_bytes 5000
check_json "$(options)" \
	"hlimit of the new one is auto" '.hlimit == 0' \
	"match all" '.match == "all"'
check_refused "a bad value is refused with the range" "limit must be 1 to 65535" \
	tc -n "$a" qdisc change dev v0 root handle 1: ndp limit 65536
check_json "$(options)" "and changes nothing" '.limit == 8'
finish

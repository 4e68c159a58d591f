#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# sch_ndp can be added, shown, changed, replaced and deleted, has the documented
# defaults, and tc accepts the options that tc prints.
#
#	+--------- a ---------+     +--------- b ---------+
#	| v0: ndp             |=====| v1                  |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_ndp
setup_ns a b
link_ab

options() { sch_stats | jq -c .options; }

# text_options: the options as tc prints them
text_options() {
	tc -n "$a" qdisc show dev v0 | sed -n 's/.* refcnt [0-9]* //p'
}

check "ndp can be added" tc -n "$a" qdisc add dev v0 root handle 1: ndp
check_json "$(options)" \
	"default limit, limit_bytes, ratio and mode" '.limit == 0 and .limit_bytes == 0 and .ratio == 10 and .mode == "ndp"' \
	"default hlimit and other_limit are auto" '.hlimit == 0 and .other_limit == 0' \
	"default match" '.match == "udp_port" and .udp_port == 61199' \
	"default DSCPs" '.dscp_trimmed == 48 and .dscp_returned == 49 and (.rts | not)' \
	"default trim_size" '.trim_size == 128' \
	"no shaper by default" '(.rate // 0) == 0 and .overhead == 0' \
	"default other_ecn is off" '.other_ecn == 0'

check_refused "adding ndp twice is refused" "" tc -n "$a" qdisc add dev v0 root ndp

check "all options can be changed" tc -n "$a" qdisc change dev v0 root handle 1: ndp limit 20 \
	limit_bytes 30000 hlimit 4000 ratio 7 trim_size 200 mode cp \
	match dscp 10,af21,30-32 dscp_trimmed 50 rts dscp_returned 51 \
	rate 100mbit overhead 24 other_limit 50000 other_ecn 20000
check_json "$(options)" \
	"changed limits and ratio are shown" '.limit == 20 and .limit_bytes == 30000 and .hlimit == 4000 and .ratio == 7' \
	"changed mode and trim_size are shown" '.mode == "cp" and .trim_size == 200' \
	"changed match is shown" '.match == "dscp" and .dscp == [10, 18, 30, 31, 32]' \
	"changed DSCPs are shown" '.dscp_trimmed == 50 and .dscp_returned == 51 and .rts' \
	"changed shaper is shown" '.rate == 12500000 and .overhead == 24' \
	"changed other_limit and other_ecn are shown" '.other_limit == 50000 and .other_ecn == 20000'

text=$(text_options)
json=$(options)
check "ndp can be deleted" tc -n "$a" qdisc del dev v0 root
# shellcheck disable=SC2086 # the text is words
check "tc accepts the options that it prints" tc -n "$a" qdisc add dev v0 root handle 1: ndp $text
check_eq "printed options create the same qdisc, in text" "$(text_options)" "$text"
check_eq "printed options create the same qdisc, in JSON" "$(options)" "$json"

check "a single option can be changed" tc -n "$a" qdisc change dev v0 root handle 1: ndp limit 21
check_eq "a change of limit keeps all other options" "$(options)" "${json/\"limit\":20,/\"limit\":21,}"

check "ndp can be replaced by pfifo" tc -n "$a" qdisc replace dev v0 root handle 2: pfifo
check "pfifo can be replaced by ndp" tc -n "$a" qdisc replace dev v0 root handle 1: ndp match all limit_bytes 5000
check_json "$(options)" \
	"a new ndp has hlimit auto" '.hlimit == 0' \
	"a new ndp has the given match" '.match == "all"'
check_refused "a limit out of range is refused with the range" "limit must be 0 to 65535" \
	tc -n "$a" qdisc change dev v0 root handle 1: ndp limit 65536
check_json "$(options)" "a refused change leaves the limit unchanged" '.limit == 0'
finish

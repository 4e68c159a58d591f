#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# closnet lb, metrics and top show the ports and counters of act_lb, and agree with tc.
# shellcheck disable=SC2154,SC2317 # lb_net sets the namespaces; functions are called through check
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/lb.sh"
need_lb
rate=100mbit
lb_net
idle='' # set by setup_ns
setup_ns idle

# closnet_r ARGUMENT...: run closnet in the router's namespace
closnet_r() { in_ns "$r" closnet "$@"; }
# metric NAME LABEL: value of a metric
metric() { closnet_r metrics | grep "^closnet_act_lb_$1{" | grep -F "$2" | sed 's/.* //'; }
# table: packets by u0 to u3 in the JSON of closnet lb
table() {
	closnet_r lb --once -d 0.1 -j |
		jq -r 'map({(.dev): .packets}) | add // {} | [.u0, .u1, .u2, .u3] | map(. // 0) | join(" ")'
}
# documented: does closnet(8) have each key of the JSON?
documented() {
	local key
	for key in $(closnet_r lb --once -d 0.1 -j | jq -r '.[0] | keys[]'); do
		grep -qw "$key" "$LIB_TOP/Documentation/man/closnet.8" || { echo "it lacks $key"; return 1; }
	done
}

check_eq "a namespace without actions has an empty table" "$(in_ns "$idle" closnet lb --once -d 0.1 -j)" "[]"
check_eq "the text names the reason" "$(in_ns "$idle" closnet lb --once -d 0.1 | tail -n 1)" \
	"no lb action in this network namespace"

lb granularity packet select rr rate u0 1gbit
check_eq "an action without packets has no ports" "$(closnet_r lb --once -d 0.1 | tail -n 1)" "no lb action has sent a packet"
udp 4 80
check_eq "packets by port agree with tc" "$(table)" "$(port_packets)"
check_json "$(closnet_r lb --once -d 0.1 -j)" "idle ports have the best quality, and no rates" \
	'map(.quality) == [7, 7, 7, 7] and (map(.packets_per_second + .bits_per_second + .share) | add) == 0' \
	"a port's rate is the action's, or the link's" '[.[] | {(.dev): .rate_Bps}] | add | [.u0, .u1] == [125000000, 12500000]'
tc -n "$r" filter add dev rh ingress pref 1 protocol ipv6 matchall action lb granularity packet select rr index 99
udp 6 80
check_eq "packets of all actions are added up" "$(table)" "40 40 40 40"
check "closnet(8) documents each key of the JSON" documented

# ---- under load

job traffic udp -n "$h" -d 10.0.2.2 -p 9 -l 1000 >/dev/null
closnet_r lb --once -d 0.5 >"$TMP/text"
closnet_r lb --once -d 0.5 -j >"$TMP/json"
stop_jobs
note "$(<"$TMP/text")"
check_json "$(<"$TMP/json")" "shares add up to 1" 'map(.share) | add | . > 0.999 and . < 1.001' \
	"four ports share the packets equally" 'all(.[]; .share > 0.24 and .share < 0.26)' \
	"bits and packets agree" 'all(.[]; .bits_per_second / .packets_per_second | . > 8200 and . < 8500)'
check_eq "the text has a line for each port" "$(sed 1d "$TMP/text" | awk '{ print $1 }' | xargs)" "u0 u1 u2 u3"
check "the text has bars and shares" grep -Eq '^u0 .* ###### +25\.[0-9]%' "$TMP/text"
check_eq "text for a file has no colours" "$(grep -c $'\033' "$TMP/text")" 0

# ---- metrics and top

udp 4 4
check_eq "metrics have the counters of an action" "$(metric sent_packets_total "index=\"$lb_index\"")" "$(lb_stat sent_packets)"
check_eq "metrics have the reasons" "$(metric passed_ttl_total "index=\"$lb_index\"")" "$(passed ttl)"
check_eq "metrics have the ports, by label" "$(metric port_packets_total "index=\"$lb_index\",port=\"u2\"")" \
	"$(lb_stat u2.packets)"
check_eq "quality is a gauge" "$(metric port_quality "index=\"99\",port=\"u1\"")" 7
check_json "$(closnet_r metrics -j)" "JSON has an object for each action" '.act_lb | map(.index) | length == 2 and .[1] == "99"'
check "top has a line for an action" grep -Eq '^- +act_lb ' <(closnet_r top -n 1 -d 0.1)

check_refused "delay out of range is refused" 'closnet lb: illegal value "0" of -d' closnet_r lb -d 0
check_refused "unknown argument is named" 'unknown argument "x"' closnet_r lb x
finish

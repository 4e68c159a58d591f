#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# EXAMPLES of tc-lb(8): each command succeeds, with rh for the page's eth1 and u0, u1 for its eth2, eth3; and the
# filters balance the traffic that the page names. The page describes all options and all keys of the JSON.
# shellcheck disable=SC2154,SC2317 # lb_net sets the namespaces; functions are called through check
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/lb.sh"
. "$(dirname "$0")/../tc/page.sh"
need_lb
lb_net

# run_example COMMAND
run_example() {
	local command=$1
	command=${command//eth1/rh}
	command=${command//eth2/u0}
	in_ns "$r" bash -c "${command//eth3/u1}"
}

# sent INDEX: packets that an action has sent
sent() { lb_index=$1 lb_stat sent_packets; }

roce_sent() { [ "$(sent 2)" = 40 ]; }

# test_traffic: the page's filters are in place
test_traffic() {
	udp 4 80
	traffic udp -n "$h" -d 10.0.2.2 -p 4791 -l 1000 -c 40 >"$TMP/log"
	check "packets to UDP port 4791 have an action of their own" wait_for 5 roce_sent
	check_eq "all other packets use the first action" "$(sent 1)" 80
}

# rates: devices whose rate the first action sets
rates() { lb_index=1 lb_jq '.rate | map(.dev) | sort | join(" ")'; }

# described: true if the page has each word of the help and each JSON key of closnet's
described() {
	local word text help missing=0
	text=$(sed 's/\\f[BIPR]//g' "$LIB_TOP/Documentation/man/tc-lb.8")
	help=$(tc actions add action lb help 2>&1 | sed -n '/^Usage/,/^CONTROL/p')
	for word in $(grep -oE '\b[a-z_]{2,}\b' <<<"$help" | sort -u) \
		$(lb_json | jq -r '.. | objects | select(.kind? == "lb") | del(.stats, .kind, .order, .control_action) |
			.. | objects | keys[]' | sort -u); do
		# tc prints these for all actions
		case $word in ref | bind | installed | last_used | *in_hw) continue ;; esac
		grep -qwF "$word" <<<"$text" && continue
		echo "it lacks $word"
		missing=1
	done
	[ "$missing" -eq 0 ]
}

mapfile -t commands < <(examples "$LIB_TOP/Documentation/man/tc-lb.8" | sed -n 's/^# //p')
for command in "${commands[@]}"; do
	check_to "$TMP/out" "example succeeds: $command" run_example "$command"
	case $command in
	*"dst_port 4791"*) test_traffic ;;
	*"| jq"*) check_json "$(<"$TMP/out")" "example prints the packets by device" 'add == 80' ;;
	*"rate eth2"*) check_eq "example sets the rates of two devices" "$(rates)" "u0 u1" ;;
	"tc -s actions get"*) check "example prints the ports" grep -q "port u[0-3] packets" "$TMP/out" ;;
	esac
done
check "the page has examples" test "${#commands[@]}" -ge 8
lb_index=1
check "tc-lb(8) describes all options and counters" described
finish

# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # plugin.sh sets here and attrs
# Tests of m_lb.so for plugin.sh

defaults="granularity flowlet select quality choices 2 memory 1 interval 16us band 1us queue_weight 50 \
utilization_weight 50 utilization_low 15% utilization_high 90% charge gap auto flows 8192 glb off"

# the common part of all actions, in both byte orders of tests: little endian
parms() { printf 'PARMS:160:0x%s00000000%s0000000000000000' "${1:-00000000}" "${2:-00000000}"; }

# an action's first line, without its kind
shown() { run_tc qdisc show dev lo | sed -n '1s/.* refcnt [0-9]* lb //; 1s/ *$//p'; }

test_reading() {
	test_sent "$(parms)"
	test_sent "$(parms 07000000)" index 7
	test_sent "$(parms "" 03000000)" pipe
	test_sent "FLOWS:32:64 $(parms 07000000 02000000)" index 7 flows 64 drop
	test_sent "GRANULARITY:32:0 $(parms)" granularity flow
	test_sent "GRANULARITY:32:1 $(parms)" granularity flowlet
	test_sent "GRANULARITY:32:2 $(parms)" granularity packet
	test_sent "SELECT:32:0 $(parms)" select hash
	test_sent "SELECT:32:4 CHOICES:32:3 MEMORY:32:0 $(parms)" select drill choices 3 memory 0
	test_sent "INTERVAL:32:16000 BAND:32:100 $(parms)" interval 16us band 100ns
	test_sent "QUEUE_WEIGHT:32:0 UTILIZATION_WEIGHT:32:100 $(parms)" queue_weight 0 utilization_weight 100
	test_sent "UTILIZATION_LOW:32:644245094 $(parms)" utilization_low 15%
	test_sent "UTILIZATION_HIGH:32:3865470566 $(parms)" utilization_high 90%
	test_sent "CHARGE:32:1 $(parms)" charge
	test_sent "CHARGE:32:0 $(parms)" nocharge
	test_sent "RATE(IFINDEX:32:1 RATE:64:125000000) $(parms)" rate lo 1gbit
	test_sent "GAP:32:2000 $(parms)" gap 2ms
	test_sent "GAP:32:0 $(parms)" gap auto
	test_sent "GLB:32:1 KEY:128:0x000102030405060708090a0b0c0d0eff $(parms)" glb tell key 000102030405060708090A0b0c0d0eFf
}

test_errors() {
	local word
	test_refused 'Usage: ... action lb' flows 64 help
	test_refused 'left to tc: "x"' flows 64 x
	test_refused 'Illegal "granularity": "cell" is not flow, flowlet or packet' granularity cell
	test_refused 'Illegal "select": "x" is not hash, random, rr, quality or drill' select x
	for word in choices memory queue_weight utilization_weight flows; do
		test_refused "Illegal \"$word\": \"1.5\" is not a whole number" $word 1.5
	done
	for word in interval band gap; do
		test_refused "Illegal \"$word\": \"5\" is not a time with its unit" $word 5
	done
	test_refused 'Illegal "utilization_low": "15" is not a percentage' utilization_low 15
	test_refused 'Illegal "rate": "no" is not the name of a device' rate no 1gbit
	test_refused 'Illegal "rate": "x" is not a rate' rate lo x
	test_refused 'Illegal "rate": "-1gbit" is not a rate' rate lo -1gbit
	test_refused 'Illegal "rate": "7bit" is not a rate' rate lo 7bit
	test_refused '"rate" needs a value' rate lo
	for word in 0 000102030405060708090a0b0c0d0eF 000102030405060708090a0b0c0d0efg; do
		test_refused 'Illegal "key": "..." is not 32 hexadecimal digits' key $word
	done
	test_refused 'Illegal "index": "x" is not a number' index x
	for word in granularity select choices memory interval band queue_weight utilization_weight utilization_low \
		utilization_high rate gap flows glb key; do
		test_refused "\"$word\" needs a value" $word
	done
}

test_printing() {
	test_round "$defaults pass"
	test_round "granularity packet select drill choices 8 memory 4 nocharge pass"
	test_round "gap 100ms pass" gap 0.1s
	test_round "pass"
	test_round "rate lo 1Gbit continue" rate lo 1000mbit continue
	test_round "goto chain 5"
	test_round "glb choose pass"
}

test_json() {
	local options
	read -ra options <<<"$defaults"
	set_options "${options[@]}" rate lo 1gbit index 7 pipe
	check_eq "$NAME: JSON has all options" \
		"$(jq -cS '.utilization_low |= (. * 1e6 | round) | .utilization_high |= (. * 1e6 | round)' <<<"$(json)")" \
		"$(jq -cSn '{kind: "lb", granularity: "flowlet", select: "quality", choices: 2, memory: 1, interval: 16000,
		band: 1000, queue_weight: 50, utilization_weight: 50, utilization_low: 150000, utilization_high: 900000,
		charge: true, gap: 0, flows: 8192, glb: "off", rate: [{dev: "lo", rate: 125000000}], control_action: "pipe", index: 7,
		ref: 0, bind: 0}')"
}

test_foreign_attributes() {
	test_made "pass" "$(parms)" 99:32:5
	test_made "granularity unknown select unknown pass" GRANULARITY:32:9 SELECT:32:9 "$(parms)"
	test_made "flows 5000000000 pass" FLOWS:64:5000000000 "$(parms)"
	test_made "rate lo 8bit pass" "RATE(RATE:64:1 99:32:1 IFINDEX:32:1)" "$(parms)"
	test_made "pass" "RATE(IFINDEX:32:1)" "$(parms)"
	test_made "stolen" "$(parms "" 04000000)"
}

counters="SENT_PACKETS:64:1 SEGMENTED_PACKETS:64:2 DROPPED_PACKETS:64:3 NEW_FLOWS:64:4 GAPS:64:5 MOVES:64:6 \
FAILOVERS:64:7 OVERFLOWS:64:8 TOLD_MESSAGES:64:21 DELAYED_MESSAGES:64:20 HEARD_MESSAGES:64:22 REFUSED_MESSAGES:64:23"
port="PORT(IFINDEX:32:1 PACKETS:64:9 BYTES:64:10 QUALITY:32:7 UTILIZATION:32:2147483648 DRAIN:64:1500 \
RATE:64:125000000)"
stats_text="  sent 1p segmented 2p dropped 3p
  new_flows 4 gaps 5 moves 6 failovers 7 overflows 8p
  told 21 delayed 20 heard 22 refused 23
  passed ttl 11p mtu 12p
  port lo packets 9p bytes 10b quality 7 utilization 50.0% drain 1.5us rate 1Gbit"

# statistics WORD...: print what tc -s prints for these statistics, from the second line on
statistics() {
	"$here/attrs.py" make lb "$(parms)" "STATS($*)" >"$attrs"
	SHIM_ATTRS=$attrs TC_LIB_DIR=$TMP/lb "$TC" -s qdisc show dev lo | sed -n '/^  sent/,/^ Sent/{/^ Sent/d; s/ *$//; /./p}'
}

json_xstats() {
	SHIM_ATTRS=$attrs TC_LIB_DIR=$TMP/lb "$TC" -s -j qdisc show dev lo |
		jq -cS '.[0].options | del(.kind, .control_action, .index, .ref, .bind)'
}

test_xstats() {
	local full
	full=$(statistics "$counters PASS(TTL:64:11 MTU:64:12 HOOK:64:0) $port")
	check_eq "$NAME: prints counters, reasons and ports" "$full" "$stats_text"
	check_eq "$NAME: prints statistics of a newer kernel" \
		"$(statistics "90:64:1 $counters PASS(98:64:3 TTL:64:11 MTU:64:12) ${port/PORT(/PORT(99:32:1 }")" "$full"
	check_eq "$NAME: prints counters without reasons and ports" "$(statistics "$counters" | tail -n 1)" \
		"  told 21 delayed 20 heard 22 refused 23"
	statistics "$counters PASS(TTL:64:11 HOOK:64:0) $port $port" >/dev/null
	check_json "$(json_xstats)" "$NAME: JSON has the counters" \
		'.sent_packets == 1 and .segmented_packets == 2 and .dropped_packets == 3 and .overflows == 8' \
		"$NAME: JSON has the reasons that did not occur, too" '.passed == {hook: 0, ttl: 11}' \
		"$NAME: JSON has the ports" '.ports[1] | .utilization |= (. * 1000 | round) | . == {dev: "lo", packets: 9,
			bytes: 10, quality: 7, utilization: 500, drain_ns: 1500, rate: 125000000}'
}

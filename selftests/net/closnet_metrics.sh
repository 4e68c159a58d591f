#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# closnet metrics and closnet top show every module's counters in a network namespace. An independent parser,
# Prometheus' own, reads the OpenMetrics text.
# shellcheck disable=SC2317 # functions are called through check
#
#	+---------------- a ----------------+     +------ b ------+
#	| timely -> w0: ets, ndp 2:, pcrp 3: |=====| w1: dcqcn     |
#	+-----------------------------------+     +---------------+
. "$(dirname "$0")/../lib/lib.sh"
need_cc timely
need_dcqcn
need_ndp
need_closwire
c='' # set by setup_ns
setup_ns a b c
wire_ab rate 10gbit
tc -n "$a" qdisc add dev w0 root handle 1: ets bands 2 strict 2 priomap 0 0
tc -n "$a" qdisc add dev w0 parent 1:1 handle 2: ndp limit 4 rate 100mbit
tc -n "$b" qdisc add dev w1 root handle 1: dcqcn pool sw0

# in_ns NAMESPACE ARGUMENT...: run closnet there
in_ns() { ip netns exec "$1" closnet "${@:2}"; }

# metric NAMESPACE NAME LABEL...: value of a metric whose labels have all of LABEL
metric() {
	local ns=$1 name=$2 text
	shift 2
	text=$(in_ns "$ns" metrics | grep "^${name}[{ ]")
	for label; do text=$(grep -F "$label" <<<"$text"); done
	echo "${text##* }"
}

# parses: does Prometheus' parser accept the text, with a type for each metric?
parses() {
	in_ns "$1" metrics >"$TMP/metrics"
	/usr/bin/python3 - "$TMP/metrics" <<-'END'
		import sys
		from prometheus_client.openmetrics.parser import text_string_to_metric_families as families
		kinds = {f.type for f in families(open(sys.argv[1]).read())}
		sys.exit(kinds != {"counter", "gauge"})
	END
}

check_eq "namespace without modules' objects has no qdisc and no port" "$(in_ns "$c" metrics | grep -c 'sch_\|closwire')" 0
traffic udp -n "$a" -d 10.0.0.2 -p 61199 -l 1400 -c 100 >"$TMP/sent"
check "Prometheus' parser accepts the text of a sender" parses "$a"
check "Prometheus' parser accepts the text of a switch" parses "$b"

drained() { [ "$(metric "$a" closnet_sch_ndp_backlog 'dev="w0"')" = 0 ]; }
check "queue drains" wait_for 10 drained
tc -n "$a" -s -j qdisc show dev w0 >"$TMP/tc"
# tc_counter JQ: a counter of the ndp qdisc, as tc shows it
tc_counter() { jq ".[] | select(.kind == \"ndp\") | $1" "$TMP/tc"; }
check "packets were trimmed" test "$(tc_counter .trimmed_arrival_packets)" -gt 0
check_eq "counter of a qdisc has the value that tc shows" \
	"$(metric "$a" closnet_sch_ndp_trimmed_arrival_packets_total 'dev="w0"' 'handle="2:"')" \
	"$(tc_counter .trimmed_arrival_packets)"
check_eq "nested counter has the names of both levels" \
	"$(metric "$a" closnet_sch_ndp_data_sent_packets_total 'dev="w0"')" "$(tc_counter .data.sent_packets)"
check_eq "a queue length is a gauge" "$(metric "$a" closnet_sch_ndp_data_qlen_packets 'dev="w0"')" 0
check_eq "priorities of a port are told apart by a label" "$(metric "$b" closnet_sch_dcqcn_prio_paused_ns_total 'prio="3"')" 0
check "port has received frames" test "$(metric "$b" closnet_closwire_rx_interrupts_total 'dev="w1"')" -gt 0
check_eq "port of closwire has its ethtool statistics" "$(metric "$b" closnet_closwire_rx_interrupts_total 'dev="w1"')" \
	"$(ip netns exec "$b" ethtool -S w1 | sed -n 's/ *rx_interrupts: //p')"
check_eq "congestion control has the counters of its file" \
	"$(metric "$a" closnet_tcp_timely_samples_hw_total)" \
	"$(ip netns exec "$a" sed -n 's/^samples_hw //p' /proc/net/closnet/timely)"

check_json "$(in_ns "$a" metrics -j)" "JSON has an object for each qdisc, with its device and handle" \
	'.sch_ndp | length == 1 and .[0].dev == "w0" and .[0].handle == "2:" and .[0].data.sent_packets > 0'
check_json "$(in_ns "$c" metrics -j)" "JSON of another namespace has no qdisc" 'has("sch_ndp") | not'
check_refused "unknown argument is named" 'unknown argument "x"' in_ns "$a" metrics x

# ---- top

job traffic udp -n "$a" -d 10.0.0.2 -p 61199 -l 1400 -g 4 >/dev/null
in_ns "$a" top -n 1 -d 1 >"$TMP/top"
note "$(<"$TMP/top")"
check "top shows the rate of a shaped qdisc" grep -Eq "^w0 +sch_ndp +[1-9][0-9][.][0-9]M " "$TMP/top"
check "top shows the counters that change" grep -q 'sch_ndp .* trimmed_[a-z]*_packets ' <(in_ns "$a" top -n 1 -d 1)
stop_jobs
check_eq "top prints as many tables as asked" "$(in_ns "$a" top -n 2 -d 0.1 | grep -c ^DEVICE)" 2
check_refused "delay out of range is named" 'illegal value "0" of -d' in_ns "$a" top -d 0
check_refused "count that is no number is named" 'illegal value "x" of -n' in_ns "$a" top -n x
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# pcrpd(8) with the kernel: sizes of finished flows in one namespace yield thresholds for both, which their qdiscs use.
# The thresholds survive restarts of both sides and reloads of the module. Network faults: selftests/pkg/pcrpd.sh.
# shellcheck disable=SC2317 # functions are called through check and wait_for
#
#	+------- a -------+     +------- b --------+
#	| w0: pcrp        |=====| w1: pcrp         |
#	| agent        v0 |-----| v1               |
#	+-----------------+     | agent aggregator |
#	                        +------------------+
#
# pcrpd's own messages use another link, so that they do not count as flows.
. "$(dirname "$0")/../lib/lib.sh"
need_sch pcrp
need_closwire
setup_ns a b
wire_ab rate 10gbit
ip link add v0 netns "$a" type veth peer name v1 netns "$b"
ip -n "$a" -batch - <<-END
	addr add 10.1.0.1/24 dev v0
	link set v0 up
	neigh add 10.0.0.3 lladdr $MAC_B nud permanent dev w0
END
ip -n "$b" -batch - <<-END
	addr add 10.1.0.2/24 dev v1
	link set v1 up
	link set lo up
END
wait_for 5 has_carrier "$a" v0

# qdiscs: add the qdiscs of both namespaces
qdiscs() {
	tc -n "$a" qdisc add dev w0 root handle 1: pcrp chain 20kb
	tc -n "$b" qdisc add dev w1 root handle 1: pcrp chain 20kb
}
qdiscs
(umask 077 && printf '%064x\n' 4711 >"$TMP/key" && printf '%064x\n' 4712 >"$TMP/other_key")
printf '{ "listen": "10.1.0.2", "period_ms": 100, "periods": 1000, "status": "%s" }\n' "$TMP/aggregator" \
	>"$TMP/aggregator.conf"

# start_aggregator: start the aggregator; its PID is $aggregator
start_aggregator() {
	rm -f "$TMP/aggregator"
	job ip netns exec "$b" pcrpd aggregator -c "$TMP/aggregator.conf" -k "$TMP/key"
	aggregator=$!
	wait_for 10 test -s "$TMP/aggregator"
}

# agent NAME NAMESPACE KEY [COMMAND...]: start an agent through COMMAND; its PID is $agent
agent() {
	printf '{ "aggregator": "10.1.0.2", "period_ms": 100, "status": "%s" }\n' "$TMP/$1" >"$TMP/$1.conf"
	job ip netns exec "$2" "${@:4}" pcrpd agent -c "$TMP/$1.conf" -k "$3"
	agent=$!
}

# kill_process PID: kill a process without giving it time to send a last message
kill_process() {
	kill -KILL "$1"
	wait "$1" 2>/dev/null || true
}

# The next functions do without jq, which starts slowly in emulated guests.
# fill FILE: read FILE into $json without spaces
fill() {
	[ -e "$1" ] || return 1
	read -rd '' json <"$1" || true
	json=${json//[[:space:]]/}
}
# status_is NAME KEY VALUE: true if status file NAME has KEY with VALUE
status_is() { fill "$TMP/$1" && [[ $json == *"\"$2\":${3// /}"[,\}]* ]]; }
# number NAME KEY: print the number KEY of status file NAME
number() { fill "$TMP/$1" && [[ $json =~ \"$2\":([0-9]+) ]] && echo "${BASH_REMATCH[1]}"; }
# more NAME KEY THAN: true if number KEY of status file NAME is above THAN
more() { [ "$(number "$1" "$2")" -gt "$3" ]; }
# some_reports: wait until the aggregator has received 6 more reports
some_reports() {
	wait_for 10 more aggregator reports $(($(number aggregator reports) + 6)) ||
		not_ok "aggregator receives reports" "$(cat "$TMP/aggregator")"
}

# has NAMESPACE THRESHOLDS: true if the kernel has these thresholds
has() {
	closnet_pcrp "$1" >"$TMP/pcrp"
	status_is pcrp thresholds_bytes "$2"
}
closnet_pcrp() { ip netns exec "$1" closnet pcrp -j; }
# both_have NAME THRESHOLDS: check that both namespaces get these thresholds
both_have() {
	local ns
	for ns in "$a" "$b"; do
		if wait_for 10 has "$ns" "$2"; then
			ok "$1: ${ns##*-}"
		else
			not_ok "$1: ${ns##*-}" "$(closnet_pcrp "$ns"); $(cat "$TMP/aggregator")"
		fi
	done
}

# flows COUNT BYTES: send COUNT flows of one datagram of BYTES each to an address that no host has
mkfifo "$TMP/never"
# shellcheck disable=SC2016 # the other bash expands
flows() {
	ip netns exec "$a" bash -c 'exec 3>/dev/udp/10.0.0.3/9 4<>"$3"
		for ((i = 0; i < $1; i++)); do
			printf "%0$2d" 0 >&3
			read -rt 0.001 -u 4
		done' bash "$1" "$2" "$TMP/never" || true
}

start_aggregator
flows 100 100
agent a "$a" "$TMP/key"
agent_a=$agent
agent b "$b" "$TMP/key"
check "both agents report to the aggregator" wait_for 10 status_is aggregator agents 2
some_reports
check "flows that ended before the agents started are not counted" status_is aggregator flows 0
for bytes in 50 200 600 1400; do flows 25 $bytes; done
both_have "thresholds are the quartiles of all flows" "[62,250,1003]"
# uses THRESHOLDS: true if a's qdisc has these thresholds, which it reads when it sends; an ARP request is no flow
uses() {
	ip netns exec "$a" bash -c 'echo >/dev/udp/10.0.0.9/9'
	tc -n "$a" -s -j qdisc show dev w0 >"$TMP/qdisc"
	status_is qdisc spec_bytes "$1"
}
check "qdisc uses the thresholds" wait_for 10 uses "[62,250,1003]"
check "agent's status file shows the thresholds" wait_for 10 status_is a thresholds_bytes "[62,250,1003]"

kill_process "$aggregator"
check "agents notice that the aggregator died" wait_for 10 more a unanswered 4
both_have "thresholds stay without an aggregator" "[62,250,1003]"
start_aggregator
check "agents report to a restarted aggregator" wait_for 10 status_is aggregator agents 2
some_reports
both_have "thresholds stay while a restarted aggregator has few flows" "[62,250,1003]"
kill_process "$agent_a"
agent a "$a" "$TMP/key"
some_reports
for bytes in 20 100 300 1400; do flows 25 $bytes; done
both_have "flows are counted after an agent has restarted" "[31,125,501]"

# ---- reload of the module

tc -n "$a" qdisc del dev w0 root
tc -n "$b" qdisc del dev w1 root
check "module is unloaded while an agent runs" rmmod sch_pcrp
check "agents report that the module is missing" \
	wait_for 10 status_is a kernel '"no netlink family closnet_pcrp: load the module sch_pcrp"'
load_module sch_pcrp
qdiscs
both_have "thresholds are restored after the module is loaded" "[31,125,501]"
check "agents report that the module is back" wait_for 10 status_is a kernel '"fine"'

# ---- missing authorization

kill_process "$agent"
ip netns exec "$a" closnet pcrp reset
agent a "$a" "$TMP/other_key"
check "agent with another key gets no answer" wait_for 10 more a unanswered 3
check "agent with another key installs no thresholds" has "$a" null
kill_process "$agent"
agent a "$a" "$TMP/key" setpriv --bounding-set -all
check "agent without CAP_NET_ADMIN reports EPERM" \
	wait_for 10 status_is a kernel '"closnet_pcrp: Operation not permitted"'
check "agent without CAP_NET_ADMIN installs no thresholds" has "$a" null
finish

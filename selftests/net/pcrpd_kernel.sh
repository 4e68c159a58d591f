#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# pcrpd(8) with the kernel: flows that end in one namespace make thresholds for both, which their qdiscs go by; they
# outlive both sides, and come back with the module. What the network can do to messages: selftests/pkg/pcrpd.sh.
# shellcheck disable=SC2317 # functions are called through check and wait_for
#
#	+------- a -------+     +------- b --------+
#	| w0: pcrp        |=====| w1: pcrp         |
#	| agent        v0 |-----| v1               |
#	+-----------------+     | agent aggregator |
#	                        +------------------+
#
# What pcrpd itself sends would be flows, too: it goes another way.
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

# qdiscs: those of both
qdiscs() {
	tc -n "$a" qdisc add dev w0 root handle 1: pcrp chain 20kb
	tc -n "$b" qdisc add dev w1 root handle 1: pcrp chain 20kb
}
qdiscs
(umask 077 && printf '%064x\n' 4711 >"$TMP/key" && printf '%064x\n' 4712 >"$TMP/other_key")
printf '{ "listen": "10.1.0.2", "period_ms": 100, "periods": 1000, "status": "%s" }\n' "$TMP/aggregator" \
	>"$TMP/aggregator.conf"

# start_aggregator: its process is $aggregator
start_aggregator() {
	rm -f "$TMP/aggregator"
	job ip netns exec "$b" pcrpd aggregator -c "$TMP/aggregator.conf" -k "$TMP/key"
	aggregator=$!
	wait_for 10 test -s "$TMP/aggregator"
}

# agent NAME NAMESPACE KEY [COMMAND...]: starts one, by COMMAND; its process is $agent
agent() {
	printf '{ "aggregator": "10.1.0.2", "period_ms": 100, "status": "%s" }\n' "$TMP/$1" >"$TMP/$1.conf"
	job ip netns exec "$2" "${@:4}" pcrpd agent -c "$TMP/$1.conf" -k "$3"
	agent=$!
}

# died PROCESS: kill it with no time to say goodbye
died() {
	kill -KILL "$1"
	wait "$1" 2>/dev/null || true
}

# Without jq, which emulated guests take long to start: fill reads a file into $json, without spaces.
fill() {
	[ -e "$1" ] || return 1
	read -rd '' json <"$1" || true
	json=${json//[[:space:]]/}
}
# says NAME KEY VALUE: does its status file?
says() { fill "$TMP/$1" && [[ $json == *"\"$2\":${3// /}"[,\}]* ]]; }
# number NAME KEY: prints it
number() { fill "$TMP/$1" && [[ $json =~ \"$2\":([0-9]+) ]] && echo "${BASH_REMATCH[1]}"; }
# more NAME KEY THAN
more() { [ "$(number "$1" "$2")" -gt "$3" ]; }
# some_reports: until the aggregator has counted some more
some_reports() {
	wait_for 10 more aggregator reports $(($(number aggregator reports) + 6)) ||
		not_ok "reports come" "$(cat "$TMP/aggregator")"
}

# has NAMESPACE THRESHOLDS: are these the kernel's?
has() {
	closnet_pcrp "$1" >"$TMP/pcrp"
	says pcrp thresholds_bytes "$2"
}
closnet_pcrp() { ip netns exec "$1" closnet pcrp -j; }
# both_have WHAT THRESHOLDS: they come to
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

# flows COUNT BYTES: so many of so many bytes, a datagram each, to an address that nobody has
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
check "agents come" wait_for 10 says aggregator agents 2
some_reports
check "what was before is not counted" says aggregator flows 0
for bytes in 50 200 600 1400; do flows 25 $bytes; done
both_have "quartiles of all flows" "[62,250,1003]"
# uses THRESHOLDS: does the qdisc of a, once it has had something to send that is no flow: who is 10.0.0.9?
uses() {
	ip netns exec "$a" bash -c 'echo >/dev/udp/10.0.0.9/9'
	tc -n "$a" -s -j qdisc show dev w0 >"$TMP/qdisc"
	says qdisc spec_bytes "$1"
}
check "a qdisc goes by them" wait_for 10 uses "[62,250,1003]"
check "an agent tells them" wait_for 10 says a thresholds_bytes "[62,250,1003]"

died "$aggregator"
check "the aggregator dies: agents notice" wait_for 10 more a unanswered 4
both_have "thresholds stay" "[62,250,1003]"
start_aggregator
check "it starts again: agents come" wait_for 10 says aggregator agents 2
some_reports
both_have "thresholds stay while it knows little" "[62,250,1003]"
died "$agent_a"
agent a "$a" "$TMP/key"
some_reports
for bytes in 20 100 300 1400; do flows 25 $bytes; done
both_have "an agent died and started again: flows are counted from there" "[31,125,501]"

# ---- the module goes, and comes back

tc -n "$a" qdisc del dev w0 root
tc -n "$b" qdisc del dev w1 root
check "the module can be unloaded under an agent" rmmod sch_pcrp
check "agents say so" wait_for 10 says a kernel '"the kernel has no closnet_pcrp: is sch_pcrp loaded?"'
load_module sch_pcrp
qdiscs
both_have "with it, the thresholds come back" "[31,125,501]"
check "agents say that, too" wait_for 10 says a kernel '"fine"'

# ---- who may not

died "$agent"
ip netns exec "$a" closnet pcrp reset
agent a "$a" "$TMP/other_key"
check "another key: no answer" wait_for 10 more a unanswered 3
check "nothing is installed" has "$a" null
died "$agent"
agent a "$a" "$TMP/key" setpriv --bounding-set -all
check "without CAP_NET_ADMIN: it says so" wait_for 10 says a kernel '"closnet_pcrp: Operation not permitted"'
check "nothing is installed either" has "$a" null
finish

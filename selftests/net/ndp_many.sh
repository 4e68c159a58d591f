#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Very many peers, very many messages at once, and very little memory: each message arrives once, and all flows are
# freed.
# shellcheck disable=SC2154 # setup_ns sets a
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/ndp.sh"
setup_ns a b
ip -n "$a" link set lo up
ip -n "$b" link set lo up

# many NAME [-r RCVBUF] PEERS COUNT BYTES: run ndp_many in namespace $ns, default a
many() {
	check_to "$TMP/many" "$1" in_ns "${ns:-$a}" ndp_many "${@:2}" 120
	note "$1: flows, and messages in flight at once: $(<"$TMP/many")"
}

many "5 messages to each of 2000 peers arrive" 2000 5 100
# flows that were idle for long continue under new ids
check "each of 2000 peers has a flow" test "$(snmp "$a" RxFlows)" -ge 2000
many "messages of 30 kB from 100 peers arrive with little memory" -r 200000 100 2 30000
in_ns "$a" tee /proc/sys/net/ndp/flows_max >/dev/null <<<2400
many "messages of 1800 peers arrive with flows_max 2400, which requires cookies" 1800 1 100
check "cookies are requested" test "$(snmp "$a" OutCookie)" -gt 0
check_eq "no message of a has failed" "$(snmp "$a" SndMsgsFailed)" 0

# the heap of the srpt policy is enlarged before flows need it
in_ns "$b" sysctl -qw net.ndp.pull_policy=2
ns=$b many "messages of 10 peers arrive with policy srpt" 10 1 100
ns=$b many "messages of 1800 peers arrive with policy srpt" 1800 1 100
check_eq "policy srpt has memory for each flow" "$(snmp "$b" InNoMemory)" 0
check "all flows are freed" wait_for 30 unused
finish

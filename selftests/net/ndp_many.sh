#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Very many peers, very many messages at once, and hardly any memory: nothing is lost, doubled or left behind.
# shellcheck disable=SC2154 # setup_ns sets a
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/ndp.sh"
setup_ns a b
ip -n "$a" link set lo up
ip -n "$b" link set lo up

# many WHAT [-r RCVBUF] PEERS COUNT BYTES
many() {
	check_to "$TMP/many" "$1" in_ns "${ns:-$a}" ndp_many "${@:2}" 120
	note "$1: of so many flows, so many were under way at once: $(<"$TMP/many")"
}

many "2000 peers, 5 messages each" 2000 5 100
# those that are idle for long go on under new names
check "each is a flow" test "$(snmp "$a" RxFlows)" -ge 2000
many "30 kB each, and little memory" -r 200000 100 2 30000
in_ns "$a" tee /proc/sys/net/ndp/flows_max >/dev/null <<<2400
many "with half as many flows as there may be: cookies" 1800 1 100
check "were asked for" test "$(snmp "$a" OutCookie)" -gt 0
check_eq "no message has failed" "$(snmp "$a" SndMsgsFailed)" 0

# the heap of srpt has places before flows need them
in_ns "$b" sysctl -qw net.ndp.pull_policy=2
ns=$b many "srpt" 10 1 100
ns=$b many "srpt, many more" 1800 1 100
check_eq "a place for each flow" "$(snmp "$b" InNoMemory)" 0
check "nothing is left" wait_for 30 unused
finish

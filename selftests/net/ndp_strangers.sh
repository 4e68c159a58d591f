#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Nothing is kept of strangers: whoever sends from very many addresses gets answers, and costs no memory, before a
# message of his may come; and when there are many flows, not before he has shown a cookie, so that he has the address.
#
#	+-------------- a --------------+     +------- b -------+
#	| ndp_input.py: 10.9.0.0/16, v0 |=====| v1: port 1000   |
#	+-------------------------------+     +-----------------+
# shellcheck disable=SC2154,SC2317 # setup_ns sets a and b; functions are called through wait_for
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/ndp.sh"
[ -x /usr/bin/python3 ] || skip_all "needs python3"
setup_ns a b
link_ab
as_remote "$a" v0
ip -n "$a" route add local 10.9.0.0/16 dev v0
ip -n "$b" route add 10.9.0.0/16 via 10.0.0.1

# so that the port is NDP's
job ndp_msg receive -n "$b" -p 999 -f -l 10 -t 1000
wait_for 10 in_use

# known: peers, flows that send, flows that are received, by closnet
known() { ip netns exec "$b" closnet ndp -j | jq -c '[.peers, .sending, .receiving] | map(length)'; }
# grown NAME: has b's counter, by one for each stranger?
grown() { [ $(($(snmp "$b" "$1") - before)) -ge 200 ]; }
# strangers WHAT PACKET COUNTER: from 200 addresses; nothing but the counter knows of it
strangers() {
	before=$(snmp "$b" "$3")
	check "$1" in_ns "$a" "$(dirname "$0")/ndp_input.py" 10.0.0.2 "$2" 10.9.0.1 200
	check "$1: $3 has grown" wait_for 10 grown "$3"
	check_eq "$1: nothing is kept" "$(known)" "[0,0,0]"
}
strangers "asks for a flow that is not known" one OutError
strangers "a new flow to no port" begin InNoSocket
strangers "packets that were trimmed" trimmed OutControl
strangers "has got what nobody sent" acked InNoFlow
strangers "refuses what nobody sent" refused InNoFlow
strangers "wants a cookie back that nobody has" asked InNoFlow

job ndp_msg receive -n "$b" -p 1000 -f -c 100000000 -l 10 -t 1000
two_sockets() { [ "$(ip netns exec "$b" closnet ndp sockets -j | jq '.sockets | length')" -eq 2 ]; }
wait_for 10 two_sockets
strangers "goes on with a flow that is not known" go-on InNoFlow
flows_max() { in_ns "$b" tee /proc/sys/net/ndp/flows_max >/dev/null <<<"$1"; }
flows_max 1
strangers "a new flow without a cookie, when there are many" begin OutCookie
strangers "and with a wrong one" cookie OutCookie
check_eq "no flow has begun" "$(snmp "$b" RxFlows TxFlows)" 0

# as a control: what is kept, is shown
flows_max 16384
check "a new flow" in_ns "$a" "$(dirname "$0")/ndp_input.py" 10.0.0.2 begin 10.9.0.1 20
kept() { [ "$(known)" = "[20,0,20]" ]; }
check "of that is kept: 20 peers, 20 flows" wait_for 10 kept
finish

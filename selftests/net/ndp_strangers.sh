#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A host keeps no state for unknown peers: senders with very many addresses get answers, but need no memory before one
# of their messages can be delivered. When there are many flows, a sender must return a cookie first, which proves its
# address.
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

# the first NDP socket takes the port from UDP
job ndp_msg receive -n "$b" -p 999 -f -l 10 -t 1000
wait_for 10 in_use

# known: numbers of peers, sending flows and receiving flows that closnet shows
known() { ip netns exec "$b" closnet ndp -j | jq -c '[.peers, .sending, .receiving] | map(length)'; }
# grown NAME: true if b's counter has grown by at least one for each of 200 peers
grown() { [ $(($(snmp "$b" "$1") - before)) -ge 200 ]; }
# unknown_peers NAME PACKET COUNTER: check that PACKETs from 200 addresses are counted, and leave no other state
unknown_peers() {
	before=$(snmp "$b" "$3")
	check "$1 are sent" in_ns "$a" "$(dirname "$0")/ndp_input.py" 10.0.0.2 "$2" 10.9.0.1 200
	check "$1 are counted as $3" wait_for 10 grown "$3"
	check_eq "$1 leave no state" "$(known)" "[0,0,0]"
}
unknown_peers "PROBEs of unknown flows" one OutError
unknown_peers "new flows to a closed port" begin InNoSocket
unknown_peers "trimmed packets" trimmed OutControl
unknown_peers "ACKs of unknown flows" acked InNoFlow
unknown_peers "ERRORs of unknown flows" refused InNoFlow
unknown_peers "COOKIEs of unknown flows" asked InNoFlow

job ndp_msg receive -n "$b" -p 1000 -f -c 100000000 -l 10 -t 1000
two_sockets() { [ "$(ip netns exec "$b" closnet ndp sockets -j | jq '.sockets | length')" -eq 2 ]; }
wait_for 10 two_sockets
unknown_peers "later packets of unknown flows" go-on InNoFlow
flows_max() { in_ns "$b" tee /proc/sys/net/ndp/flows_max >/dev/null <<<"$1"; }
flows_max 1
unknown_peers "new flows without a cookie beside many flows" begin OutCookie
unknown_peers "new flows with a wrong cookie beside many flows" cookie OutCookie
check_eq "packets of unknown peers begin no flow" "$(snmp "$b" RxFlows TxFlows)" 0

# for comparison: new flows whose messages can be delivered
flows_max 16384
check "packets of 20 new flows are sent" in_ns "$a" "$(dirname "$0")/ndp_input.py" 10.0.0.2 begin 10.9.0.1 20
kept() { [ "$(known)" = "[20,0,20]" ]; }
check "20 new flows have 20 peers and 20 flows" wait_for 10 kept
finish

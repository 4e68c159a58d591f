#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Two ports of a bridge with exchanged dscp_trimmed and dscp_returned, both with a
# full header queue: a header is not returned back and forth between them forever.
# tc warns about such ports.
#
#	+---- a ----+   +------------------- r -------------------+   +---- b ----+
#	| frames v0 |===| v2: ndp 49/48     bridge    v3: ndp 48/49 |===| v1        |
#	+-----------+   +-----------------------------------------+   +-----------+
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/bridge.sh"
need_ndp
bridge_ab
ip -n "$r" link set v2 type bridge_slave learning off
bridge -n "$r" fdb add "$MAC_A" dev v2 master static
bridge -n "$r" fdb add "$MAC_B" dev v3 master static

# port DEV DSCP_TRIMMED DSCP_RETURNED OPTION...: set an ndp with room for one header, print tc's messages
port() {
	tc -n "$r" qdisc replace dev "$1" root handle 1: ndp limit 1 hlimit 128 rts rate 1kbit \
		dscp_trimmed "$2" dscp_returned "$3" "${@:4}" 2>&1
}

# fill DEV: send one frame that keeps the shaper busy, and one for each queue
fill() { send_frames -s "$r/$1" udp4,len=1500 udp4,len=1500 udp4,len=100,dscp=8; }

# sum COUNTER: sum of both ports
sum() { tc -n "$r" -s -j qdisc show | jq "[.[] | select(.kind == \"ndp\") | .$1] | add"; }
# shellcheck disable=SC2317 # wait_for calls it
dropped() { [ "$(sum 'dropped_header_packets + .dropped_returned_packets')" -gt 0 ]; }

# bounce WHAT RETURNED FRAME OPTION...: FRAME is returned RETURNED times until it is dropped
bounce() {
	local what=$1 returned=$2 frame=$3
	shift 3
	tc -n "$r" qdisc del dev v2 root 2>/dev/null || true
	tc -n "$r" qdisc del dev v3 root 2>/dev/null || true
	port v3 48 49 "$@"
	port v2 49 48 "$@" >"$TMP/warning"
	check "$what: tc warns about crossed DSCPs" grep -q "Warning: .*crossed with those of another port" "$TMP/warning"
	fill v2
	fill v3
	send_frames -s "$a/v0" "$frame"
	check "$what: the header is dropped in the end" wait_for 10 dropped
	check_eq "$what: number of returns before the drop" "$(sum returned_packets)" "$returned"
}

header=len=100,dscp=48,ttl=10
bounce "match udp_port, IPv4" 1 udp4,$header
bounce "match udp_port, IPv6" 1 udp6,$header
bounce "match all, IPv4" 9 udp4,$header match all
bounce "match all, IPv6" 9 udp6,$header match all
bounce "match dscp" 9 tcp4,$header match dscp 8,10

tc -n "$r" qdisc del dev v2 root
port v2 48 49 >"$TMP/warning"
check_eq "tc does not warn about equal DSCPs" "$(<"$TMP/warning")" ""
port v2 50 48 >"$TMP/warning"
check "tc warns about a single crossed DSCP" grep -q "^Warning: " "$TMP/warning"
tc -n "$r" qdisc replace dev v3 root handle 2: prio
tc -n "$r" qdisc add dev v3 parent 2:1 ndp
tc -n "$r" qdisc change dev v2 root handle 1: ndp dscp_returned 48 dscp_trimmed 49 2>"$TMP/warning"
check "tc warns about DSCPs crossed with a child of prio" grep -q "^Warning: " "$TMP/warning"
tc -n "$b" qdisc add dev v1 root ndp dscp_trimmed 49 dscp_returned 50 2>"$TMP/warning"
check_eq "tc does not warn about a port of another namespace" "$(<"$TMP/warning")" ""
finish

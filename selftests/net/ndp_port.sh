#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# NDP's UDP port belongs to NDP from the first NDP socket of a namespace on. Before, any UDP socket may bind it, and no
# NDP socket can be created while one has it.
#
#	+--------- a ---------+     +--------- b ---------+
#	| client -> v0        |=====| v1 -> UDP server    |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2154 # setup_ns sets a and b
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/ndp.sh"
[ -x /usr/bin/python3 ] || skip_all "needs python3"
setup_ns a b
link_ab
loopback_up "$a"

# port NS ARGUMENT...: run ndp_port.py and report each line of its output as a check
port() {
	in_ns "$1" "$(dirname "$0")/ndp_port.py" "${@:2}" >"$TMP/port" 2>&1 || not_ok "ndp_port ${*:2}"
	report_lines "$TMP/port"
}

port "$a" free
port "$a" taken
# packets that leave b from port 61198 get NDP's port as source, as if b had no module ndp
tc -n "$b" -batch - <<-END || skip_all "no tc filters"
	qdisc add dev v1 clsact
	filter add dev v1 egress protocol ip u32 match u8 17 0xff at 9 match u16 61198 0xffff at nexthdr+0 \
		action pedit ex munge udp sport set 61199
END
job in_ns "$b" "$(dirname "$0")/ndp_port.py" serve
port "$a" client 10.0.0.2
check_eq "NDP ignores datagrams that a UDP server of another host sends from NDP's port" \
	"$(snmp "$a" InPackets InReturned)" 0
finish

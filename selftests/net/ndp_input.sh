#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# All forms in which IP passes packets to NDP: GSO packets, fragments, options, packets without a checksum, broadcasts.
# They are sent by an ordinary UDP socket of another host.
#
#	+--------- a ---------+     +--------- b ---------+
#	| ndp_input.py -> v0  |=====| v1                  |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2154,SC2317 # setup_ns sets a and b; functions are called through wait_for
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/ndp.sh"
[ -x /usr/bin/python3 ] || skip_all "needs python3"
setup_ns a b
link_ab
loopback_up "$b"
ndp_v6 "$a" v0 2001:db8::1 2001:db8::2 $MAC_B
ndp_v6 "$b" v1 2001:db8::2 2001:db8::1 $MAC_A

as_remote "$a" v0

here=$(dirname "$0")
# the first NDP socket of a namespace takes the port from UDP
in_ns "$b" python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_RDM, 259)'

# grown NAME BY: true if b's counter NAME has grown by BY
grown() { [ $(($(snmp "$b" "$1") - before)) -eq "$2" ]; }
# check_counted NAME COUNTER BY NS ARGUMENT...: run ndp_input.py in NS and check that b's COUNTER grows by BY
check_counted() {
	before=$(snmp "$b" "$2")
	check "$1 is sent" in_ns "$4" "$here/ndp_input.py" "${@:5}"
	check "$1 adds $3 to $2" wait_for 5 grown "$2" "$3"
}
# passes NAME ARGUMENT...: check that NDP does not receive a packet; the next one that it receives is a PROBE sent after
# it
passes() {
	before=$(snmp "$b" InPackets)
	check "$1 is sent" in_ns "$a" "$here/ndp_input.py" "${@:2}"
	in_ns "$a" "$here/ndp_input.py" 10.0.0.2 one
	wait_for 5 grown InPackets 1 || true
	check_eq "$1 is not received by NDP" "$(snmp "$b" InPackets)" $((before + 1))
}

for to in 10.0.0.2 2001:db8::2; do
	check_counted "PROBE to $to" InProbe 1 "$a" $to one
	check_counted "answered PROBE to $to" OutError 1 "$a" $to one
	check_counted "PROBE from an unprivileged port to $to" InBadSource 1 "$a" $to stranger
	check_counted "GSO packet of ten PROBEs to $to" InProbe 10 "$a" $to gso
	check_counted "GSO packet of 12 segments that are no headers to $to" InPackets 12 "$a" $to odd-gso
	check_counted "DATA to $to" InData 1 "$a" $to data 1000
done
check_counted "fragmented IPv4 DATA" InData 1 "$a" 10.0.0.2 data 20000
check_counted "IPv4 packet without a UDP checksum" InUdpCsum 1 "$a" 10.0.0.2 nocheck
check_counted "IPv4 packet with options" InProbe 1 "$a" 10.0.0.2 options
check_counted "IPv6 packet with hop-by-hop options" InProbe 1 "$a" 2001:db8::2 hopopts
check_counted "IPv6 packet with destination options" InProbe 1 "$a" 2001:db8::2 dstopts
check_counted "fragmented IPv6 DATA" InData 1 "$a" 2001:db8::2 data 20000
passes "IPv4 broadcast" 10.0.0.255 broadcast

# ---- a packet in tiny fragments takes ten times its payload; that must not enlarge the receive buffer

job ndp_msg receive -n "$b" -p 1000 -l 1 -c 1000000 -f -r 50000 -w 1000000 -t 1000
wait_for 5 listens
# the first packet of a socket is copied if it wastes memory
ndp_msg send -n "$a" -d 10.0.0.2 -p 1000 -c 1 -l 1 >/dev/null
ip -n "$a" link set v0 mtu 92
check_counted "IPv4 DATA in tiny fragments" InData 1 "$a" 10.0.0.2 data 60000
ip -n "$a" link set v0 mtu 1500
ndp_msg send -n "$a" -d 10.0.0.2 -p 1000 -c 200 -l 10k -e -t 2 >"$TMP/msgs" 2>&1 || true
received=$(ip netns exec "$b" closnet ndp sockets -j | jq '.sockets[0].bytes_received')
note "$received bytes received: $(<"$TMP/msgs")"
check "a receive buffer of 100000 bytes has room after that" test "$received" -ge 60000
check "it has not grown" test "$received" -lt 300000
stop_jobs
finish

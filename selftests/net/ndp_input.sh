#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What IP hands to NDP, and in which shape: GSO packets, fragments, options, packets without a
# checksum, broadcasts. All of it comes from an ordinary UDP socket
# of another host.
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
in_ns "$b" tee /proc/sys/net/ipv6/conf/lo/disable_ipv6 >/dev/null <<<0
ip -n "$b" link set lo up
ndp_v6 "$a" v0 2001:db8::1 2001:db8::2 $MAC_B
ndp_v6 "$b" v1 2001:db8::2 2001:db8::1 $MAC_A

as_remote "$a" v0

here=$(dirname "$0")
# only with a socket of NDP its port is no longer UDP's
in_ns "$b" python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_RDM, 261)'

# grown NAME BY: has b's counter?
grown() { [ $(($(snmp "$b" "$1") - before)) -eq "$2" ]; }
# comes WHAT COUNTER BY NS ARGUMENT...: by what ndp_input.py sends in NS, b's counter grows
comes() {
	before=$(snmp "$b" "$2")
	check "$1" in_ns "$4" "$here/ndp_input.py" "${@:5}"
	check "$1: $2 +$3" wait_for 5 grown "$2" "$3"
}
# passes WHAT ARGUMENT...: NDP leaves it alone; a PROBE behind it is the next that it sees
passes() {
	before=$(snmp "$b" InPackets)
	check "$1" in_ns "$a" "$here/ndp_input.py" "${@:2}"
	in_ns "$a" "$here/ndp_input.py" 10.0.0.2 one
	wait_for 5 grown InPackets 1 || true
	check_eq "$1: NDP leaves it alone" "$(snmp "$b" InPackets)" $((before + 1))
}

for to in 10.0.0.2 2001:db8::2; do
	comes "$to: a PROBE" InProbe 1 "$a" $to one
	comes "$to: it is answered" OutError 1 "$a" $to one
	comes "$to: ten in a GSO packet" InProbe 10 "$a" $to gso
	comes "$to: a GSO packet of 11 pieces that are no headers, and a rest" InPackets 12 "$a" $to odd-gso
	comes "$to: DATA" InData 1 "$a" $to data 1000
done
comes "IPv4: DATA in fragments" InData 1 "$a" 10.0.0.2 data 20000
comes "IPv4: without a checksum" InUdpCsum 1 "$a" 10.0.0.2 nocheck
comes "IPv4: options" InProbe 1 "$a" 10.0.0.2 options
comes "IPv6: hop-by-hop options" InProbe 1 "$a" 2001:db8::2 hopopts
comes "IPv6: destination options" InProbe 1 "$a" 2001:db8::2 dstopts
comes "IPv6: DATA in fragments" InData 1 "$a" 2001:db8::2 data 20000
passes "IPv4: a broadcast" 10.0.0.255 broadcast
finish

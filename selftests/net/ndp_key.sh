#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# With net.ndp.key, packets without a valid tag are dropped; keys are replaced without loss; trimmed and returned
# packets have valid tags.
#
#	+--------- a ---------+     +--------- b ---------+
#	| ndp_msg send -> w0  |=====| w1 -> receive       |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2154,SC2317 # setup_ns sets the namespaces; functions are called through check
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
need_ndp
. "$(dirname "$0")/../lib/ndp.sh"
one=00112233-44556677-8899aabb-ccddeeff
two=01234567-89abcdef-01234567-89abcdef

# key NS [KEY[,KEY]]: set the key of NS
key() { in_ns "$1" tee /proc/sys/net/ndp/key >/dev/null <<<"${2-}"; }
# exchange NAME: messages from a to b arrive
exchange() {
	messages "$1" receive -n "$b" -p 9 -c 21 -l 1,5k,100k -- \
		send -n "$a" -d 10.0.0.2 -p 9 -c 21 -l 1,5k,100k
}
# lost NAME: no message from a arrives in b, which counts the packets
lost() {
	local before
	before=$(snmp "$b" InBadTag)
	check_refused "$1" "" ndp_msg receive -n "$b" -p 9 -l 100 -t 1 -- send -n "$a" -d 10.0.0.2 -p 9 -l 100 -T 300
	check "$1: InBadTag counts packets" test "$(snmp "$b" InBadTag)" -gt "$before"
}

# ---- the sysctl

setup_ns a b
wire_ab rate 500mbit delay 5us
check_eq "only root reads the key" "$(in_ns "$a" stat -c %a /proc/sys/net/ndp/key)" 600
for bad in 0 ${one}0 ${one:1} "${one//-/:}" "$one," ",$one" "$one,$two,$one" "$one $two"; do
	check_refused "key '$bad' is refused" "Invalid argument" key "$a" "$bad"
done
check_eq "there is no key at first" "$(in_ns "$a" cat /proc/sys/net/ndp/key)" ""
check "a key is set" key "$b" $one
check_eq "the key is shown" "$(in_ns "$b" cat /proc/sys/net/ndp/key)" $one
check "two keys are set" key "$a" $one,$two
check_eq "both keys are shown" "$(in_ns "$a" cat /proc/sys/net/ndp/key)" $one,$two
check "the keys are removed" key "$a"

# ---- one side has no key

lost "messages without a tag do not arrive"
check_refused "a namespace with sockets does not begin to use tags" "busy" key "$a" $one
check_refused "a namespace with sockets does not cease to use tags" "busy" key "$b"
ip netns del "$a"
ip netns del "$b"
NAMESPACES=()
setup_ns a b
wire_ab rate 500mbit delay 5us

# ---- two keys

key "$a" $two
key "$b" $one
lost "messages with the tag of another key do not arrive"
key "$b" $one,$two
key "$a" $two,$one
exchange "messages arrive while hosts sign with different keys"
key "$b" $two,$one
exchange "messages arrive after the other host has replaced its key"
key "$a" $two
key "$b" $two
before=$(snmp "$b" InBadTag)
exchange "messages arrive with the new key"
ndp_v6_ab
messages "IPv6 messages arrive with a key" \
	receive -n "$b" -p 9 -c 21 -l 1,5k,100k -- send -n "$a" -d 2001:db8::2 -p 9 -c 21 -l 1,5k,100k
in_ns "$a" tee /proc/sys/net/ndp/gso_packets >/dev/null <<<8
exchange "batches arrive with a key"
check "packets left in batches" test "$(snmp "$a" OutBatches)" -gt 0
check_eq "each packet had a valid tag" "$(snmp "$b" InBadTag)" "$before"

# ---- a trimming switch

hosts=4
star $hosts 1gbit
for ns in "$r" "$h1" "$h2" "$h3" "$h4"; do
	key "$ns" $one
done
switch limit 2
incast "trimmed packets with tags" 1 300000
check "packets were trimmed" test "$(total nacks)" -gt 0
switch limit 1 hlimit 512 rts
incast "returned packets with tags" 20 1000,40000
check "packets were returned" test "$(total returned)" -gt 0
check_eq "trimmed packets had valid tags" "$(snmp "$r" InBadTag)" 0
check_eq "returned packets had valid tags" "$(snmp "$h1" InBadTag)" 0
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Global load balancing: spines send a leaf adverts with the quality of their egress, and the leaf avoids the congested
# or broken path behind a spine. It refuses adverts from hosts, and adverts with a wrong key.
# shellcheck disable=SC2154,SC2016,SC2317 # setup_ns sets the namespaces; eval expands; functions are called through check
#
#	                       +-- s0 --+
#	 h0 --- rh r u0 -------| a0  b0 |------ c0 +---+
#	             u1 -------| a1  b1 |------ c1 | l |--- ld === d0
#	                       +-- s1 --+          +---+
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/lb.sh"
need_lb
rate=10gbit h='' r='' s0='' s1='' l='' d=''
setup_ns h r s0 s1 l d
for ns in "$h" "$r" "$s0" "$s1" "$l" "$d"; do
	in_ns "$ns" tee /proc/sys/net/ipv6/conf/{all,default}/disable_ipv6 >/dev/null <<<0
done
cable "$h/h0" 10.0.1.1,fd00:1::1 "$r/rh" 10.0.1.9,fd00:1::9
cable "$r/u0" 10.1.0.1,fd01:0::1 "$s0/a0" 10.1.0.2,fd01:0::2
cable "$r/u1" 10.1.1.1,fd01:1::1 "$s1/a1" 10.1.1.2,fd01:1::2
cable "$s0/b0" 10.2.0.1,fd02:0::1 "$l/c0" 10.2.0.2,fd02:0::2
cable "$s1/b1" 10.2.1.1,fd02:1::1 "$l/c1" 10.2.1.2,fd02:1::2
cable "$l/ld" 10.0.2.9,fd00:2::9 "$d/d0" 10.0.2.2,fd00:2::2
for ns in "$r" "$s0" "$s1" "$l"; do forwards "$ns"; done
for family in 4 6; do
	to=10.0.2.0/24 back=10.0.1.0/24 first=10.1. second=10.2. here=.2 there=.1
	[ $family = 4 ] || to=fd00:2::/64 back=fd00:1::/64 first=fd01: second=fd02: here=::2 there=::1
	default=10.0.1.9 other=10.0.2.9
	[ $family = 4 ] || default=fd00:1::9 other=fd00:2::9
	ip -n "$h" -$family route add default via $default
	ip -n "$d" -$family route add default via $other
	ip -n "$r" -$family route add $to nexthop via ${first}0$here nexthop via ${first}1$here
	ip -n "$l" -$family route add $back via ${second}0$there
	ip -n "$s0" -$family route add $to via ${second}0$here
	ip -n "$s1" -$family route add $to via ${second}1$here
	ip -n "$s0" -$family route add $back via ${first}0$there
	ip -n "$s1" -$family route add $back via ${first}1$there
done
for pair in "$r 10.1.0.2" "$r 10.1.1.2" "$s0 10.2.0.2" "$s1 10.2.1.2" "$r fd01:0::2" "$r fd01:1::2" \
	"$s0 fd02:0::2" "$s1 fd02:1::2" "$h 10.0.2.2" "$h fd00:2::2"; do
	# shellcheck disable=SC2086 # words
	wait_for 5 in_ns ${pair% *} ping -q -c 1 -W 1 ${pair#* } >/dev/null
done

# tell SPINE DEV OPTIONS...: put a new action on the port of a spine
tell_index=0
tell() {
	tell_index=$((tell_index + 1))
	tc -n "$1" qdisc replace dev "$2" clsact
	tc -n "$1" filter del dev "$2" ingress
	tc -n "$1" filter add dev "$2" ingress matchall action lb "${@:3}" index $tell_index
}
told() { r=$1 lb_index=$2 lb_stat told_messages; }
delayed() { r=$1 lb_index=$2 lb_stat delayed_messages; }
at_most() { [ "$("${@:2}")" -le "$1" ]; }
# shares: packets by u0 and by u1
shares() { lb_stat u0.packets u1.packets; }
# mostly_u0: u0 has four times the packets of u1
mostly_u0() {
	local u0 u1
	read -r u0 u1 <<<"$(shares)"
	[ "$u0" -gt $((4 * u1)) ]
}
both() {
	local u0 u1
	read -r u0 u1 <<<"$(shares)"
	[ "$u0" -gt 30 ] && [ "$u1" -gt 30 ]
}
# some FAMILY: 5 times 60 datagrams, which s1's slow egress cannot send in time
some() {
	local i to=10.0.2.2
	[ "$1" = 4 ] || to=fd00:2::2
	for i in 1 2 3 4 5; do
		traffic udp -n "$h" -d $to -p 9 -l 1000 -c 60 >/dev/null
		sleep 0.002
	done
}
# settle FAMILY: wait until the queue of the slow egress is empty: a packet that is sent now comes back
settle() {
	local to=10.2.1.2
	[ "$1" = 4 ] || to=fd02:1::2
	wait_for 10 in_ns "$s1" ping -q -c 1 -W 2 $to >/dev/null
}

wire_set "$s1/b1" rate 10mbit
for family in 4 6; do
	lb granularity packet
	some $family
	settle $family
	check "IPv$family, without adverts: both spines get packets" both
	tell "$s0" a0 glb tell
	tell "$s1" a1 glb tell
	one=$tell_index
	lb granularity packet glb choose
	some $family
	check "IPv$family: spine with the slow egress sends adverts" at_least 1 told "$s1" "$one"
	check "IPv$family: leaf receives adverts" at_least 1 lb_stat heard_messages
	check "IPv$family: leaf avoids the slow egress" mostly_u0
	settle $family
done
refused=$(lb_stat refused_messages)
check_eq "leaf refuses no advert" "$refused" 0

# ---- a broken link
wire_set "$s1/b1" rate 10gbit
sleep 0.1
lb granularity packet glb choose
some 4
check "spine whose egress is fast again gets packets" both
lb granularity packet glb choose
ip -n "$l" link set c1 down
sleep 0.01
some 4
check "leaf avoids the spine whose egress is down" mostly_u0
sleep 0.1
some 4
check "leaf still avoids it 100 ms later" mostly_u0
before=$(told "$s1" "$one")
sleep 0.1
! exact || check "unchanged quality is repeated every 4 ms" at_most $((before + 60)) told "$s1" "$one"

# one packet for each of 2000 prefixes without egress, for which a teller has 1024 places
for i in {0..1999}; do
	echo "route add 10.200.$((i / 250)).$((i % 250)) via 10.2.1.2"
done | ip -n "$s1" -batch -
ip -n "$r" route add 10.200.0.0/16 via 10.1.1.2
in_ns "$r" /usr/bin/python3 - <<-'END'
	import socket
	s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
	for i in range(2000):
	    s.sendto(b"", ("10.200.%d.%d" % divmod(i, 250), 9))
END
before=$(told "$s1" "$one")
sleep 0.02
! exact || check "many prefixes without egress do not flood the neighbour" at_most $((before + 1024 + 6000)) told "$s1" "$one"
check "adverts that wait are counted" at_least 100 delayed "$s1" "$one"
tc -n "$s1" filter del dev a1 ingress
ip -n "$s1" route flush root 10.200.0.0/16
tell "$s1" a1 glb tell
ip -n "$l" link set c1 up
wait_for 5 has_carrier "$s1" b1
ip -n "$s1" route replace 10.0.2.0/24 via 10.2.1.2
ip -n "$s1" -6 route replace fd00:2::/64 via fd02:1::2
wait_for 5 in_ns "$s1" ping -q -c 1 -W 1 10.2.1.2 >/dev/null

# ---- trust

# no_action NS: deleted filters have released their actions
no_action() { ! tc -n "$1" -j actions list action lb | grep -q '"index"'; }
mac=$(ip -n "$r" link show rh | awk '$1 == "link/ether" { print $2 }')
# forge: send an advert without key from the host
forge() {
	in_ns "$h" /usr/bin/python3 - "$mac" <<-'END'
		import socket, sys
		s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
		s.bind(("h0", 0x88b5))
		to = bytes.fromhex(sys.argv[1].replace(":", ""))
		s.send(to + b"\2\0\0\0\0\1\x88\xb5" + bytes([1, 4, 24, 0]) + b"\xff" * 8 + bytes([10, 0, 2]) + bytes(21))
	END
}
# the host's port is the egress of packets for which the leaf sends adverts
tc -n "$r" qdisc replace dev u0 clsact
tc -n "$r" filter add dev u0 ingress matchall action lb glb both index 1000
in_ns "$h" ping -q -c 3 -i 0.01 10.0.2.2 >/dev/null
check "leaf sends adverts to its spine" eval '[ "$(lb_index=1000 lb_stat told_messages)" -gt 0 ]'
sleep 0.1
before=$(lb_stat heard_messages)
forge
check "leaf that also sends adverts refuses those of a host" \
	wait_for 5 at_least $((refused + 1)) lb_stat refused_messages
check_eq "leaf stores no advert of a host" "$(lb_stat heard_messages)" "$before"
tc -n "$r" filter del dev u0 ingress
refused=$(lb_stat refused_messages)

key=000102030405060708090a0b0c0d0e0f
check_refused "leaf refuses a second key" "key must be that of the namespace's other lb actions" \
	tc -n "$r" actions add action lb glb choose key $key
tc -n "$r" filter del dev rh ingress
wait_for 5 no_action "$r"
lb granularity packet glb choose key $key
before=$(lb_stat heard_messages)
some 4
check "leaf with a key refuses adverts without one" at_least $((refused + 1)) lb_stat refused_messages
check_eq "leaf with a key stores no advert without one" "$(lb_stat heard_messages)" "$before"
for spine in "$s0 a0" "$s1 a1"; do
	# shellcheck disable=SC2086 # words
	tc -n ${spine% *} filter del dev ${spine#* } ingress
	wait_for 5 no_action "${spine% *}"
	# shellcheck disable=SC2086 # words
	tell $spine glb tell key $key
done
some 4
check "leaf stores adverts with its key" at_least $((before + 1)) lb_stat heard_messages
# ---- another key, in place: first the leaf, then the spines
# rekey NS INDEX OPTIONS...: replace an action
rekey() { tc -n "$1" actions replace action lb "${@:3}" index "$2"; }
# stores NAME: the leaf stores adverts without a refusal
stores() {
	local heard refused
	sleep 0.1
	read -r heard refused <<<"$(lb_stat heard_messages refused_messages)"
	some 4
	check "$1" at_least $((heard + 1)) lb_stat heard_messages
	check_eq "$1: it refuses no advert" "$(lb_stat refused_messages)" "$refused"
}
rekey "$r" $lb_index granularity packet glb choose key ${key//0/1}
stores "leaf with a new key stores adverts with the key before"
rekey "$s0" $((tell_index - 1)) glb tell key ${key//0/1}
rekey "$s1" $tell_index glb tell key ${key//0/1}
stores "leaf and spines have the new key"
check_refused "key is not removed by an option left out" "key must be that of the namespace's other lb actions" \
	rekey "$r" $lb_index granularity packet glb choose
check_refused "replacement that fails does not change the key" "another rate of the device is set already" \
	rekey "$r" $lb_index glb choose key ${key//0/3} rate u0 1gbit rate u0 2gbit
stores "leaf still has the new key"
check_refused "another action cannot bring another key" "key must be that of the namespace's other lb actions" \
	tc -n "$r" actions add action lb glb choose key $key
rekey "$r" $lb_index granularity packet glb choose key ${key//0/2}
rekey "$r" $lb_index granularity packet glb choose key ${key//0/3}
sleep 0.1
before=$(lb_stat heard_messages)
refused=$(lb_stat refused_messages)
some 4
check "leaf refuses a key before the last one" at_least $((refused + 1)) lb_stat refused_messages
check_eq "leaf stores no advert with it" "$(lb_stat heard_messages)" "$before"
check "key is not dumped" eval "! tc -n '$r' -s actions list action lb | grep -q $key"
before=$(lb_stat heard_messages)
refused=$(lb_stat refused_messages)
forge
check "advert of a host is refused" wait_for 5 at_least $((refused + 1)) lb_stat refused_messages
finish

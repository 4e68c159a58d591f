#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Messages of any size arrive intact and once: over IPv4, IPv6 and mapped addresses, with short and long packets, over
# a VLAN, from many sockets, to many addresses, and on the same host. Ports are bound as UDP's are.
#
#	+--------- a ---------+     +--------- b ---------+
#	| ndp_msg send -> w0  |=====| w1 -> receive       |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2154 # setup_ns sets a and b
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
. "$(dirname "$0")/../lib/ndp.sh"
setup_ns a b
WIRE=(mtu 9000)
wire_ab rate 500mbit delay 5us
ndp_v6_ab
ip -n "$b" addr add 10.0.0.3/24 dev w1
ip -n "$a" neigh add 10.0.0.3 lladdr $MAC_B nud permanent dev w0
ip -n "$a" link set lo up

small=1,2,3,4,5,8,100,1k
sizes=$small,1416,1417,8916,8917,64k,1m
rx=(receive -n "$b" -p 1000)
tx=(send -n "$a" -p 1000)
messages "messages arrive over IPv4" \
	"${rx[@]}" -4 -c 15 -l "$sizes,16m" -q 10 -- "${tx[@]}" -d 10.0.0.2 -c 15 -l "$sizes,16m"
if exact; then
	check_eq "messages over IPv4 need no retransmissions" "$(total rtx)" 0
else
	skip "messages over IPv4 need no retransmissions" "needs virtual time"
fi
check_eq "all messages over IPv4 are acknowledged" "$(total msgs)" 15
messages "messages of a connected socket with MSG_DONTWAIT arrive" \
	"${rx[@]}" -c 28 -l "$sizes" -- "${tx[@]}" -C -D -d 10.0.0.2 -c 28 -l "$sizes"
messages "messages arrive over IPv6" "${rx[@]}" -c 15 -l "$sizes,4m" -- "${tx[@]}" -d 2001:db8::2 -c 15 -l "$sizes,4m"
messages "messages arrive over mapped IPv4 addresses" \
	"${rx[@]}" -c 14 -l "$sizes" -- "${tx[@]}" -6 -d 10.0.0.2 -c 14 -l "$sizes"
messages "messages of one socket to two peers arrive" \
	"${rx[@]}" -a 10.0.0.2 -c 14 -l "$sizes" -- "${rx[@]}" -a ::ffff:10.0.0.3 -c 14 -l "$sizes" -- \
	"${tx[@]}" -d 10.0.0.2,10.0.0.3 -c 14 -l "$sizes"
messages "messages of an IPv4 and an IPv6 socket arrive" "${rx[@]}" -s 2 -c 14 -l "$sizes" -- \
	"${tx[@]}" -d 10.0.0.2 -c 14 -l "$sizes" -- "${tx[@]}" -d 2001:db8::2 -c 14 -l "$sizes"
messages "messages of 60 sockets arrive" \
	"${rx[@]}" -s 60 -c 16 -l "$small" -- "${tx[@]}" -S 60 -d 10.0.0.2 -c 16 -l "$small"
messages "2000 concurrent messages arrive" "${rx[@]}" -c 2000 -l 1000 -- "${tx[@]}" -d 10.0.0.2 -c 2000 -l 1000
messages "messages arrive with an initial window of 1" \
	"${rx[@]}" -c 14 -l "$sizes" -- "${tx[@]}" -w 1 -d 10.0.0.2 -c 14 -l "$sizes"
messages "messages arrive with an initial window of 1024" \
	"${rx[@]}" -c 14 -l "$sizes" -- "${tx[@]}" -w 1024 -d 10.0.0.2 -c 14 -l "$sizes"
messages "messages to the host's own address arrive" \
	receive -n "$a" -p 1000 -c 14 -l "$sizes" -- "${tx[@]}" -d 10.0.0.1 -c 14 -l "$sizes"
messages "messages arrive in both directions over loopback" \
	receive -n "$a" -p 1000 -c 14 -l "$sizes" -- "${tx[@]}" -d 127.0.0.1 -c 14 -l "$sizes" -- \
	receive -n "$a" -p 1001 -c 14 -l "$sizes" -- send -n "$a" -p 1001 -d 127.0.0.1 -c 14 -l "$sizes"
messages "messages arrive in both directions" \
	"${rx[@]}" -c 14 -l "$sizes" -- "${tx[@]}" -d 10.0.0.2 -c 14 -l "$sizes" -- \
	receive -n "$a" -p 1000 -c 14 -l "$sizes" -- send -n "$b" -p 1000 -d 10.0.0.1 -c 14 -l "$sizes"

# ---- VLAN, and short packets

vlan_ab w
messages "messages arrive over a VLAN" "${rx[@]}" -c 14 -l "$sizes" -- "${tx[@]}" -d 10.5.0.2 -c 14 -l "$sizes"
ip -n "$a" link set w0 mtu 1500
ip -n "$b" link set w1 mtu 1500
messages "messages arrive with MTU 1500" "${rx[@]}" -c 14 -l "$sizes" -- "${tx[@]}" -d 10.0.0.2 -c 14 -l "$sizes"
messages "messages arrive over IPv6 with MTU 1500" \
	"${rx[@]}" -c 14 -l "$sizes" -- "${tx[@]}" -d 2001:db8::2 -c 14 -l "$sizes"
messages "messages arrive over a VLAN with MTU 1500" \
	"${rx[@]}" -c 14 -l "$sizes" -- "${tx[@]}" -d 10.5.0.2 -c 14 -l "$sizes"

# ---- ports

loopback_up "$b"
api bind
check "all flows are freed" wait_for 10 unused
finish

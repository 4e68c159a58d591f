#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Round robin keeps the weights of routes and nexthop groups exactly, each other way to select within 2 %.
# shellcheck disable=SC2154,SC2317 # lb_net sets the namespaces; functions are called through check
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/lb.sh"
need_lb
lb_net
frames_net
# room for a call of send_frames
ip -n "$h" link set h0 txqueuelen 4000
# the next router drops the packets, which r has counted
for i in 0 1 2 3; do
	tc -n "$t" qdisc add dev "t$i" clsact
	tc -n "$t" filter add dev "t$i" ingress pref 1 protocol ip flower dst_ip 203.0.113.2 action drop
	tc -n "$t" filter add dev "t$i" ingress pref 2 protocol ipv6 flower dst_ip 2001:db8::2 action drop
done

# groups FAMILY WEIGHT...: make a nexthop group of four links and route by it
groups() {
	local family=$1 i via='' members=''
	shift
	for i in 0 1 2 3; do
		via=10.1.$i.2
		[ "$family" = 4 ] || via=fd01:$i::2
		ip -n "$r" nexthop replace id "$family$i" via $via dev "u$i"
		members+=/$family$i,$1
		shift
	done
	ip -n "$r" nexthop replace id "${family}9" group "${members#/}"
	route "$family" nhid "${family}9"
}

# route FAMILY WORD...: replace r's route of the frames
route() {
	local to=203.0.113.0/24
	[ "$1" = 4 ] || to=2001:db8::/64
	ip -n "$r" "-$1" route del $to
	ip -n "$r" "-$1" route add $to "${@:2}"
}

# send FAMILY COUNT: frames, each of a flow of its own
send() {
	local sent=0 n
	while [ $sent -lt "$2" ]; do
		n=$(($2 - sent < 1000 ? $2 - sent : 1000))
		send_frames -s "$h/h0" "udp$1,port=$((9 + sent / 1000)),len=80,sport=0,n=$n" >/dev/null
		sent=$((sent + n))
	done
	wait_for 5 at_least "$2" lb_stat sent_packets
}

# in_turn FAMILY NAME PACKETS...: send the sum of PACKETS, and check the packets of each link
in_turn() {
	local family=$1 name=$2
	shift 2
	lb granularity packet select rr
	send "$family" $(($1 + $2 + $3 + $4))
	check_eq "IPv$family, $name, rr: packets by link have the ratio of the weights" "$(port_packets)" "$*"
}

# near_weights: the share of each link is within 2 % of its weight, 1 to 4 of 10
near_weights() {
	port_packets | awk '{
		print
		for (i = 1; i <= 4; i++) { off = $i / 10000 - i / 10; if (off < -0.02 || off > 0.02) bad = 1 }
		exit bad
	}'
}

for family in 4 6; do
	# shellcheck disable=SC2046 # words
	route $family $(next_hops $family 1 2 3 4)
	in_turn $family route 10 20 30 40
	groups $family 1 2 3 4
	in_turn $family group 10 20 30 40
	groups $family 1 1 1 97
	in_turn $family "group with a large weight" 1 1 1 97
done
ip -n "$r" nexthop del id 49
ip -n "$r" nexthop add id 49 group 40,1/41,1/42,1/43,1 type resilient buckets 64
ip -n "$r" route add 203.0.113.0/24 nhid 49
in_turn 4 "resilient group" 20 20 20 20

# shellcheck disable=SC2046 # words
route 4 $(next_hops 4 1 2 3 4)
for options in "packet select hash" "packet select random" "packet select quality band 10ms utilization_weight 0" \
	"packet select drill choices 1 memory 0" "flow select random flows 65536"; do
	# shellcheck disable=SC2086 # words
	lb granularity $options
	send 4 10000
	check "$options: shares are those of the weights" near_weights
done
finish

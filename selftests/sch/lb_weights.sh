#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The weights of routes and of nexthop groups are kept within 2 % by each way to select.
# shellcheck disable=SC2154,SC2317 # lb_net sets the namespaces; functions are called through check
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/lb.sh"
need_lb
lb_net
frames_net

# groups FAMILY WEIGHT...: make a nexthop group of all links and route by it
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

# shares WEIGHT...: check that each link has sent its share, up to 2 % of all packets
shares() {
	jq -e --args '($ARGS.positional | map(tonumber)) as $w | add as $sum | ($w | add) as $weight |
		$sum == 8000 and ([range(4) | .[.] // 0] | length == 4) and
		([., $w] | transpose | map(.[0] / $sum - .[1] / $weight | fabs < 0.02) | all)' "$@" <<<"$(port_packets)" ||
		{ port_packets && false; }
}

send() {
	local family=$1
	for _ in {1..8}; do
		send_frames -s "$h/h0" "udp$family,port=9,len=80,sport=0,n=1000" >/dev/null
	done
}

for family in 4 6; do
	for how in route group; do
		# shellcheck disable=SC2046 # words
		if [ $how = route ]; then
			route $family $(next_hops $family 1 2 3 4)
		else
			groups $family 1 2 3 4
		fi
		for select in hash random rr "quality band 10ms utilization_weight 0" "drill choices 1 memory 0"; do
			# shellcheck disable=SC2086 # words
			lb granularity packet select $select
			send $family
			check "IPv$family, $how, packet, ${select%% *}: shares are those of the weights" shares 1 2 3 4
		done
		lb granularity flow flows 65536 select random
		send $family
		check "IPv$family, $how, flow: shares are those of the weights" shares 1 2 3 4
	done
	groups $family 1 1 1 97
	lb granularity packet select random
	send $family
	check "IPv$family: a large weight takes nearly all packets" shares 1 1 1 97
done
groups 4 1 2 3 4
ip -n "$r" nexthop del id 49
ip -n "$r" nexthop add id 49 group 40,1/41,1/42,1/43,1 type resilient buckets 64
ip -n "$r" route add 203.0.113.0/24 nhid 49
lb granularity packet select rr
send 4
check "resilient group: shares are those of the weights" shares 1 1 1 1
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Options of act_lb: what tc prints can be typed again, errors name the value, and random changes under traffic are
# accepted or refused as documented.
# shellcheck disable=SC2154,SC2317 # lb_net sets the namespaces; functions are called through check
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/lb.sh"
need_lb
lb_net

action() { tc -n "$r" actions "$1" action lb "${@:2}" index 7; }
# typed: the options of the action as tc prints them
typed() { tc -n "$r" actions get action lb index 7 | sed -n 's/.*\(granularity .*\)/\1/p'; }
# round_trip OPTIONS...: what tc prints for these options sets the same ones
round_trip() {
	local first
	action replace "$@" || return
	first=$(typed)
	[[ -n $first ]] || return
	action replace || return
	# shellcheck disable=SC2086 # words
	action replace $first || return
	[ "$(typed)" = "$first" ] || { printf '%s\n%s\n' "$first" "$(typed)" && return 1; }
}

check "defaults make a round trip" round_trip
check "all options make a round trip" round_trip granularity packet select drill choices 5 memory 3 interval 20us \
	band 3us queue_weight 7 utilization_weight 9 utilization_low 20% utilization_high 80% nocharge gap 123us flows 100 drop
check "each rate of a device makes a round trip" round_trip rate u0 1gbit rate u1 40gbit
action replace rate u0 1gbit
check "rates of devices are printed" eval 'typed | grep -q "rate u0 1Gbit"'
action replace
check_eq "options that are not given have their defaults again" "$(typed | grep -c 'rate u0')" 0

check_refused "unknown name is refused" "granularity" action replace granularity foo
check_refused "number out of range is refused" "choices must be 1 to 8 queues" action replace choices 9
check_refused "time out of range is refused" "band must be 100ns to 10ms" action replace band 11ms
check_refused "two weights of 0 are refused" "queue_weight and utilization_weight must not both be 0" \
	action replace queue_weight 0 utilization_weight 0
check_refused "low mark above the high one is refused" "utilization_low must not be above utilization_high" \
	action replace utilization_low 50% utilization_high 40%
check_refused "rate out of range is refused" "rate must be 1kbit to 2^40 bytes per second" action replace rate u0 100bit
check_refused "rate of an unknown device is refused" "foo" action replace rate foo 1gbit
tc -n "$r" qdisc replace dev rh clsact
ip -n "$r" link set u3 down
check_refused "rate of a device that is down is refused" "rate needs a device that is up" action replace rate u3 1gbit
ip -n "$r" link set u3 up
rates=()
for _ in {1..33}; do
	rates+=(rate u0 1gbit)
done
check_refused "33 rates are refused" "rate is given more than 32 times" action replace "${rates[@]}"
check "32 rates are accepted" action replace "${rates[@]:3}"
check_refused "second action of a number is refused" "exists" tc -n "$r" actions add action lb index 7
check_refused "key without glb is refused" "key needs glb" action replace key 00112233445566778899aabbccddeeff
check "control words are accepted" action replace pipe
check_eq "control word is printed" \
	"$(tc -n "$r" -j actions get action lb index 7 | jq -r '.. | .control_action? // empty')" pipe
check "action jumps to a chain" \
	tc -n "$r" filter add dev rh ingress pref 9 matchall action lb goto chain 1 index 8
check "action is deleted" action del
check_refused "deleted action is gone" "" tc -n "$r" actions get action lb index 7

lb_index=6
lb select rr
for to in 10.0.2.2 fd00:2::2; do
	job traffic udp -n "$h" -d $to -p 11 -l 200 -i 500 >/dev/null
	job traffic udp -n "$h" -d $to -p 4791 -l 1000 -g 4 -i 500 >/dev/null
done
for seed in 1 2 3; do
	check "1000 random option changes are accepted or refused as documented, seed $seed" \
		qdisc_netlink fuzz -k lb -n "$r" -i rh -c 1000 -s $seed
done
check "packets are sent meanwhile" at_least 200 lb_stat sent_packets
finish

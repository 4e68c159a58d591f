#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Eight priorities as `closnet dcqcn setup` configures them, with mqprio and a TX
# queue each, or with ets. The DSCP selects the queue. A flood in one priority
# takes no room from another one, and paused priorities do not block the others.
#
#	+---------- a ----------+     +--------- b ---------+
#	| frames -> w0: recipe  |=====| w1 -> capture       |
#	|                    <--|-----|--- pause frames     |
#	+-----------------------+     +---------------------+
# shellcheck disable=SC2317,SC2154 # functions are called through check and wait_for; setup_ns sets a and b
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/dcqcn.sh"
need_closwire
need_dcqcn
type -P closnet >/dev/null || skip_all "needs closnet of tools/closnet"

setup() { ip netns exec "$a" closnet dcqcn setup w0 "$@"; }
is() { dcqcn_of_is "$a/w0" "$@"; }
frames() { send_frames -s "$a/w0" "$@"; }
# all_prios NAME: a value of each leaf, priority 0 first
all_prios() {
	tc -n "$a" -s -j qdisc show dev w0 |
		jq -c "[.[] | select(.kind == \"dcqcn\")] | sort_by(.options.prio) | map(.$1)"
}
# each_prio COUNT: specs of COUNT frames of each priority
each_prio() {
	local prio
	for prio in 0 1 2 3 4 5 6 7; do echo "udp4,dscp=$((prio * 8)),n=$1"; done
}
# cable QUEUES RING RATE: connect a and b
cable() {
	WIRE=(numtxqueues "$1")
	wire_ab delay 1us rate "$3" ring "$2"
}

# ---- the commands

setup_ns a b
cable 8 256 1gbit
check_refused "setup refuses an unknown device" "no such device: w9" ip netns exec "$a" closnet dcqcn setup w9
check_refused "setup refuses a pool name with a space" "must be a name of 1 to 15 characters" setup --pool "a b"
plan=$(setup --dry-run)
check_eq "--dry-run changes no qdisc" "$(tc -n "$a" qdisc show dev w0 | grep -c dcqcn)" 0
check "setup uses mqprio with eight TX queues" grep -q mqprio <<<"$plan"
setup 2>"$TMP/log" || skip_all "this kernel lacks mqprio, flower or skbedit: $(<"$TMP/log")"
ok "setup succeeds with eight TX queues"
check_eq "setup creates eight queues in the pool" "$(all_prios options.pool.name)" \
	'["sw0","sw0","sw0","sw0","sw0","sw0","sw0","sw0"]'
check "setup succeeds a second time" setup
check_eq "a second setup leaves one queue per priority" "$(all_prios options.prio)" "[0,1,2,3,4,5,6,7]"
check_eq "a second setup leaves one port in the pool" "$(all_prios pool.ports)" "[1,1,1,1,1,1,1,1]"
# shellcheck disable=SC2046 # words
check "frames of all priorities pass" frames -c "in=$b/w1/in/22" $(each_prio 2) \
	udp4,dscp=7 udp4,dscp=46 udp6,dscp=24 tcp6,dscp=63 tcp4,dscp=24,prio=5 raw
check_eq "the priority is the DSCP's upper three bits, or the socket's without IP" \
	"$(all_prios packets)" "[4,2,2,4,2,3,2,3]"
ip -n "$a" link del w0

# ---- pauses: each TX queue has its own ring

# test_paused PRIO...: flood these priorities, pause them, and check that the other ones pass
test_paused() {
	local prio spec=() flood=() pause=() lift=() others=0 what="priorities $* paused"
	for prio in "$@"; do
		flood+=("udp4,dscp=$((prio * 8)),n=60")
		pause+=("$prio=65535")
		lift+=("$prio=0")
	done
	for prio in 0 1 2 3 4 5 6 7; do
		[[ " $* " == *" $prio "* ]] && continue
		spec+=("udp4,dscp=$((prio * 8)),n=20")
		others=$((others + 20))
	done
	# the link is slow, so that the frames are still queued when the pause arrives
	frames "${flood[@]}"
	wire_set "$a/w0" rate 100kbit
	pause "${pause[@]}"
	wire_set "$a/w0" rate 1gbit
	if [ $others -gt 0 ]; then
		check "rings of $ring, $what: all other priorities pass" frames -c "in=$b/w1/in/$others" "${spec[@]}"
	fi
	for prio in "$@"; do
		check "rings of $ring, $what: priority $prio is held" test "$(dcqcn_of "$a/w0" "$prio" qlen)" -ge 1
	done
	pause "${lift[@]}"
	for prio in "$@"; do
		check "rings of $ring, $what: priority $prio drains after XON" wait_for 10 is "$prio" qlen 0
	done
}

for ring in 2 8; do
	cable 8 $ring 1mbit
	setup
	. "$LIB_TOP/selftests/lib/pause.sh"
	test_paused 3
	wire_set "$a/w0" rate 1mbit
	test_paused 3 5
	wire_set "$a/w0" rate 1mbit
	test_paused 0 1 2 3 4 5 6 7
	check_eq "rings of $ring: no packet is dropped" "$(dcqcn_sum "$a/w0" drops)" 0
	check_json "$(tc -n "$a" -s -j qdisc show dev w0)" "rings of $ring: each priority counts the time of its pause" \
		'[.[] | select(.kind == "dcqcn").prio[0].paused_ns] | all(. > 0)'
	ip -n "$a" link del w0
done

# ---- ets, for devices with fewer TX queues

cable 1 8 10mbit
check "setup uses ets with one TX queue" grep -q "ets bands 8 strict 8" <<<"$(setup --dry-run)"
setup
. "$LIB_TOP/selftests/lib/pause.sh"
# 20 frames of each, lowest first
# shellcheck disable=SC2046 # words
check_to "$TMP/result" "ets: frames of all priorities leave" frames -c "in=$b/w1/in/160" $(each_prio 20)
# index 0 to 159 by priority; the first frames met an empty ring
check_eq "ets: the highest priority leaves first" \
	"$(sort -s -k5n "$TMP/result" | awk '{ print int($2 / 20) }' | uniq | paste -s -d ' ')" "0 7 6 5 4 3 2 1 0"

# a queue that is paused before its frames arrive leaves the TX queue to the other ones
slow_pause 3
wire_set "$a/w0" rate 10mbit
frames udp4,dscp=24,n=60
check "ets: other priorities pass while priority 3 is paused" \
	frames -c "in=$b/w1/in/60" udp4,dscp=0,n=20 udp4,dscp=32,n=20 udp4,dscp=56,n=20
check "ets: all packets of paused priority 3 stay queued" is 3 qlen 60
slow_pause 5
wire_set "$a/w0" rate 10mbit
frames udp4,dscp=40,n=60
check "ets: other priorities pass while priorities 3 and 5 are paused" \
	frames -c "in=$b/w1/in/60" udp4,dscp=0,n=20 udp4,dscp=32,n=20 udp4,dscp=56,n=20
pause 3=0 5=0
check "ets: priority 3 drains after XON" wait_for 10 is 3 qlen 0
check "ets: priority 5 drains after XON" wait_for 10 is 5 qlen 0

# ---- each queue has its own limit

tc -n "$a" qdisc change dev w0 parent 1:8 dcqcn limit 100kb
job traffic udp -n "$a" -d 10.0.0.2 -p 9 -c 0 -l 1000 -t 0 -b 4000000 >/dev/null
drops() { [ "$(dcqcn_of "$a/w0" 0 drops)" -gt 100 ]; }
check "a flood in priority 0 is dropped at its limit" wait_for 10 drops
had=$(dcqcn_of "$a/w0" 6 packets)
traffic udp -n "$a" -d 10.0.0.2 -p 10 -c 300 -l 200 -t 192 -b 4000000 >/dev/null
check_eq "a flood in priority 0 causes no drop in priority 6" "$(dcqcn_of "$a/w0" 6 drops)" 0
check "packets of priority 6 pass during a flood in priority 0" wait_for 10 is 6 packets $((had + 300))
stop_jobs
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Switches that trim: any share of the packets, down to any length, whatever lengths and DSCP they leave in what is
# left, and those that return it to its sender. Each message arrives whole, once, with each byte.
#
#	+------ a ------+    +--------- s ---------+    +------ b ------+
#	| ndp_msg  w0   |====| s0   ndp_relay   s1 |====| w1   ndp_msg  |
#	+---------------+    +---------------------+    +---------------+
# shellcheck disable=SC2154 # setup_ns sets the namespaces
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/ndp.sh"
. "$(dirname "$0")/../lib/trace.sh"
setup_ns a s b
ip link add w0 address $MAC_A netns "$a" type veth peer name s0 netns "$s"
ip link add w1 address $MAC_B netns "$b" type veth peer name s1 netns "$s"
ip -n "$s" link set s0 up
ip -n "$s" link set s1 up
wire_up
ndp_v6_ab
# frames with checksums: the relay has no NIC that would add them
in_ns "$a" ethtool -K w0 tx off >/dev/null
in_ns "$b" ethtool -K w1 tx off >/dev/null
trace_events ndp || skip_all "no tracefs"

# through WHAT RELAY-OPTION...: messages both ways, by IPv4 and IPv6; relayed NAME: what the relay has counted
sizes=1,100,1416,1417,4k,12k percents='0 1 10 50 90 99' kept='16 17 40 55 56' shares='10 50 100'
# an emulated machine has little time
[ -z "${KSFT_MACHINE_SLOW:-}" ] || sizes=1,100,1417,4k percents='10 90' kept='16 56' shares=50
through() {
	ndp_relay -a "$s/s0" -b "$s/s1" "${@:2}" >"$TMP/relay" &
	local relay=$!
	JOBS+=("$relay")
	messages "$1" receive -n "$b" -p 9 -c 12 -s 2 -l $sizes -q 10 -- receive -n "$a" -p 9 -c 12 -l $sizes -q 10 -- \
		send -n "$a" -d 10.0.0.2 -p 9 -c 12 -l $sizes -- send -n "$b" -d 10.0.0.1 -p 9 -c 12 -l $sizes -- \
		send -n "$a" -d 2001:db8::2 -p 9 -c 12 -l $sizes
	kill $relay
	wait $relay || true
	note "$1: $(<"$TMP/relay"); $(said nacks) NACKs, $(said rtx) sent again, $(said timeouts) timed out"
}
relayed() { sed -n "s/.* $1=\([0-9]*\).*/\1/p" "$TMP/relay"; }
# counted NAME...: of both hosts
counted() { echo $(($(snmp "$a" "$@") + $(snmp "$b" "$@"))); }

# ---- how many

for percent in $percents; do
	came=$(counted InTrimmed)
	through "$percent % are trimmed" -t "$percent" -s "$percent"
	check_eq "$percent % are trimmed: each was seen" $(($(counted InTrimmed) - came)) "$(relayed trimmed)"
done
through "all are, at first" -t 100 -n 1000
check_eq "all are, at first" "$(relayed trimmed)" 1000

# ---- what is left of them

for lens in all ip none; do
	for bytes in $kept; do
		repaired=$(counted InRepaired) came=$(counted InTrimmed)
		through "$bytes bytes, right lengths: $lens" -t 40 -k "$bytes" -l $lens
		check_eq "$bytes bytes, right lengths: $lens: each was seen" $(($(counted InTrimmed) - came)) \
			"$(relayed trimmed)"
		# a slow machine's senders have timed out before
		! exact || check "$bytes bytes, right lengths: $lens: they are NACKed" test "$(said nacks)" -gt 10
		repaired=$(($(counted InRepaired) - repaired))
		case $lens in
		none) check_eq "$bytes bytes: lengths are repaired" $repaired "$(relayed trimmed)" ;;
		*) check_eq "$bytes bytes, $lens: nothing to repair" $repaired 0 ;;
		esac
	done
done

# ---- what DSCP they have is known on both sides

: >"$TRACEFS/trace"
through "a DSCP" -t 40 -d 11
check_eq "a DSCP: what was trimmed has it" "$(traced ndp_came | grep 'type=data' | grep -c ' here=0 .* ds=0x2c')" \
	"$(relayed trimmed)"
check_eq "a DSCP: what was not, has none" "$(traced ndp_came | grep 'type=data' | grep -vc ' here=0 .* ds=0x2c')" \
	"$(traced ndp_came | grep 'type=data' | grep -v ' here=0 ' | grep -c ' ds=0x00')"
check_eq "a DSCP: its sender is told" "$(traced ndp_came | grep 'type=control flags=0x[26]' | grep -vc ' ds=0x2c')" 0

# ---- they go back

for percent in $shares; do
	for lens in all none; do
		came=$(counted InReturned)
		through "$percent % of them are returned, right lengths: $lens" -t 50 -r "$percent" -l $lens
		check_eq "$percent % of them are returned, $lens: each was seen" \
			$(($(counted InReturned) - came)) "$(relayed returned)"
	done
done
through "most go back" -t 90 -r 90
through "all do, at first" -t 100 -r 100 -n 100
check_eq "all do, at first" "$(relayed returned)" 100
check "nothing is left" wait_for 20 unused
finish

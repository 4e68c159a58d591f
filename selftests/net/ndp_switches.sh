#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Trimming switches of each kind: they trim any share of the packets to any length, leave any lengths and DSCP in the
# trimmed packets, and may return them to the sender. Each message arrives intact and once.
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
ends_up w0 w1
ndp_v6_ab
# software checksums, because the relay has no NIC that could add them
in_ns "$a" ethtool -K w0 tx off >/dev/null
in_ns "$b" ethtool -K w1 tx off >/dev/null
trace_events ndp || skip_all "no tracefs"

# check_switch NAME RELAY-OPTION...: check that messages over IPv4 and IPv6 in both directions arrive through the relay
# relayed NAME: counter of the relay
sizes=1,100,1416,1417,4k,12k percents='0 1 10 50 90 99' kept='16 17 40 55 56' shares='10 50 100'
# fewer cases on an emulated machine, which is slow
[ -z "${KSFT_MACHINE_SLOW:-}" ] || sizes=1,100,1417,4k percents='10 90' kept='16 56' shares=50
check_switch() {
	ndp_relay -a "$s/s0" -b "$s/s1" "${@:2}" >"$TMP/relay" &
	local relay=$!
	JOBS+=("$relay")
	messages "messages arrive through a switch that $1" \
		receive -n "$b" -p 9 -c 12 -s 2 -l $sizes -q 10 -- receive -n "$a" -p 9 -c 12 -l $sizes -q 10 -- \
		send -n "$a" -d 10.0.0.2 -p 9 -c 12 -l $sizes -- send -n "$b" -d 10.0.0.1 -p 9 -c 12 -l $sizes -- \
		send -n "$a" -d 2001:db8::2 -p 9 -c 12 -l $sizes
	kill $relay
	wait $relay || true
	note "$1: $(<"$TMP/relay"); $(total nacks) NACKs, $(total rtx) retransmissions, $(total timeouts) timeouts"
}
relayed() { sed -n "s/.* $1=\([0-9]*\).*/\1/p" "$TMP/relay"; }
# counted NAME...: sum of the counters of both hosts
counted() { echo $(($(snmp "$a" "$@") + $(snmp "$b" "$@"))); }

# ---- share of trimmed packets

for percent in $percents; do
	before=$(counted InTrimmed)
	check_switch "trims $percent % of the packets" -t "$percent" -s "$percent"
	check_eq "hosts count each trimmed packet of $percent %" $(($(counted InTrimmed) - before)) "$(relayed trimmed)"
done
check_switch "trims the first 1000 packets" -t 100 -n 1000
check_eq "switch trims the first 1000 packets" "$(relayed trimmed)" 1000

# ---- lengths of trimmed packets

for lens in all ip none; do
	for bytes in $kept; do
		repaired=$(counted InRepaired) before=$(counted InTrimmed)
		check_switch "trims to $bytes bytes, right lengths: $lens" -t 40 -k "$bytes" -l $lens
		check_eq "hosts count each packet trimmed to $bytes bytes, right lengths: $lens" \
			$(($(counted InTrimmed) - before)) \
			"$(relayed trimmed)"
		# on a slow machine, senders time out earlier
		! exact || check "packets trimmed to $bytes bytes are NACKed, right lengths: $lens" test "$(total nacks)" -gt 10
		repaired=$(($(counted InRepaired) - repaired))
		case $lens in
		none) check_eq "wrong lengths of packets trimmed to $bytes bytes are repaired" $repaired "$(relayed trimmed)" ;;
		*) check_eq "packets trimmed to $bytes bytes need no repair, right lengths: $lens" $repaired 0 ;;
		esac
	done
done

# ---- both sides know the DSCP of trimmed packets

: >"$TRACEFS/trace"
check_switch "marks trimmed packets with a DSCP" -t 40 -d 11
check_eq "trimmed packets have the switch's DSCP" \
	"$(traced ndp_came | grep 'type=data' | grep -c ' here=0 .* ds=0x2c')" \
	"$(relayed trimmed)"
check_eq "untrimmed packets have DSCP 0 or CS1 to CS5, their band's" \
	"$(traced ndp_came | grep 'type=data' | grep -vc ' here=0 .* ds=0x2c')" \
	"$(traced ndp_came | grep 'type=data' | grep -v ' here=0 ' | grep -c ' ds=0x[02468a]0')"
check_eq "NACKs report the DSCP to the sender" \
	"$(traced ndp_came | grep 'type=control flags=0x8[26]' | grep -vc ' ds=0x2c')" 0

# ---- returned packets

for percent in $shares; do
	for lens in all none; do
		before=$(counted InReturned)
		check_switch "returns $percent % of the trimmed packets, right lengths: $lens" -t 50 -r "$percent" -l $lens
		check_eq "senders count each returned packet of $percent %, right lengths: $lens" \
			$(($(counted InReturned) - before)) "$(relayed returned)"
	done
done
check_switch "trims and returns most packets" -t 90 -r 90
check_switch "trims and returns the first 100 packets" -t 100 -r 100 -n 100
check_eq "switch returns the first 100 packets" "$(relayed returned)" 100
check "all flows are freed" wait_for 20 unused
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Half of the paths drop all packets: those that have lost one are avoided, probed now and then, and used again when they
# work. A path is a UDP source port here, and packets from odd ports are dropped. A sender recycles the paths of packets
# that arrived, so it may never try some dead paths. On slow machines late answers make good paths look lossy now and
# then, so this test does not check there which paths are used.
#
#	+--------- a ---------+     +------------ b ------------+
#	| ndp_msg send -> w0  |=====| w1: odd ports -> receive  |
#	+---------------------+     +---------------------------+
# shellcheck disable=SC2154,SC2317 # setup_ns sets a and b; functions are called through wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
. "$(dirname "$0")/../lib/ndp.sh"
setup_ns a b
# 40 packets are in flight
wire_ab rate 50mbit delay 5ms
in_ns "$a" tee /proc/sys/net/ndp/rto_us >/dev/null <<<50000
tc -n "$b" qdisc add dev w1 clsact || skip_all "no clsact"

# block_paths: drop packets from odd ports at w1; CONTROL packets arrive at w0 and are not dropped
block_paths() { tc -n "$b" filter add dev w1 ingress protocol ip pref 1 u32 match ip sport 1 1 action drop; }
unblock_paths() { tc -n "$b" filter del dev w1 ingress pref 1; }
# dropped: number of dropped packets
dropped() {
	tc -n "$b" -s filter show dev w1 ingress | awk '/Sent/ { sum += $4 } END { print sum + 0 }'
}
# peer FILTER: apply jq's FILTER to a's only peer
peer() { ip netns exec "$a" closnet ndp peers -j | jq ".peers[0] | $1"; }
# probed_twice: true if each avoided path was probed twice since $lost was set; the intervals are 4 ms, 8 ms .. 1 s
probed_twice() { [ "$(dropped)" -ge $((lost + 2 * avoided)) ]; }
are_avoided() { [ "$(peer .avoided)" -ge "$1" ]; }
none_avoided() { [ "$(peer .avoided)" -eq 0 ]; }
# acked: acknowledged packets of paths with losses, and of paths without losses
acked() { peer '[.acked, .lost] | transpose | map(select(.[1] > 0)[0]), map(select(.[1] == 0)[0]) | add // 0' | xargs; }

# traffic for the whole test
job ndp_msg receive -n "$b" -p 9 -f -c 100000000 -l 100k -t 1000
wait_for 10 listens
job ndp_msg send -n "$a" -p 9 -d 10.0.0.2 -w 30 -c 100000000 -l 100k -t 1000
check "no path is avoided before a loss" wait_for 10 none_avoided
sleep 0.1
exact && check_eq "many paths are used and lose no packet" \
	"$(peer '(.acked | map(select(. > 0)) | length) >= 4 and (.lost | add) == 0')" true

block_paths
check "dead paths are avoided" wait_for 10 are_avoided 4
# 10 round trips of a window of 30 packets
exact && check "dead paths are avoided after at most 300 lost packets" test "$(dropped)" -le 300
read -r dead live < <(acked)
lost=$(dropped) avoided=$(peer .avoided)
check "dead paths are probed again" wait_for 20 probed_twice
read -r dead2 live2 < <(acked)
exact && check_eq "no packet passes dead paths" "$dead2" "$dead"
exact && check "good paths are used much more than dead ones are probed" \
	test $((live2 - live)) -gt $((4 * ($(dropped) - lost)))
check_eq "no message fails with half of the paths dead" "$(snmp "$a" SndMsgsFailed)" 0
exact && check "dead paths are still avoided after probes" are_avoided "$avoided"

unblock_paths
check "repaired paths are used again" wait_for 10 none_avoided
sleep 0.5
read -r dead live < <(acked)
check "repaired paths deliver packets" test "$dead" -gt "$dead2"
check_eq "no message fails after the repair" "$(snmp "$a" SndMsgsFailed)" 0
stop_jobs
check "all flows are freed" wait_for 90 unused
finish

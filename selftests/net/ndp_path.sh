#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Half of the paths lead nowhere: they are avoided from the first loss on, tried now and then, and used again
# when they work. Here a path is a UDP source port, and those with odd numbers are dropped. On slow machines answers are
# late, and other paths lose packets, too, now and then: so it is not checked there which paths are used.
#
#	+--------- a ---------+     +------------ b ------------+
#	| ndp_msg send -> w0  |=====| w1: odd ports -> receive  |
#	+---------------------+     +---------------------------+
# shellcheck disable=SC2154,SC2317 # setup_ns sets a and b; functions are called through wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
. "$(dirname "$0")/../lib/ndp.sh"
setup_ns a b
wire_ab rate 50mbit delay 20us
tc -n "$b" qdisc add dev w1 clsact || skip_all "no clsact"
paths=$(in_ns "$a" cat /proc/sys/net/ndp/paths)

# dead: what comes by odd ports is dropped; CONTROL goes by w0's ingress, and is not
dead() { tc -n "$b" filter add dev w1 ingress protocol ip pref 1 u32 match ip sport 1 1 action drop; }
alive() { tc -n "$b" filter del dev w1 ingress pref 1; }
# dropped: packets, so far
dropped() {
	tc -n "$b" -s filter show dev w1 ingress | awk '/Sent/ { sum += $4 } END { print sum + 0 }'
}
# peer FILTER: of a's only peer
peer() { ip netns exec "$a" closnet ndp peers -j | jq ".peers[0] | $1"; }
# tried: was each of the dead ones tried twice since then? 4 ms, 8 ms .. 1 s lie between
tried() { [ "$(dropped)" -ge $((lost + paths)) ]; }
is_avoided() { [ "$(peer .avoided)" -eq "$1" ]; }
# acked: packets that were acknowledged by paths that have lost some, and by others
acked() { peer '[.acked, .lost] | transpose | map(select(.[1] > 0)[0]), map(select(.[1] == 0)[0]) | add // 0' | xargs; }

# for as long as the test takes
job ndp_msg receive -n "$b" -p 9 -f -c 100000000 -l 10k -t 1000
wait_for 10 listens
job ndp_msg send -n "$a" -p 9 -d 10.0.0.2 -c 100000000 -l 10k -t 1000
check "it runs" wait_for 10 is_avoided 0
sleep 0.1
exact && check_eq "all paths are used, none lost" "$(peer '(.acked | min) > 0 and (.lost | add) == 0')" true

dead
check "the dead half is avoided" wait_for 10 is_avoided $((paths / 2))
# 10 round trips of a window of 30 packets
exact && check "after no more than 300 packets were lost" test "$(dropped)" -le 300
read -r dead live < <(acked)
lost=$(dropped)
check "it is tried again" wait_for 20 tried
read -r dead2 live2 < <(acked)
exact && check_eq "no packet comes by it" "$dead2" "$dead"
exact && check "the other half is used, much more" test $((live2 - live)) -gt $((4 * ($(dropped) - lost)))
check_eq "no message has failed" "$(snmp "$a" SndMsgsFailed)" 0
exact && check_eq "still avoided" "$(peer .avoided)" $((paths / 2))

alive
check "it works again, and is used" wait_for 10 is_avoided 0
sleep 0.5
read -r dead live < <(acked)
check "as the other half is" test "$dead" -gt "$dead2"
check_eq "no message has failed" "$(snmp "$a" SndMsgsFailed)" 0
stop_jobs
check "nothing is left" wait_for 90 unused
finish

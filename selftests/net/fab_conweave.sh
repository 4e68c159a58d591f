#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# closfab's mode conweave: control packets avoid links that are down, the base RTT follows the underlay, packets out of
# order are counted, and a forged epoch does not stop a flow.
# shellcheck disable=SC2154,SC2034,SC2119,SC2317 # lb_net sets the namespaces, and uses rate; check calls functions
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/fab.sh"
need_fab
rate=1gbit
fab_net mode conweave flows 64 theta_inactive 10ms
pings() { in_ns "$h" ping -q -c 1 -W 1 10.0.2.2; }
# replies: RTT_REPLYs that r's device has received
replies() { echo $(($(counter "$r/fab0" rx_replies) + $(counter "$r/fab0" rx_ignored))); }
answered() { [ "$(replies)" = "$(counter "$t/fab0" tx_replies)" ]; }
# stream MICROSECONDS: start one flow from h to d
stream() { job traffic udp -n "$h" -d 10.0.2.2 -p 9 -l 1000 -i "$1" >/dev/null; }
wait_for 5 pings
check "all replies of t arrive" wait_for 5 answered

# ---- control packets and links that are down

no_carrier() { ! has_carrier "$t" t1; }
ip -n "$r" link set u1 down
wait_for 5 no_carrier
check "t's route by the link that is down remains" grep -q "dev t1.*linkdown" <(ip -n "$t" route show 10.9.0.1)
before=$(counter "$t/fab0" tx_replies)
for i in {1..40}; do
	traffic udp -n "$h" -d 10.0.2.2 -p "$i" -c 1 >/dev/null
done
check "t answers flows in 15 buckets" wait_for 5 at_least $((before + 15)) counter "$t/fab0" tx_replies
check "no reply takes the link that is down" wait_for 5 answered
ip -n "$r" link set u1 up
ip -n "$r" addr replace fd01:1::1/64 dev u1 nodad
# shellcheck disable=SC2046 # words
ip -n "$r" route replace 10.9.0.2/32 src 10.9.0.1 $(next_hops 4)

# ---- base RTT

rtt() { in_ns "$r" closnet fab peers -j | jq '[.peers[] | select(.peer == "10.9.0.2") | .rtt_ns][0]'; }
note "base RTT: $(rtt) ns"
check "the base RTT is measured" at_least 1 rtt
# rarely COMMAND...: COMMAND after some time, for a long wait: each attempt starts programs, which are slow in guests
rarely() { sleep 0.9 && "$@"; }
below() { [ "$(rtt)" -lt 10000000 ]; }
delays 5ms 5ms 5ms 5ms
before=$(counter "$t/fab0" tx_replies)
stream 10000
wait_for 5 at_least $((before + 3)) counter "$t/fab0" tx_replies
check "longer links do not change the base RTT at once" below
check "after 20 s, the base RTT is that of the longer links" wait_for 25 rarely at_least 10000000 rtt
note "base RTT: $(rtt) ns"
delays 5us 5us 5us 5us
check "the base RTT of shorter links counts at once" wait_for 1 below
stop_jobs

# ---- packets out of order

fab_del
fab_add mode conweave flows 1 theta_inactive 50ms wait_max 100us
wait_for 5 pings
check_eq "a new device has used no FIFO" "$(sum rx_fifos_max rx_held_bytes_max)" 0
stream 100
fast=0
# flip: make another link the fast one, so that the flow leaves a slow path; true once packets were late
flip() {
	local times=(2ms 2ms 2ms 2ms)
	fast=$(((fast + 1) % 4))
	times[fast]=5us
	delays "${times[@]}"
	sleep 0.05
	at_least 1 sum rx_late
}
check "packets of a slow path are late after wait_max" wait_for 10 flip
stop_jobs
note "$(in_ns "$t" ethtool -S fab0 | grep -v ' 0$')"
check "the timers that released FIFOs are counted" at_least 1 sum rx_timers
check_eq "one flow uses one FIFO" "$(sum rx_fifos_max)" 1
check "the most bytes held at a time are counted" at_least 500 sum rx_held_bytes_max

# ---- forged epochs

delays 5us 5us 5us 5us
fab_del
fab_add mode conweave flows 1 theta_inactive 10ms
in_ns "$r" tee /proc/sys/net/ipv4/conf/{all,rh}/rp_filter >/dev/null <<<0
in_ns "$r" tee /proc/sys/net/ipv4/conf/{all,rh}/accept_local >/dev/null <<<1
in_ns "$t" tee /proc/sys/net/ipv4/conf/{all,t0,t1,t2,t3}/rp_filter >/dev/null <<<0
# flow FIELD: of the only flow that t receives
flow() { in_ns "$t" closnet fab flows -j | jq ".flows[0].$1"; }
# forge AHEAD COUNT: packets whose epoch is so far ahead
forge() {
	in_ns "$h" python3 "$(dirname "$0")/fab_forge.py" epoch 10.9.0.1 10.9.0.2 "$2" \
		$(($(flow instance) << 16)) $((($(flow epoch) + $1) & 65535))
}
more_replies() { wait_for 5 at_least $(($(counter "$t/fab0" tx_replies) + 20)) counter "$t/fab0" tx_replies; }
stream 2000
check "the flow's requests are answered" more_replies
forge 30000 1
check "a forged epoch is counted" wait_for 5 at_least 1 sum rx_stray
check "after a forged epoch, the flow's requests are answered" more_replies
forge 60 1
check "after a forged epoch within the window, the flow's requests are answered" more_replies
stop_jobs
forge 30000 40
check "after 16 packets in a row, the window moves" wait_for 5 at_least 1 sum rx_restarts
stream 2000
check "afterwards, the flow's requests are answered" more_replies
stop_jobs
finish

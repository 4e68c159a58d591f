#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Random settings by raw netlink, for new pairs and for one under load, and
# random frames in both directions: each setting is accepted or refused as the
# ranges of ip-link-closwire(8) say, and the ports go on.
#
#	+--------- a ---------+     +--------- b ---------+
#	| traffic -> w0       |=====| w1 <- frames        |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
c='' # set by setup_ns
setup_ns a b c

check "pairs of random settings" closwire_netlink create -n "$c" -i w0 -c 300

wire_ab rate 10gbit
job traffic udp -n "$a" -d 10.0.0.2 -p 9 -l 1400 -g 4
check "random changes" closwire_netlink change -n "$a" -i w0 -c 2000
check "what is refused" closwire_netlink refused -n "$a" -i w0
stop_jobs

# What is still on a cable of 10 s goes when its receiver goes down.
restart() {
	ip -n "$a" link set w0 down && ip -n "$b" link set w1 down &&
		ip -n "$a" link set w0 up && ip -n "$b" link set w1 up && wait_for 5 has_carrier "$a" w0
}
wire_set "$a/w0" rate 10gbit delay 0 loss 0 ring 256
check "down and up" restart
for seed in 1 2; do
	check "random frames of w0, seed $seed" closwire_raw random -s "$a/w0" -c 2000 -S $seed
	check "random frames of w1, seed $seed" closwire_raw random -s "$b/w1" -c 2000 -S $seed
done
# ---- pauses of random priorities and times, under traffic, with long and short rings

for ring in 2 8 16384; do
	for rate in 10gbit 1tbit; do
		wire_set "$a/w0" ring $ring rate $rate
		job traffic udp -n "$a" -d 10.0.0.2 -p 9 -l 1400 -g 4
		job traffic udp -n "$a" -d 10.0.0.2 -p 9 -l 60 -t 16
		check "ring $ring, $rate: random pauses" closwire_raw storm -s "$b/w1" -c 300 -S $ring
		stop_jobs
	done
done
closwire_raw pause -s "$b/w1" {0..7}=0
check "down and up again" restart
check "after random frames and pauses, all frames come" send_frames -s "$a/w0" -c "in=$b/w1/in/20" udp4,n=20
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Random settings by raw netlink, for new pairs and for a pair under load, and random frames in both directions. Each
# setting is accepted or refused as the ranges of ip-link-closwire(8) require, and the ports keep working.
#
#	+--------- a ---------+     +--------- b ---------+
#	| traffic -> w0       |=====| w1 <- frames        |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
c='' # set by setup_ns
setup_ns a b c

check "pairs with random settings are made or refused as a whole" closwire_netlink create -n "$c" -i w0 -c 300

wire_ab rate 10gbit
job traffic udp -n "$a" -d 10.0.0.2 -p 9 -l 1400 -g 4
check "random changes are accepted or refused as documented" closwire_netlink change -n "$a" -i w0 -c 2000
check "each refusal has the right message" closwire_netlink refused -n "$a" -i w0
stop_jobs

# restart: take both ports down and up, which discards frames on the cable
restart() {
	ip -n "$a" link set w0 down && ip -n "$b" link set w1 down &&
		ip -n "$a" link set w0 up && ip -n "$b" link set w1 up && wait_for 5 has_carrier "$a" w0
}
wire_set "$a/w0" rate 10gbit delay 0 loss 0 ring 256
check "ports come up again after random changes" restart
for seed in 1 2; do
	check "w0 sends or refuses random frames, seed $seed" closwire_raw random -s "$a/w0" -c 2000 -S $seed
	check "w1 sends or refuses random frames, seed $seed" closwire_raw random -s "$b/w1" -c 2000 -S $seed
done

# ---- random pauses under traffic, with long and short rings

for ring in 2 8 16384; do
	for rate in 10gbit 1tbit; do
		wire_set "$a/w0" ring $ring rate $rate
		job traffic udp -n "$a" -d 10.0.0.2 -p 9 -l 1400 -g 4
		job traffic udp -n "$a" -d 10.0.0.2 -p 9 -l 60 -t 16
		check "port with ring $ring at $rate survives random pauses" closwire_raw storm -s "$b/w1" -c 300 -S $ring
		stop_jobs
	done
done
closwire_raw pause -s "$b/w1" {0..7}=0
check "ports come up again after random frames and pauses" restart
check "all frames arrive after random frames and pauses" send_frames -s "$a/w0" -c "in=$b/w1/in/20" udp4,n=20
finish

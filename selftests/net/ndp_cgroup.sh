#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What a socket keeps counts against the control group of who made it: messages to be sent, and those that came. Needs a
# kernel with memory control groups.
#
#	+--------- a ---------+     +--------- b ---------+
#	| ndp_msg send -> w0  |=====| w1 -> receive       |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2154,SC2317 # setup_ns sets a and b; wait_for calls functions
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
. "$(dirname "$0")/../lib/ndp.sh"
group=/sys/fs/cgroup/ndp_cgroup.$$
mountpoint -q /sys/fs/cgroup || mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null || skip_all "no cgroup2"
echo +memory >/sys/fs/cgroup/cgroup.subtree_control 2>/dev/null || skip_all "no memory control groups"
mkdir $group-tx $group-rx
defer "rmdir $group-tx $group-rx"
setup_ns a b
wire_ab rate 500mbit delay 5us

# within NAME COMMAND...: in a group
within() { (echo "$BASHPID" >"$group-$1/cgroup.procs" && exec "${@:2}"); }
# sock NAME: bytes of its sockets
sock() { awk '$1 == "sock" { print $2 }' "$group-$1/memory.stat"; }
has() { [ "$(sock "$1")" -ge "$2" ]; }
is_empty() { [ "$(sock "$1")" -eq 0 ]; }

# the receiver waits before it reads, so that it has 1 MB, and the sender what does not fit
job within rx ndp_msg receive -n "$b" -p 9 -r 500000 -w 3000 -l 3m -t 100
wait_for 10 in_use
job within tx ndp_msg send -n "$a" -p 9 -d 10.0.0.2 -k 2000000 -x -l 3m
check "what came counts" wait_for 10 has rx 400000
check "what is to be sent counts" wait_for 10 has tx 1000000
stop_jobs
check "what came is given back" wait_for 20 is_empty rx
check "what was sent, too" wait_for 90 is_empty tx
check "nothing is left" wait_for 90 unused
finish

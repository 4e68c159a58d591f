#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Memory of queued and received messages is charged to the memory control group of the process that created the socket.
# A process cannot reserve memory in advance (SO_RESERVE_MEM).
# Needs a kernel with memory control groups.
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

# within NAME COMMAND...: for job: become COMMAND in a control group, so that stop_jobs ends it
within() { echo "$BASHPID" >"$group-$1/cgroup.procs" && exec "${@:2}"; }
# sock NAME: bytes charged to the group for sockets
sock() { awk '$1 == "sock" { print $2 }' "$group-$1/memory.stat"; }
has() { [ "$(sock "$1")" -ge "$2" ]; }
is_empty() { [ "$(sock "$1")" -eq 0 ]; }

# the receiver does not read for 3 s, so that a quarter of its buffer of 1 MB is full, and 2 MB are in the sender's
job within rx ndp_msg receive -n "$b" -p 9 -r 500000 -w 3000 -l 3m -t 100
wait_for 10 in_use
job within tx ndp_msg send -n "$a" -p 9 -d 10.0.0.2 -k 2000000 -x -l 3m
check "received messages are charged to the receiver's group" wait_for 10 has rx 200000
check "queued messages are charged to the sender's group" wait_for 10 has tx 1000000
stop_jobs
check "receiver's charge is released" wait_for 20 is_empty rx
check "sender's charge is released" wait_for 90 is_empty tx
check "all flows are freed" wait_for 90 unused

if [ -x /usr/bin/python3 ]; then
	check_eq "memory is not reserved" "$(
		within rx ip netns exec "$a" /usr/bin/python3 - <<-END
			import socket
			with socket.socket(socket.AF_INET, socket.SOCK_RDM, 259) as sock:
			    try:
			        sock.setsockopt(socket.SOL_SOCKET, 73, 1 << 20)
			    except OSError:
			        pass
			    print(sock.getsockopt(socket.SOL_SOCKET, 73))
		END
	)" 0
else
	skip "memory is not reserved" "needs python3"
fi
finish

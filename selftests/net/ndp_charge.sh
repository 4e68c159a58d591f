#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Flows, scoreboards and peers are charged to the memory that all NDP sockets share, and are as small as their messages
# permit. Root of a user namespace cannot raise the limits.
#
#	+------------- a --------------+     +------- b -------+
#	| ndp_input.py: 10.9.0.0/16    |=====| v1: port 1000   |
#	| ndp_charge.py -> 10.5.0.0/16 |     +-----------------+
#	+------------------------------+
# shellcheck disable=SC2154,SC2317 # setup_ns sets a and b; functions are called through wait_for
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/ndp.sh"
[ -x /usr/bin/python3 ] || skip_all "needs python3"
setup_ns a b
link_ab
as_remote "$a" v0
ip -n "$a" -batch - <<-END
	route add local 10.9.0.0/16 dev v0
	link add d0 type dummy
	link set d0 up
	route add 10.5.0.0/16 dev d0
END
ip -n "$b" route add 10.9.0.0/16 via 10.0.0.1

# pages: pages charged to all NDP sockets, from /proc/net/protocols
# shellcheck disable=SC2016 # awk expands
pages() { in_ns "$a" awk '$1 == "NDP" { print $4 }' /proc/net/protocols; }
slab_kB() { awk '$1 == "Slab:" { print $2 }' /proc/meminfo; }
# charged NAME BEFORE FLOWS: check that at least 3 kB per flow were charged since BEFORE. Per-CPU counts are late by up
# to 1 MiB each.
charged() {
	local kB=$((($(pages) - $2) * 4))
	note "$1: $kB kB for $3 flows"
	check "$1 is charged to the memory that NDP sockets share" test "$kB" -ge $(($3 * 3 - 1024 * $(nproc)))
}

before=$(pages)
slab=$(slab_kB)
# each message waits for an answer until it times out
job ip netns exec "$a" setpriv --reuid 65534 --regid 65534 --clear-groups "$(dirname "$0")/ndp_charge.py" 2000 1024 \
	>"$TMP/sent"
check "a user sends 2000 one-byte messages to 2000 hosts, with a window of 1024" wait_for 60 test -s "$TMP/sent"
slab=$(($(slab_kB) - slab))
note "$(<"$TMP/sent"), $slab kB of slab"
charged "the state of flows that send" "$before" 2000
check "a one-byte message takes less than 32 kB with any window" test "$slab" -lt $((32 * 2000))
stop_jobs
check "all flows are freed" wait_for 30 unused
job ndp_msg receive -n "$b" -p 1000 -f -c 100000000 -l 10 -t 1000
wait_for 10 listens
before=$(pages)
check "packets of new flows from 1000 addresses are sent" \
	in_ns "$a" "$(dirname "$0")/ndp_input.py" 10.0.0.2 begin 10.9.0.1 1000
flows() { [ "$(snmp "$b" RxFlows)" -eq 1000 ]; }
check "1000 flows begin" wait_for 10 flows
charged "the state of flows that are received" "$before" 1000
stop_jobs

# ---- the root of a user namespace

# inner COMMAND: run COMMAND as UID 65534 that is root of a new user and network namespace
inner() { setpriv --reuid 65534 --regid 65534 --clear-groups unshare -Urn sh -c "$1"; }
if ! inner true 2>/dev/null; then
	skip "root of a user namespace cannot raise limits" "no user namespaces"
	finish
fi
for name in flows_max paths; do
	now=$(<"/proc/sys/net/ndp/$name")
	check_refused "$name cannot exceed the initial namespace's" "" inner "echo $((now + 1)) >/proc/sys/net/ndp/$name"
	check_eq "$name can be lower than the initial namespace's" \
		"$(inner "echo $((now - 1)) >/proc/sys/net/ndp/$name; cat /proc/sys/net/ndp/$name")" \
		$((now - 1))
	echo $((now - 2)) >"/proc/sys/net/ndp/$name"
	check_eq "$name of a new namespace follows the initial one's" \
		"$(inner "cat /proc/sys/net/ndp/$name")" $((now - 2))
	echo "$now" >"/proc/sys/net/ndp/$name"
done
echo 20000 >/proc/sys/net/ndp/flows_max
check_eq "the initial namespace can raise flows_max" "$(</proc/sys/net/ndp/flows_max)" 20000
echo 16384 >/proc/sys/net/ndp/flows_max
finish

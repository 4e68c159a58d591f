#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Flows, scoreboards and peers are charged to the memory that NDP sockets share, and are as small as messages allow;
# the root of a user namespace cannot raise the limits.
#
#	+------------- a -------------+     +------- b -------+
#	| ndp_input.py: 10.9.0.0/16   |=====| v1: port 1000   |
#	| ndp_charge.py -> 10.5.0.0/16  |     +-----------------+
#	+-----------------------------+
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

# pages: that all NDP sockets have, by /proc/net/protocols
# shellcheck disable=SC2016 # awk expands
pages() { in_ns "$a" awk '$1 == "NDP" { print $4 }' /proc/net/protocols; }
slab_kB() { awk '$1 == "Slab:" { print $2 }' /proc/meminfo; }
# charged WHAT BEFORE FLOWS: is it 3 kB a flow at least?
charged() {
	local kB=$((($(pages) - $2) * 4))
	note "$1: $kB kB for $3 flows"
	check "$1 is charged to the memory that NDP sockets share" test "$kB" -ge $(($3 * 3))
}

before=$(pages)
slab=$(slab_kB)
# each message waits for an answer until its time is over
job ip netns exec "$a" setpriv --reuid 65534 --regid 65534 --clear-groups "$(dirname "$0")/ndp_charge.py" 2000 1024 \
	>"$TMP/sent"
check "a user sends 2000 one-byte messages to 2000 hosts, with a window of 1024" wait_for 60 test -s "$TMP/sent"
slab=$(($(slab_kB) - slab))
note "$(<"$TMP/sent"), $slab kB of slab"
charged "the state of flows that send" "$before" 2000
check "a one-byte message takes less than 32 kB, whatever the window" test "$slab" -lt $((32 * 2000))
stop_jobs
check "nothing is left" wait_for 30 unused
job ndp_msg receive -n "$b" -p 1000 -f -c 100000000 -l 10 -t 1000
wait_for 10 listens
before=$(pages)
check "new flows from 1000 addresses" in_ns "$a" "$(dirname "$0")/ndp_input.py" 10.0.0.2 begin 10.9.0.1 1000
flows() { [ "$(snmp "$b" RxFlows)" -eq 1000 ]; }
check "the flows have begun" wait_for 10 flows
charged "the state of flows that are received" "$before" 1000
stop_jobs

# ---- the root of a user namespace

# inner COMMAND: an ordinary user runs it as root of a new user and network namespace
inner() { setpriv --reuid 65534 --regid 65534 --clear-groups unshare -Urn sh -c "$1"; }
if ! inner true 2>/dev/null; then
	skip "limits in a user namespace" "no user namespaces"
	finish
fi
for knob in flows_max paths; do
	now=$(<"/proc/sys/net/ndp/$knob")
	check_refused "$knob above the initial namespace's" "" inner "echo $((now + 1)) >/proc/sys/net/ndp/$knob"
	check_eq "$knob below it" "$(inner "echo $((now - 1)) >/proc/sys/net/ndp/$knob; cat /proc/sys/net/ndp/$knob")" \
		$((now - 1))
	echo $((now - 2)) >"/proc/sys/net/ndp/$knob"
	check_eq "$knob of a new namespace follows the initial one's" \
		"$(inner "cat /proc/sys/net/ndp/$knob")" $((now - 2))
	echo "$now" >"/proc/sys/net/ndp/$knob"
done
echo 20000 >/proc/sys/net/ndp/flows_max
check_eq "the initial namespace raises its own" "$(</proc/sys/net/ndp/flows_max)" 20000
echo 16384 >/proc/sys/net/ndp/flows_max
finish

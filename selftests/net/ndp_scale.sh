#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 10,000 peers, and 100,000 messages in flight at the same time: all of them are in the network, none is acknowledged.
# Each comes once, with each byte; then nothing is left of them, and the module can be unloaded. With less than 3 GB of
# memory, 5,000 peers; on slow machines, 500.
#
#	+-------------- a --------------+     +-------------- b --------------+
#	| ndp_many -> w0 netem, 500 ms  |=====| w1 -> 10.1.0.0/16 -> ndp_many |
#	+-------------------------------+     +-------------------------------+
# shellcheck disable=SC2154,SC2317 # setup_ns sets a and b; functions are called through wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
. "$(dirname "$0")/../lib/ndp.sh"
setup_ns a b
wire_ab rate 10gbit delay 1us
ip -n "$a" route add 10.1.0.0/16 via 10.0.0.2
ip -n "$b" route add local 10.1.0.0/16 dev lo
peers=10000 each=10
# Both ends of each flow are charged to this one kernel. Flows may have half of what NDP may, which is too little in 2 GiB.
[ "$(awk '$1 == "MemTotal:" { print $2 }' /proc/meminfo)" -ge 3000000 ] || peers=5000 each=20
[ -z "${KSFT_MACHINE_SLOW:-}" ] || peers=500
messages=$((peers * each))
# a message waits for the network for longer than that
in_ns "$a" tee /proc/sys/net/ndp/rto_us >/dev/null <<<1000000
in_ns "$b" tee /proc/sys/net/ndp/flows_max >/dev/null <<<100000

# in_wire: packets
in_wire() { tc -n "$a" -s -j qdisc show dev w0 | unwrap | jq .qlen; }
# shown NS TABLE: how many lines closnet shows
shown() { ip netns exec "$1" closnet ndp "$2" | grep -c remote; }
# charged: pages, of all NDP sockets
charged() { awk '$1 == "NDP" { print $4 }' /proc/net/protocols; }
# gone: has each flow been forgotten? A CPU counts late by up to 1 MiB.
gone() { unused && [ "$(charged)" -le $((256 * $(nproc))) ]; }

tc -n "$a" qdisc add dev w0 root netem limit 200000 delay 500ms || skip_all "no netem"
in_ns "$a" ndp_many -n "$b" -d 10.1.0.1 -r 268435456 $peers $each 100 200 >"$TMP/many" 2>"$TMP/error" &
if exact; then
	# the CPU takes no time, so all are sent by then
	sleep 0.1
	check_eq "all packets are in the network" "$(in_wire)" $messages
	check_eq "to so many hosts" "$(shown "$a" peers)" $peers
	check_eq "of so many flows" "$(shown "$a" sending)" $peers
	check_eq "none has come" "$(snmp "$b" InData)" 0
	note "pages that are charged: $(charged)"
fi
if wait $!; then
	ok "all messages come once, with each byte"
else
	not_ok "all messages come once, with each byte" "$(<"$TMP/error")"
fi
note "flows, and messages not acknowledged when all were sent: $(<"$TMP/many")"
exact && check_eq "that was all" "$(<"$TMP/many")" "$peers $messages"
check_eq "all were acknowledged" "$(snmp "$a" SndMsgsDone)" $messages
check_eq "none has failed" "$(snmp "$a" SndMsgsFailed)" 0
check_eq "each peer is a flow that sends" "$(snmp "$a" TxFlows)" $peers
check_eq "and one that is received" "$(snmp "$b" RxFlows)" $peers
exact && check_eq "nothing was sent twice" "$(snmp "$a" OutRtx)" 0
check "no flow is left" wait_for 90 gone
check_eq "no peer" "$(shown "$a" peers) $(shown "$b" peers)" "0 0"
# what is left in its caches is told by the kernel
check "the module can be unloaded" rmmod ndp
load_module ndp
finish

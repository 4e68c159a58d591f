#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 10,000 peers with 100,000 messages in flight at the same time: all packets are in the network, and not yet
# acknowledged. Each message arrives once and intact. Afterwards all memory is released and the module can be unloaded.
# With less than 3 GB of memory, 5,000 peers; on slow machines, 500.
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
# One kernel is charged for both ends of each flow. Flows may use half of NDP's memory limit, which 2 GiB make too
# small.
[ "$(awk '$1 == "MemTotal:" { print $2 }' /proc/meminfo)" -ge 3000000 ] || peers=5000 each=20
[ -z "${KSFT_MACHINE_SLOW:-}" ] || peers=500
messages=$((peers * each))
# longer than the round trip through the network
in_ns "$a" tee /proc/sys/net/ndp/rto_us >/dev/null <<<1000000
in_ns "$b" tee /proc/sys/net/ndp/flows_max >/dev/null <<<100000

# in_wire: packets in the network
in_wire() { tc -n "$a" -s -j qdisc show dev w0 | unwrap | jq .qlen; }
# shown NS TABLE: number of entries that closnet shows
shown() { ip netns exec "$1" closnet ndp "$2" | grep -c remote; }
# charged: pages charged to all NDP sockets
charged() { awk '$1 == "NDP" { print $4 }' /proc/net/protocols; }
# gone: true if all flows are freed. Per-CPU counts are late by up to 1 MiB each.
gone() { unused && [ "$(charged)" -le $((256 * $(nproc))) ]; }

tc -n "$a" qdisc add dev w0 root netem limit 200000 delay 500ms || skip_all "no netem"
in_ns "$a" ndp_many -n "$b" -d 10.1.0.1 -r 268435456 $peers $each 100 200 >"$TMP/many" 2>"$TMP/error" &
if exact; then
	# the CPU takes no virtual time, so all messages are sent by then
	sleep 0.1
	check_eq "all packets are in the network" "$(in_wire)" $messages
	check_eq "each host is a peer" "$(shown "$a" peers)" $peers
	check_eq "each peer has a sending flow" "$(shown "$a" sending)" $peers
	check_eq "no packet has arrived yet" "$(snmp "$b" InData)" 0
	note "pages that are charged: $(charged)"
fi
if wait $!; then
	ok "each message arrives once and intact"
else
	not_ok "each message arrives once and intact" "$(<"$TMP/error")"
fi
note "flows and unacknowledged messages when all were sent: $(<"$TMP/many")"
exact && check_eq "all messages of all flows were in flight at the same time" "$(<"$TMP/many")" "$peers $messages"
check_eq "all messages are acknowledged" "$(snmp "$a" SndMsgsDone)" $messages
check_eq "no message fails" "$(snmp "$a" SndMsgsFailed)" 0
check_eq "TxFlows counts a flow for each peer" "$(snmp "$a" TxFlows)" $peers
check_eq "RxFlows counts a flow for each peer" "$(snmp "$b" RxFlows)" $peers
exact && check_eq "no packet is retransmitted" "$(snmp "$a" OutRtx)" 0
check "all flows are freed" wait_for 90 gone
check_eq "all peers are freed" "$(shown "$a" peers) $(shown "$b" peers)" "0 0"
# the kernel warns of objects left in the module's caches
check "the module can be unloaded" rmmod ndp
load_module ndp
finish

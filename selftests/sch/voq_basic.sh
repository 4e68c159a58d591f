#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# voq without credit: destinations share the device equally, a full VOQ does not harm another one, voq_rate holds for each
# VOQ, and wrong options are refused.
#
#	+--------- a ---------+     +----------- b -----------+
#	| traffic -> v0: voq  |=====| v1  10.0.0.2, 10.0.0.3  |
#	+---------------------+     +-------------------------+
# shellcheck disable=SC2317,SC2154 # check calls functions; setup_ns sets the namespaces
. "$(dirname "$0")/../lib/lib.sh"
need_voq
setup_ns a b
link_ab
ip -n "$b" addr add 10.0.0.3/24 dev v1
voq() { new_root voq "$@"; }
tc -n "$b" qdisc add dev v1 clsact
# counter_of NS DEV SIDE PREF ADDRESS: count the datagrams to an address
counter_of() {
	tc -n "$1" filter add dev "$2" "$3" pref "$4" handle 1 protocol ip flower dst_ip "$5" ip_proto udp action pass
}
tc -n "$a" qdisc add dev v0 clsact
counter_of "$a" v0 egress 3 10.0.0.3
counter_of "$b" v1 ingress 2 10.0.0.2
counter_of "$b" v1 ingress 3 10.0.0.3
# counted NS DEV SIDE PREF UNIT: its packets or bytes
counted() { tc -n "$1" -s -j filter show dev "$2" "$3" pref "$4" | jq "[.[].options.actions[]?.stats.$5] | add"; }
sent_three() { counted "$a" v0 egress 3 packets; }
received_three() { counted "$b" v1 ingress 3 packets; }
received_two() { counted "$b" v1 ingress 2 bytes; }
in_ns "$a" ping -q -c 1 10.0.0.2 >/dev/null
in_ns "$a" ping -q -c 1 10.0.0.3 >/dev/null

# arrived SECONDS: percent that arrives of up to 2 Mbit/s to 10.0.0.3 while a floods 10.0.0.2
arrived() {
	local sent three
	sent=$(sent_three) three=$(received_three)
	job traffic udp -n "$a" -d 10.0.0.2 -p 9 -l 1400 -i 100 >"$TMP/flood"
	job traffic udp -n "$a" -d 10.0.0.3 -p 9 -l 1000 -i 4000 >"$TMP/other"
	sleep "$1"
	stop_jobs
	wait_for 5 drained
	sent=$(($(sent_three) - sent)) three=$(($(received_three) - three))
	note "other destination: $three of $sent packets"
	echo $((three * 100 / sent))
}

# 5 Mbit/s for 112 + 2 Mbit/s, or what a slow machine sends
new_root tbf rate 5mbit burst 20kb limit 60kb
fifo=$(arrived 1 | tee -a "$TMP/notes" | tail -1)
voq rate 5mbit voq_limit 40
voq_arrived=$(arrived 1 | tee -a "$TMP/notes" | tail -1)
note "of the other destination's packets arrive: FIFO $fifo %, voq $voq_arrived %"
check "flooded destination leaves others at least 95 % of what they send" [ "$voq_arrived" -ge 95 ]
check "a FIFO does not" [ "$fifo" -le 70 ]
check_json "$(sch_stats)" \
	"drops are of the full VOQ" '.dropped_voq_packets > 0 and .drops == .dropped_voq_packets' \
	"two VOQs at least" '.queues >= 2 and .waiting == 0 and .open == 0 and .requests == 0'

voq rate 100mbit voq_rate 5mbit
got() { [ "$(received_two)" -ge "$1" ]; }
before=$(received_two) start=${EPOCHREALTIME/./}
job traffic udp -n "$a" -d 10.0.0.2 -p 9 -l 1400 -i 200 >"$TMP/sent"
check "voq_rate is reached" wait_for 5 got $((before + 300000))
ms=$(((${EPOCHREALTIME/./} - start) / 1000))
stop_jobs
note "300 kB in $ms ms at 5 Mbit/s"
check "voq_rate limits a VOQ" [ "$ms" -ge 420 ]

voq queues 1 rate 1mbit
job traffic udp -n "$a" -d 10.0.0.2 -p 9 -l 1400 -i 1000 >"$TMP/sent"
job traffic udp -n "$a" -d 10.0.0.3 -p 9 -l 1400 -i 1000 >"$TMP/sent"
check "packets without a VOQ are counted" wait_for 5 sch_counts overflow_packets
stop_jobs
tc -n "$a" qdisc change dev v0 root voq rate 0
check "packets without a VOQ leave" wait_for 5 drained

refused() { check_refused "$1" "$2" tc -n "$a" qdisc "${@:3}"; }
voq
refused "credit excludes grant" "credit excludes grant" replace dev v0 root handle 77: voq credit grant
refused "key needs a role" "key needs credit or grant" replace dev v0 root handle 78: voq key 00112233445566778899aabbccddeeff
for option in credit grant "queues 5" "port 5" "key 00112233445566778899aabbccddeeff"; do
	# shellcheck disable=SC2086 # words
	refused "$option cannot change" "fixed when the qdisc is created" change dev v0 root voq $option
done
voq credit key 00112233445566778899aabbccddeeff
ip -n "$a" link add v9 type dummy
refused "qdiscs of a namespace have one key" "port and key must be those" add dev v9 root voq grant
refused "qdiscs of a namespace have one port" "port and key must be those" add dev v9 root voq grant port 5 \
	key 00112233445566778899aabbccddeeff
check "another qdisc with the key is accepted" tc -n "$a" qdisc add dev v9 root voq grant key 00112233445566778899aabbccddeeff
check_json "$(sch_stats)" "options are dumped, but not the key" \
	'.options.credit and (.options.grant | not) and .options.credit_size == 8192 and (.options | has("key") | not)'
check "device with a qdisc that grants can be removed" ip -n "$a" link del v9
voq
check "another port is accepted when the last user is gone" tc -n "$a" qdisc replace dev v0 root handle 99: voq credit port 5
check "credit on a device without tunnel routes: packets pass" in_ns "$a" ping -q -c 3 -i 0.01 10.0.0.2
finish

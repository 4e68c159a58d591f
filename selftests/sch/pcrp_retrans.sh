#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# TCP retransmissions do not wait for a GRANT behind new data. After their flow has finished, they start no new flow,
# send no REQUEST and do not count in the statistics again.
#
#	+------ a ------+     +----- b -----+
#	| TCP           |=====| v1: pcrp    |
#	| pcrp_talk     |     |             |
#	+---------------+     +-------------+
. "$(dirname "$0")/../lib/lib.sh"
need_sch pcrp
exact || skip_all "in real time, pcrp_talk answers too late"
setup_ns a b
link_ab
. "$(dirname "$0")/../lib/pcrp.sh"
talk_ab
tc -n "$a" qdisc add dev v0 clsact || skip_all "no filters"
tc -n "$b" qdisc add dev v1 root pcrp chain 10000 first 10000 rate 100mbit
job pcrp_talk -s "$a/v0" answer=10000 wait=1000000 >/dev/null

# lose: drop TCP packets at a
lose="tc -n $a filter add dev v0 ingress pref 1 protocol ip flower ip_proto tcp action drop"
# found COUNT: wait until COUNT packets were dropped, then stop dropping
cat >"$TMP/found" <<END
until tc -n $a -s filter show dev v0 ingress | grep -q "dropped \$1,"; do sleep 0.001; done
tc -n $a filter del dev v0 ingress
END
found="sh $TMP/found"
# acked BYTES: wait at most 3 s until the peer has acknowledged BYTES, and save the state of TCP and the qdisc in $TMP
cat >"$TMP/acked" <<END
tries=0 acked=0
until [ \$tries = 300 ] || [ \$acked -ge \$1 ]; do
	tries=\$((tries + 1))
	sleep 0.01
	acked=\$(ss -N $b -tinH state established | sed -n 's/.*bytes_acked:\([0-9]*\).*/\1/p')
	acked=\${acked:-0}
done
echo \$acked >$TMP/acked_bytes
tc -n $b -s -j qdisc show dev v1 root >$TMP/waiting
END

# statistics: output of the statistics unit
statistics() { ip netns exec "$b" closnet pcrp -j; }

# ---- a flow of one packet, which is lost

before="$(sender),$(statistics)"
check "data of a lost packet arrives" from_b connect "run=$lose" put=5000 "run=$found 1" receive close eof
check "a lost packet is retransmitted" [ "$(retransmitted)" -ge 1 ]
check_json "[$before,$(sender),$(statistics)]" \
	"a retransmission starts no new flow" '.[2].flows_started == .[0].flows_started + 1' \
	"a flow with a retransmission finishes once" '.[2].flows_finished == .[0].flows_finished + 1' \
	"the statistics unit counts a flow with a retransmission once" '.[3].flows == .[1].flows + 1' \
	"the statistics unit does not count retransmitted bytes" '.[3].bytes == .[1].bytes + 5000' \
	"a retransmission sends no REQUEST" '.[2].requests_sent == .[0].requests_sent'

before="$(sender),$(statistics)"
check "data after a retransmission arrives" \
	from_b connect "run=$lose" put=5000 "run=$found 1" receive send=3000 close eof
check_json "[$before,$(sender),$(statistics)]" \
	"data after a retransmission starts a new flow" '.[2].flows_started == .[0].flows_started + 2' \
	"the statistics unit counts the data before and after a retransmission" \
	'.[3].flows == .[1].flows + 2 and .[3].bytes == .[1].bytes + 8000'

# ---- several chains: the first one is lost, later ones wait for GRANTs

check "first flow: data arrives" from_b connect send=20000 close eof
check "the peer counts as answering" wait_for 5 answering
tc -n "$b" qdisc change dev v1 root pcrp hold 10s
before=$(sender)
sent=$(retransmitted)
check "all data of a flow with a lost chain arrives" from_b connect "run=$lose" fill "run=$found 2" \
	"run=sh $TMP/acked $((2 * 8948))" "run=tc -n $b qdisc del dev v1 root" receive close eof
check_json "[$before,$(unwrap <"$TMP/waiting")]" "new data waits for a GRANT after a lost chain" \
	'.[1].flows_waiting == 1 and .[1].qlen > 2 and .[1].chains_granted == 0
	 and .[1].chains_overdue == .[0].chains_overdue'
check "retransmissions do not wait behind new data" [ "$(cat "$TMP/acked_bytes")" -ge $((2 * 8948)) ]
check "the lost chain is retransmitted" [ "$(retransmitted)" -ge $((sent + 2)) ]
finish

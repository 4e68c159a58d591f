#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What TCP sends again: it waits for no GRANT behind new data; and when its flow has ended, it starts none, asks for
# nothing and is not statistics a second time.
#
#	+------ a ------+     +----- b -----+
#	| TCP           |=====| v1: pcrp    |
#	| pcrp_talk     |     |             |
#	+---------------+     +-------------+
. "$(dirname "$0")/../lib/lib.sh"
need_sch pcrp
exact || skip_all "the machine is late: pcrp_talk does not answer in time"
setup_ns a b
link_ab
. "$(dirname "$0")/../lib/pcrp.sh"
talk_ab
tc -n "$a" qdisc add dev v0 clsact || skip_all "no filters"
tc -n "$b" qdisc add dev v1 root pcrp chain 10000 first 10000 rate 100mbit
job pcrp_talk -s "$a/v0" answer=10000 wait=1000000 >"$TMP/said"

# lose: from here on nothing of TCP gets to a
lose="tc -n $a filter add dev v0 ingress pref 1 protocol ip flower ip_proto tcp action drop"
# found COUNT: until so many packets were lost; then none is any more
cat >"$TMP/found" <<END
until tc -n $a -s filter show dev v0 ingress | grep -q "dropped \$1,"; do sleep 0.001; done
tc -n $a filter del dev v0 ingress
END
found="sh $TMP/found"
# acked BYTES: until TCP's peer has so many, but no longer than 3 s; then what TCP and the qdisc have is in $TMP
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

# statistics: of the statistics unit
statistics() { ip netns exec "$b" closnet pcrp -j; }

# ---- a flow of one packet, which is lost

before="$(sender),$(statistics)"
check "one packet, lost: data arrives" from_b connect "run=$lose" put=5000 "run=$found 1" receive close eof
check "it was sent again" [ "$(retransmitted)" -ge 1 ]
check_json "[$before,$(sender),$(statistics)]" \
	"it is one flow" '.[2].flows_started == .[0].flows_started + 1' \
	"which ended once" '.[2].flows_finished == .[0].flows_finished + 1' \
	"the statistics unit has it once" '.[3].flows == .[1].flows + 1' \
	"with its size" '.[3].bytes == .[1].bytes + 5000' \
	"nothing was asked for" '.[2].requests_sent == .[0].requests_sent'

before="$(sender),$(statistics)"
check "then a new flow: data arrives" from_b connect "run=$lose" put=5000 "run=$found 1" receive send=3000 close eof
check_json "[$before,$(sender),$(statistics)]" \
	"they are two flows" '.[2].flows_started == .[0].flows_started + 2' \
	"of 5000 and 3000 bytes" '.[3].flows == .[1].flows + 2 and .[3].bytes == .[1].bytes + 8000'

# ---- one of several chains: the first is lost, the others wait

check "a flow finds out that there is a peer: data arrives" from_b connect send=20000 close eof
check "it answers" wait_for 5 answering
tc -n "$b" qdisc change dev v1 root pcrp hold 10s
before=$(sender)
sent=$(retransmitted)
check "a chain, lost: all data arrives in the end" from_b connect "run=$lose" fill "run=$found 2" \
	"run=sh $TMP/acked $((2 * 8948))" "run=tc -n $b qdisc del dev v1 root" receive close eof
check_json "[$before,$(unwrap <"$TMP/waiting")]" "meanwhile new data waits for its GRANT" \
	'.[1].flows_waiting == 1 and .[1].qlen > 2 and .[1].chains_granted == 0
	 and .[1].chains_overdue == .[0].chains_overdue'
check "and what is sent again did not wait behind it" \
	[ "$(cat "$TMP/acked_bytes")" -ge $((2 * 8948)) ]
check "it was sent again" [ "$(retransmitted)" -ge $((sent + 2)) ]
finish

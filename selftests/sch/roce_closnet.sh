#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# closnet roce shows rate limiters and flows, completely, to root of the network namespace only. TX queues below mq
# share the flows of their device.
# shellcheck disable=SC2317 # functions are called through check and wait_for
#
#	+----- a (L) -----+     +----- b (R) -----+
#	| v0: roce        |=====| v1, roce_talk   |
#	+-----------------+     +-----------------+
. "$(dirname "$0")/../lib/lib.sh"
need_roce
setup_ns a b
VETH=(numtxqueues 4)
link_ab

# show TABLE NS...: print a table of closnet roce as JSON
show() { ip netns exec "${2:-$a}" closnet roce "$1" -j; }
talk() { roce_talk -l "$a/v0" -r "$b/v1" "$@" >"$TMP/talk"; }

roce rpg_time_reset 1s dce_tcp_rtt 1s
check_eq "at first, the text has no entries" "$(ip netns exec "$a" closnet roce)" "qps:
flows:"
check_json "$(ip netns exec "$a" closnet roce -j)" "at first, the JSON has no entries" '. == {qps: [], flows: []}'
talk out:udp4,len=1000:qpn=22,psn=5,n=3 in:udp4:op=11,qpn=11,psn=7 in:udp4:op=81,qpn=11 \
	in:udp4,ecn=3:op=0a,qpn=11,psn=9 wait=1
check_json "$(show qps)" "a rate limiter is shown with its queue pair and rates" \
	'.qps[0] | .src == "203.0.113.1" and .dst == "203.0.113.2" and .qpn == 22 and .rate_Bps * 2 == .target_Bps' \
	"a rate limiter is shown with its counters" \
	'.qps[0] | .sent_packets == 3 and .sent_bytes == 3000 and .rp_cnp_handled == 1 and .alpha == 1000
	 and .qlen_packets == 0 and .dropped_packets == 0'
check_json "$(show flows)" "both directions of a queue pair are shown with both numbers" \
	'[.flows[] | [.src, .qpn, .peer_qpn]] | sort == [["203.0.113.1", 22, 11], ["203.0.113.2", 11, 22]]' \
	"a flow is shown with marks and CNPs" \
	'.flows[] | select(.qpn == 11) | .np_ecn_marked_roce_packets == 1 and .np_cnp_sent == 1'
check_json "$(show flows "$b")" "another namespace has no flows" '.flows == []'
check_refused "without CAP_NET_ADMIN, nothing is shown" "Operation not permitted" \
	setpriv --bounding-set -net_admin ip netns exec "$a" closnet roce
check_refused "an unknown table is refused" '"x" is not qps or flows' closnet roce x

# dumps that need many messages
talk out:udp6:qpn=1000,n=900,qpns=900 wait=1
check_json "$(show qps)" "900 more rate limiters are shown" \
	'(.qps | length) == 901 and ([.qps[].qpn] | unique | length) == 901'
check_json "$(show flows)" "900 more flows are shown" '(.flows | length) == 902'

# has_flows COUNT: true if the device knows COUNT flows
has_flows() { [[ $(sch_stats) == *"\"flows\":$1,"* ]]; }
tc -n "$a" qdisc change dev v0 root roce idle 1ms
check "idle flows are forgotten" wait_for 10 has_flows 0
check_json "$(show flows)" "forgotten flows are not shown" '.flows == []'

# below mq
tc -n "$a" -batch - <<-END
	qdisc replace dev v0 root handle 1: mq
	qdisc replace dev v0 parent 1:1 handle 11: roce
	qdisc replace dev v0 parent 1:2 handle 12: roce
	qdisc replace dev v0 parent 1:3 handle 13: roce nonp
	qdisc replace dev v0 parent 1:4 handle 14: roce
END
check_json "$(stats)" "an option of a new qdisc holds for all of the device, and for later ones" \
	'[.[] | select(.kind == "roce").options.np] == [false, false, false, false]'
tc -n "$a" qdisc change dev v0 parent 1:2 roce np
check_json "$(stats)" "a change of one qdisc shows in all of the device" \
	'[.[] | select(.kind == "roce").options.np] == [true, true, true, true]'
talk out:udp4:qpn=22,psn=5,n=3 in:udp4:op=11,qpn=11,psn=7 in:udp4:op=81,qpn=11 wait=1
check_json "$(stats)" "below mq, one qdisc handles the CNP" \
	'[.[] | select(.kind == "roce").rp_cnp_handled] | sort == [0, 0, 0, 1]' \
	"below mq, the counters of the device show in each qdisc" \
	'[.[] | select(.kind == "roce").flows] == [2, 2, 2, 2]'

# several devices, without and with flows
for i in 1 2 3 4; do
	ip link add "x$i" netns "$a" type veth peer name "y$i" netns "$b"
	ip -n "$a" link set "x$i" up
	ip -n "$b" link set "y$i" up
	tc -n "$a" qdisc add dev "x$i" root roce
done
for i in 2 4; do
	wait_for 5 has_carrier "$a" "x$i"
	roce_talk -l "$a/x$i" -r "$b/y$i" "out:udp4:qpn=10$i,n=3" wait=1 >"$TMP/talk"
done
check_json "$(show qps)" "rate limiters of all devices are shown once" '[.qps[].qpn] | sort == [22, 102, 104]'
check_json "$(show flows)" "flows of all devices are shown once" '[.flows[].qpn] | sort == [11, 22, 102, 104]'
for i in 1 2 3 4; do
	ip -n "$a" link del "x$i"
done
tc -n "$a" qdisc del dev v0 root
check_json "$(ip netns exec "$a" closnet roce -j)" "without qdiscs there are no entries" '. == {qps: [], flows: []}'

# documented: does closnet(8) have each key of the JSON?
documented() {
	local key
	for key in $(jq -r '.. | objects | keys[]' <<<"$1" | sort -u); do
		grep -qw "$key" "$LIB_TOP/Documentation/man/closnet.8" || { echo "it lacks $key"; return 1; }
	done
}
roce
talk out:udp4:qpn=22,psn=5 in:udp4:op=11,qpn=11,psn=5 wait=1
check "closnet(8) documents each key of the JSON" documented "$(ip netns exec "$a" closnet roce -j)"
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# ndp at the egress port of a bridge whose ingress port merges frames by GRO, also
# as frag lists: ndp segments the merged packets and trims the frames, and all
# bytes are correct.
#
#	+---- a ----+   +---------------- r ----------------+   +---- b ----+
#	| v0: tbf   |===| v2 (GRO)      bridge      v3: ndp |===| v1        |
#	|  ^ frames |   +-----------------------------------+   | -> capture|
#	+-----------+                                           +-----------+
#
# tbf collects the frames into a burst, so that GRO can merge them.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/bridge.sh"
need_ndp
bridge_ab

tracing=/sys/kernel/tracing
trace_on() {
	echo >$tracing/trace
	echo 1 >$tracing/events/net/net_dev_queue/enable
}
trace_off() { echo 0 >$tracing/events/net/net_dev_queue/enable; }

# run WHAT FRAME...: send 40 frames of one flow as a burst
run() {
	local what=$1
	shift
	tc -n "$a" qdisc replace dev v0 root tbf rate 8kbit burst 1600 limit 1000000
	tc -n "$r" qdisc del dev v3 root 2>/dev/null || true
	tc -n "$r" qdisc add dev v3 root ndp limit 6 hlimit 100000 match all rate 1kbit
	cat >"$TMP/release" <<-END
		tc -n $a qdisc change dev v0 root tbf rate 1gbit burst 1mb limit 1000000
		for i in {1..100}; do
			tc -n $r -s qdisc show dev v3 | grep -q ' 39p ' && break
			sleep 0.05
		done
		tc -n $r -s -j qdisc show dev v3 >$TMP/stats
		tc -n $r qdisc change dev v3 root ndp rate 0
	END
	trace_on
	check_to "$TMP/result" "$what: 40 frames leave with all bytes correct" \
		send_frames -k -s "$a/v0" -c "in=$b/v1/in/40" -x "bash $TMP/release" "$@"
	trace_off
	check_eq "$what: 7 frames leave whole, 33 trimmed" \
		"$(awk '{ n[$3]++ } END { print n["whole"], n["trimmed"] }' "$TMP/result")" "7 33"
	check_json "$(<"$TMP/stats")" "$what: 39 frames are queued one by one" \
		'.[0].qlen == 39 and .[0].backlog == .[0].data.backlog_bytes + .[0].header.backlog_bytes'
	if grep -Eq 'dev=v3 .*len=[0-9]{5}' $tracing/trace; then
		ok "$what: GRO merged frames"
	else
		skip "$what: GRO merged frames" "GRO merged no frame"
	fi
}

# gro_list on|off: merge frames into a frag list
gro_list() { ip netns exec "$r" ethtool -K v2 gro on rx-gro-list "$1" rx-udp-gro-forwarding on; }

flow=len=1400,flow=1,sport=5000,ecn=0,n=40
gro_list off
run "tcp4" "tcp4,$flow"
run "udp6" "udp6,$flow"
gro_list on
run "tcp6 frag list" "tcp6,$flow"
run "udp4 frag list" "udp4,$flow"
run "udp6 frag list" "udp6,$flow"
finish

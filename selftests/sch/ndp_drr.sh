#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# NDP and other traffic share the port fairly by bytes, with packets of any
# length, and an NDP flood does not starve TCP.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> v0: ndp   |=====| v1                  |
#	|  capture <-'        |     | TCP receiver        |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_ndp
setup_ns a b
link_ab

# worst NDP_FRAMES NDP_BYTES OTHER_BYTES: largest difference between the shares,
# in bytes, while both had packets queued
worst() {
	sort -s -k5n "$TMP/result" | awk -v n="$1" -v nl="$2" -v ol="$3" '
		$2 == 0 { next }	# the plug
		{ order[++k] = $2 <= n }
		END {
			for (i = 1; i <= k; i++) {
				left[order[i]]++
			}
			for (i = 1; i <= k && left[0] && left[1]; i++) {
				ahead += order[i] ? nl : -ol
				left[order[i]]--
				if (ahead > max) max = ahead
				if (-ahead > max) max = -ahead
			}
			print max + 0
		}'
}

# run NDP_FRAMES NDP_BYTES OTHER OTHER_FRAMES OTHER_BYTES
run() {
	local longest=$(($2 > $5 ? $2 : $5))
	ndp limit 100 hlimit 100000 rate 1kbit
	check_to "$TMP/result" "$1 NDP packets of $2 bytes and $4 $3 packets of $5 bytes leave" \
		send_frames -s "$a/v0" -c "out=$a/v0/out/$((1 + $1 + $4))" -x "$(release)" \
		"$PLUG" "udp4,len=$2,n=$1" "$3,len=$5,n=$4"
	check "packets of $2 and $5 bytes: shares differ by at most one packet" \
		test "$(worst "$1" "$2" "$5")" -le "$longest"
}

run 20 1500 tcp4 20 1500
run 8 9000 tcp6 60 1000
run 60 500 raw 10 1500
run 90 100 tcp4 8 1500	# headers count as NDP traffic

# TCP against NDP datagrams that could fill the port alone
ndp rate 10mbit
job traffic tcp-receive -n "$b" -p 5001 >"$TMP/tcp"
receiver=$!
wait_for 5 listening 5001
job traffic udp -n "$a" -d 10.0.0.2 -p 61199 -l 1400 >/dev/null
wait_for 5 sch_counts trimmed_arrival_packets
job traffic tcp-send -n "$a" -d 10.0.0.2 -p 5001 -c 2000000
wait_for 5 sch_counts other.sent_packets
before=$(sch_stats)
wait "$receiver" || true
after=$(sch_stats)
check_eq "TCP delivers all bytes beside an NDP flood" \
	"$(cat "$TMP/tcp")" "received 2000000"
shares=$(jq -n --argjson x "$before" --argjson y "$after" '
	($y.other.sent_bytes - $x.other.sent_bytes) as $other |
	($y.data.sent_bytes + $y.header.sent_bytes -
	 $x.data.sent_bytes - $x.header.sent_bytes) as $ndp |
	{tcp: ($other / ($other + $ndp)), ndp: ($ndp / ($other + $ndp))}')
note "shares: $shares"
if [ -n "${KSFT_MACHINE_SLOW:-}" ]; then
	skip "TCP and an NDP flood have at least 40 % each" "this machine may be too slow to fill the port"
else
	check_json "$shares" "TCP and an NDP flood have at least 40 % each" '.tcp >= 0.4 and .ndp >= 0.4'
fi
finish

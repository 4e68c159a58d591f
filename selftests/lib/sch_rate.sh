# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The built-in shaper of a qdisc. A test sources this file after link_ab.
# shellcheck disable=SC2154 # setup_ns sets a and b

# The kernel's own IPv6 packets, which it sends some time after the link comes up, would be counted.
ip netns exec "$a" tee /proc/sys/net/ipv6/conf/v0/disable_ipv6 >/dev/null <<<1

# test_rate NAME BITS_PER_SECOND BYTES_ON_WIRE FRAME: check the time that 200 frames take
test_rate() {
	local what=$1 ideal=$((200 * 8 * $3 * 1000000 / ($2 / 1000)))
	check_to "$TMP/result" "$what: 200 frames leave" \
		send_frames -s "$a/v0" -c "out=$a/v0/out/201" "$4" "$4,n=200"
	span=$(sort -k5n "$TMP/result" | awk 'NR == 1 { first = $5 } { last = $5 } END { printf "%.0f", last - first }')
	note "$what: $span ns, exact: $ideal ns"
	# after being late, the shaper catches up by at most 1 ms
	check "$what: frames leave no faster than the rate" test "$span" -ge $((ideal * 99 / 100 - 1000000))
	if [ -n "${KSFT_MACHINE_SLOW:-}" ]; then
		skip "$what: frames leave no slower than the rate" "slow machine"
	else
		check "$what: frames leave no slower than the rate" test "$span" -le $((ideal * 110 / 100))
	fi
}

# test_rate_changes OPTION...: test a change of the rate and a parent that stalls; OPTIONs leave room for 40 packets
test_rate_changes() {
	local span
	tc -n "$a" qdisc change dev v0 root "$SCH" rate 1kbit
	check "higher rate releases queued packets at once" send_frames -s "$a/v0" \
		-c "out=$a/v0/out/4" -x "tc -n $a qdisc change dev v0 root $SCH rate 100mbit" "$PLUG" udp4,n=3

	# While tbf holds the packets back, the shaper earns no credit for a burst.
	tc -n "$a" -batch - <<-END
		qdisc replace dev v0 root handle 1: tbf rate 8kbit burst 1600 limit 10mb
		qdisc add dev v0 parent 1: $SCH $* rate 10mbit
	END
	check_to "$TMP/result" "31 frames leave after the parent has stalled" \
		send_frames -s "$a/v0" -c "out=$a/v0/out/31" \
		-x "sleep 0.2; tc -n $a qdisc change dev v0 root handle 1: tbf rate 1gbit burst 100kb limit 10mb" \
		udp4,len=1500,n=31
	span=$(sort -k5n "$TMP/result" | awk 'NR == 3 { first = $5 } { last = $5 } END { printf "%.0f", last - first }')
	note "28 packet times: $span ns, exact: 33600000 ns"
	check "no burst follows a stall of the parent" test "$span" -ge 31000000
}

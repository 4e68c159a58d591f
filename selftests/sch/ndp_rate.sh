#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The built-in shaper never sends faster than its rate, frame by frame,
# overhead included; and, on a machine that is not slow, not slower either.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> v0: ndp   |=====| v1                  |
#	|  capture <-'        |     |                     |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_ndp
setup_ns a b
link_ab

# run WHAT BITS_PER_SECOND BYTES_ON_WIRE FRAME: 200 frames
run() {
	local what=$1 ideal=$((200 * 8 * $3 * 1000000 / ($2 / 1000)))
	check_to "$TMP/result" "$what: 200 frames leave" \
		ndp_packets -s "$a/v0" -c "out=$a/v0/out/201" "$4" "$4,n=200"
	span=$(sort -k5n "$TMP/result" | awk 'NR == 1 { first = $5 } { last = $5 } END { printf "%.0f", last - first }')
	note "$what: $span ns, exact: $ideal ns"
	# the shaper makes up for at most 1 ms
	check "$what: not faster" test "$span" -ge $((ideal * 99 / 100 - 1000000))
	if [ -n "${KSFT_MACHINE_SLOW:-}" ]; then
		skip "$what: not slower" "the machine may be"
	else
		check "$what: not slower" test "$span" -le $((ideal * 110 / 100))
	fi
}

ndp limit 300 rate 10mbit
run "10 Mbit/s, 1000 bytes" 10000000 1000 udp4,len=1000
ndp limit 300 rate 10mbit overhead 256
run "10 Mbit/s, 200 + 256 bytes" 10000000 456 udp4,len=200
ndp limit 300 rate 40mbit
run "40 Mbit/s, other traffic" 40000000 2000 tcp4,len=2000

tc -n "$a" qdisc change dev v0 root ndp rate 1kbit
check "a change of the rate releases what waits" ndp_packets -s "$a/v0" \
	-c "out=$a/v0/out/4" -x "tc -n $a qdisc change dev v0 root ndp rate 100mbit" "$PLUG" udp4,n=3

# While tbf holds the packets back, no credit grows for a burst.
tc -n "$a" -batch - <<-END
	qdisc replace dev v0 root handle 1: tbf rate 8kbit burst 1600 limit 10mb
	qdisc add dev v0 parent 1: ndp limit 300 rate 10mbit
END
check_to "$TMP/result" "a parent stands still, then lets go: 31 frames leave" \
	ndp_packets -s "$a/v0" -c "out=$a/v0/out/31" \
	-x "sleep 0.2; tc -n $a qdisc change dev v0 root handle 1: tbf rate 1gbit burst 100kb limit 10mb" \
	udp4,len=1500,n=31
span=$(sort -k5n "$TMP/result" | awk 'NR == 3 { first = $5 } { last = $5 } END { printf "%.0f", last - first }')
note "28 packet times: $span ns, exact: 33600000 ns"
check "and no burst follows" test "$span" -ge 31000000
finish

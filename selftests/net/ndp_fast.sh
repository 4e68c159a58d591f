#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# How long messages take, at 10 Gbit/s and behind a switch that trims, where time is
# virtual: one flow, an incast, priorities, fair shares.
# shellcheck disable=SC2154 # setup_ns sets the namespaces
. "$(dirname "$0")/../lib/lib.sh"
exact || skip_all "time is real"
need_closwire
need_ndp
. "$(dirname "$0")/../lib/ndp.sh"
hosts=8
star $hosts 10gbit
switch limit 8

# line_us BYTES: what so many take on the line, in packets of 9000 bytes
line_us() { echo $(($1 * 8 * 9038 / 8916 / 10000)); }
# within WHAT PERCENT LEAST: the last message came so long after the optimum, at most
within() {
	local us
	us=$(said us receive)
	check "$1: $us us, optimum $3" test "$us" -ge "$3" -a $((us * 100)) -le $(($3 * (100 + $2)))
}

rx=(receive -v -n "$r" -p 9 -r 33554432)
tx=(send -n "$h1" -d 10.0.0.100 -p 9)
messages "one message of 32 MB" "${rx[@]}" -l 32m -- "${tx[@]}" -l 32m
within "one message of 32 MB" 8 "$(line_us $((32 << 20)))"
messages "300 messages of 100 kB" "${rx[@]}" -c 300 -l 100k -- "${tx[@]}" -c 300 -l 100k
within "300 messages of 100 kB" 5 "$(line_us $((300 * 102400)))"
check_eq "nothing is sent again" "$(said rtx)" 0
messages "1 byte" "${rx[@]}" -l 1 -- "${tx[@]}" -l 1
check "1 byte: $(said us receive) us, no round trip" test "$(said us receive)" -lt 12
messages "a request, after an answer" "${rx[@]}" -l 1000 -- "${tx[@]}" -l 1000

# spread: of the times of the last messages of senders: the last over the first, in percent
spread() {
	sed -n 's/^from .* us=//p' "$TMP/msgs" | sort -n |
		awk 'NR == 1 { first = $1 } { last = $1 } END { print int(last * 100 / first) }'
}
for bytes in 100000 1000000; do
	incast "8 of $bytes bytes" 1 $bytes
	within "8 of $bytes bytes" 12 "$(line_us $((8 * bytes)))"
	check "all end together: the last $(spread) % of the first" test "$(spread)" -le 160
	check_eq "no timeout" "$(said timeouts)" 0
done

# ---- priorities

messages "priority" "${rx[@]}" -s 4 -l 3m -- send -n "$h1" -P 2001 -d 10.0.0.100 -p 9 -l 3m -- \
	send -n "$h2" -P 2002 -d 10.0.0.100 -p 9 -l 3m -- send -n "$h3" -P 2003 -d 10.0.0.100 -p 9 -l 3m -- \
	send -n "$h4" -P 2004 -o 6 -d 10.0.0.100 -p 9 -l 3m
us=$(sed -n 's/^from .* port=2004 .* us=//p' "$TMP/msgs")
best=$(line_us $((3 << 20)))
check "who has it takes $us us, alone it were $best" test $((us * 100)) -le $((best * 130))
within "all of them" 12 $((4 * best))
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Message completion times at 10 Gbit/s behind a trimming switch, in virtual time: one flow, an incast, priorities and
# fair shares.
# shellcheck disable=SC2154 # setup_ns sets the namespaces
. "$(dirname "$0")/../lib/lib.sh"
exact || skip_all "needs virtual time"
need_closwire
need_ndp
. "$(dirname "$0")/../lib/ndp.sh"
hosts=8
star $hosts 10gbit
switch limit 8

# line_us BYTES: transmission time of BYTES of payload in packets of 9000 bytes, in µs
line_us() { echo $(($1 * 8 * 9038 / 8916 / 10000)); }
# within NAME PERCENT OPTIMUM: check that the last message arrived at most PERCENT after the optimum, which is in µs
within() {
	local us
	us=$(total us receive)
	check "$1 takes $us µs, at most $2 % above the optimum of $3 µs" \
		test "$us" -ge "$3" -a $((us * 100)) -le $(($3 * (100 + $2)))
}

rx=(receive -v -n "$r" -p 9 -r 33554432)
tx=(send -n "$h1" -d 10.0.0.100 -p 9)
messages "one message of 32 MB arrives" "${rx[@]}" -l 32m -- "${tx[@]}" -l 32m
within "one message of 32 MB" 8 "$(line_us $((32 << 20)))"
messages "300 messages of 100 kB arrive" "${rx[@]}" -c 300 -l 100k -- "${tx[@]}" -c 300 -l 100k
within "a sequence of 300 messages of 100 kB" 5 "$(line_us $((300 * 102400)))"
check_eq "no packet of 300 messages is retransmitted" "$(total rtx)" 0
messages "a message of 1 byte arrives" "${rx[@]}" -l 1 -- "${tx[@]}" -l 1
check "a message of 1 byte takes no round trip: $(total us receive) µs" test "$(total us receive)" -lt 12
messages "a request of 1000 bytes arrives" "${rx[@]}" -l 1000 -- "${tx[@]}" -l 1000

# spread: completion time of the last sender relative to the first, in percent
spread() {
	sed -n 's/^from .* us=//p' "$TMP/msgs" | sort -n |
		awk 'NR == 1 { first = $1 } { last = $1 } END { print int(last * 100 / first) }'
}
default=$(in_ns "$r" sysctl -n net.ndp.pull_policy)
for bytes in 100000 1000000; do
	incast "incast of 8 messages of $bytes bytes" 1 $bytes
	within "incast of 8 messages of $bytes bytes" 12 "$(line_us $((8 * bytes)))"
	check_eq "incast of $bytes bytes has no timeout" "$(total timeouts)" 0
	in_ns "$r" sysctl -qw net.ndp.pull_policy=0
	incast "fair incast of 8 messages of $bytes bytes" 1 $bytes
	within "fair incast of 8 messages of $bytes bytes" 12 "$(line_us $((8 * bytes)))"
	check "incast of $bytes bytes is fair: last sender takes $(spread) % of the first's time" test "$(spread)" -le 160
	check_eq "fair incast of $bytes bytes has no timeout" "$(total timeouts)" 0
	in_ns "$r" sysctl -qw net.ndp.pull_policy="$default"
done

# ---- priorities

messages "messages of four senders arrive, one with priority 6" \
	"${rx[@]}" -s 4 -l 3m -- send -n "$h1" -P 2001 -d 10.0.0.100 -p 9 -l 3m -- \
	send -n "$h2" -P 2002 -d 10.0.0.100 -p 9 -l 3m -- send -n "$h3" -P 2003 -d 10.0.0.100 -p 9 -l 3m -- \
	send -n "$h4" -P 2004 -o 6 -d 10.0.0.100 -p 9 -l 3m
us=$(sed -n 's/^from .* port=2004 .* us=//p' "$TMP/msgs")
best=$(line_us $((3 << 20)))
check "sender with priority takes $us µs, at most 30 % above $best µs alone" \
	test $((us * 100)) -le $((best * 130))
within "sending four messages of 3 MB" 12 $((4 * best))
finish

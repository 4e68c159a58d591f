#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Who may choose the congestion control, that all bytes arrive with each kind of
# address and qdisc, that a connection begins at line rate and paces at what ss
# shows and SO_MAX_PACING_RATE allows, and whose counters are whose.
#
#	+--------- a ---------+     +--------- b ---------+
#	| sender -> w0        |=====| w1 -> receiver      |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
need_cc dcqcn
# who has once made it the default, as another test may have, has opened it for all
rmmod tcp_dcqcn && load_module tcp_dcqcn
setup_ns a b
. "$(dirname "$0")/../lib/tcp_dcqcn.sh"
. "$(dirname "$0")/../lib/tcp_who.sh"
wire_ab rate 500mbit delay 20us

test_who 1

# ---- addresses and directions

ip netns exec "$a" tee /proc/sys/net/ipv6/conf/w0/disable_ipv6 >/dev/null <<<0
ip netns exec "$b" tee /proc/sys/net/ipv6/conf/w1/disable_ipv6 >/dev/null <<<0
ip -n "$a" addr add fd00::1/64 dev w0 nodad
ip -n "$b" addr add fd00::2/64 dev w1 nodad
ip -n "$a" neigh replace fd00::2 lladdr $MAC_B nud permanent dev w0
ip -n "$b" neigh replace fd00::1 lladdr $MAC_A nud permanent dev w1
netem=$(tc -n "$a" qdisc add dev w0 root netem limit 10000 2>&1 && echo yes)
for address in 10.0.0.2 fd00::2 ::ffff:10.0.0.2; do
	FLOW=(-d "$address" listener-cc=dcqcn)
	mark
	marks=$(cc_counter ce_packets "$b")
	check "$address: data arrives" flow cc=dcqcn connect is=dcqcn send=100000 \
		${netem:+"$MARK"} send=300000 ${netem:+"$MARK_NOT"} send=1000000 close eof
	check_eq "$address: a connection" "$(since connections)" 1
	[ -n "$netem" ] || continue
	check "$address: marks arrive" test $(($(cc_counter ce_packets "$b") - marks)) -ge 100
	check "$address: CNPs cut the rate" test "$(since cnp_handled)" -ge 2
	check "$address: it rises again" test $(($(since fast_recovery) + $(since additive_increase))) -ge 2
done
FLOW=(listener-cc=dcqcn)
check_eq "what b did is not a's" "$(cc_counter cnp_sent) $(cc_counter ce_packets) $(cc_counter cnp_handled "$b")" "0 0 0"
check "both directions" flow cc=dcqcn connect send=300000 swap is=dcqcn send=300000 close eof

# ---- rates

tc -n "$a" qdisc del dev w0 root 2>/dev/null
# shown WORD: the value of ss's WORD:VALUE, or of "WORD VALUE"
shown() { grep -oE "$1[: ][^ ,)]+" "$TMP/info" | head -n 1 | sed 's/^[^: ]*[: ]//'; }
check_to "$TMP/info" "ss shows a connection before it has sent anything" flow cc=dcqcn connect "$INFO" close eof
check "by its name" grep -qw dcqcn "$TMP/info"
check_eq "its rate is the line's, alpha is 1" "$(shown bw) $(shown pacing_gain) $(shown cwnd_gain)" \
	"$(line_rate 500)bps 0.941406 1"
check_eq "so fast it paces" "$(shown pacing_rate)" "$(line_rate 500)bps"
check_to "$TMP/info" "a maximum of the socket's" \
	flow cc=dcqcn max-rate=2500000 connect send=300000 "$INFO" close eof
check_eq "it paces no faster" "$(shown pacing_rate)" 20000000bps/20000000bps
params rpg_max_rate=40
check_to "$TMP/info" "rpg_max_rate: data arrives" flow cc=dcqcn connect send=1000000 "$INFO" close eof
check_eq "it paces no faster" "$(shown bw) $(shown pacing_rate)" "40000000bps 40000000bps"
params rpg_max_rate=0

wire_set "$a/w0" rate 200mbit
check_to "$TMP/info" "a slower line" flow cc=dcqcn connect send=100000 "$INFO" close eof
check_eq "its rate" "$(shown bw)" "$(line_rate 200)bps"
check_to "$TMP/info" "a line that gets faster" flow cc=dcqcn connect send=100000 \
	"run=ip -n $a link set w0 type closwire rate 500mbit" send=1000000 "run=ip -n $a link set w0 type closwire rate 300mbit" \
	send=1000000 "$INFO" close eof
check_eq "and slower: its rate" "$(shown bw)" "$(line_rate 300)bps"
wire_set "$a/w0" rate 500mbit

takes() {
	local bytes=$1 began=${EPOCHREALTIME/./}
	shift
	flow cc=dcqcn "$@" connect "send=$bytes" close eof || return
	ms=$(((${EPOCHREALTIME/./} - began) / 1000))
	note "$*: $ms ms"
}
paces() {
	takes 1000000 max-rate=4000000 && [ "$ms" -ge 210 ]
}
check "without fq TCP paces" paces
if tc -n "$a" qdisc replace dev w0 root fq 2>/dev/null; then
	check "fq paces" paces
	check "fq: data arrives" flow cc=dcqcn connect send=3000000 close eof
fi
finish

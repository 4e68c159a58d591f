#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Who may choose the congestion control, where its RTTs come from, that all
# bytes arrive with each kind of address and qdisc, and that the rate is what
# ss shows and SO_MAX_PACING_RATE allows.
#
#	+--------- a ---------+     +--------- b ---------+
#	| sender -> w0 stamps |=====| w1 -> receiver      |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
need_cc timely
# who has once made it the default, as another test may have, has opened it for all
rmmod tcp_timely && load_module tcp_timely
setup_ns a b
. "$(dirname "$0")/../lib/timely.sh"
. "$(dirname "$0")/../lib/tcp_who.sh"
wire_ab rate 500mbit delay 20us
calm_params

# ---- who may

test_who 0

# ---- sources of RTTs

mark
long_flow cc=timely connect
check "no stamps: the driver's time" wait_for 30 grown samples_sw 200
check_eq "nothing else but for the first ACKs" "$(($(since samples_rtt) <= 20)) $(since samples_hw)" "1 0"
stamps "$a/w0" 1
check_stamped "hardware stamps: the NIC's time" 1000
[ -n "${KSFT_MACHINE_SLOW:-}" ] ||
	check "and hardly another" test $((($(since samples_sw) + $(since samples_rtt)) * 2)) -le "$(since samples_hw)"
check "all bytes arrive" end_flow
check "the NIC's clock is watched" test "$(nicclock "$a" w0 stamps)" -ge 100
check_eq "its rate is known" "$(nicclock "$a" w0 rate_Mbps)" 500
mark
check "source=rtt" params source=rtt
check "source=rtt: data arrives" flow cc=timely connect send=3000000 close eof
check "source=rtt: TCP's time" grown samples_rtt 20
check_eq "and nothing else" "$(since samples_hw) $(since samples_sw) $(since samples_owd)" "0 0 0"
check "source=sw" params source=sw
check "source=sw: data arrives" flow cc=timely connect send=3000000 close eof
check "source=sw: the driver's time" grown samples_sw 20
check_eq "not the NIC's" "$(since samples_hw)" 0
mark
check "source=hw" params source=hw
check "source=hw: data arrives" flow cc=timely connect send=3000000 close eof
check_eq "not the driver's" "$(since samples_sw)" 0
check "but samples" test $(($(since samples_hw) + $(since samples_rtt))) -ge 20
params source=auto

# ---- addresses

ip netns exec "$a" tee /proc/sys/net/ipv6/conf/w0/disable_ipv6 >/dev/null <<<0
ip netns exec "$b" tee /proc/sys/net/ipv6/conf/w1/disable_ipv6 >/dev/null <<<0
ip -n "$a" addr add fd00::1/64 dev w0 nodad
ip -n "$b" addr add fd00::2/64 dev w1 nodad
ip -n "$a" neigh replace fd00::2 lladdr $MAC_B nud permanent dev w0
ip -n "$b" neigh replace fd00::1 lladdr $MAC_A nud permanent dev w1
for address in fd00::2 ::ffff:10.0.0.2; do
	FLOW=(-d "$address")
	mark
	check "$address: data arrives" flow cc=timely connect is=timely send=3000000 close eof
	check "$address: RTTs by a stamp" test $(($(since samples_hw) + $(since samples_sw))) -ge 20
done
FLOW=()

# ---- rates

# shown WORD: the value of ss's WORD:VALUE, or of "WORD VALUE"
shown() { grep -oE "$1[: ][^ ,)]+" "$TMP/info" | head -n 1 | sed 's/^[^: ]*[: ]//'; }
check_to "$TMP/info" "ss shows a connection" \
	flow cc=timely connect send=3000000 "$INFO" close eof
check "by its name" grep -qw timely "$TMP/info"
check_eq "its rate is the line's" "$(shown bw) $(shown pacing_gain)" "$(line_rate 500)bps 0.941406"
check_eq "so fast it paces" "$(shown pacing_rate)" "$(line_rate 500)bps"
check "its last RTT" test -n "$(shown mrtt)"
check_to "$TMP/info" "a maximum of the socket's" \
	flow cc=timely max-rate=2500000 connect send=300000 "$INFO" close eof
check_eq "it paces no faster" "$(shown pacing_rate)" 20000000bps/20000000bps
check "max_rate" params max_rate=40
check_to "$TMP/info" "max_rate: data arrives" \
	flow cc=timely connect send=1000000 "$INFO" close eof
check_eq "it paces no faster" "$(shown bw) $(shown pacing_rate)" "40000000bps 40000000bps"
params max_rate=0

# takes BYTES STEP...: sets ms to how long a connection takes for so many bytes
takes() {
	local bytes=$1 began=${EPOCHREALTIME/./}
	shift
	flow cc=timely "$@" connect "send=$bytes" close eof || return
	ms=$(((${EPOCHREALTIME/./} - began) / 1000))
	note "$*: $ms ms"
}
paces() {
	takes 2000000 max-rate=4000000 && [ "$ms" -ge 420 ]
}
check "without fq TCP paces" paces
tc -n "$a" qdisc replace dev w0 root fq || skip_all "no fq"
check "fq paces" paces
mark
check "fq: data arrives" flow cc=timely connect send=3000000 close eof
check "fq: samples" test $(($(since samples_hw) + $(since samples_sw))) -ge 10
finish

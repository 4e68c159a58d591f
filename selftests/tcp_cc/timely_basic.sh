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
. "$(dirname "$0")/../lib/tcp_basic.sh"
calm_params

# ---- who may

test_who 0

# ---- sources of RTTs

mark
long_flow cc=timely connect
# a worker switches the time stamps of arriving packets on; what came before has none
check "no stamps: the driver's time" wait_for 30 grown samples_sw 20
mark
check "and again" wait_for 30 grown samples_sw 200
check_eq "nothing else" "$(($(since samples_rtt) <= 20)) $(since samples_hw)" "1 0"
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

wire_ipv6
for address in fd00::2 ::ffff:10.0.0.2; do
	FLOW=(-d "$address")
	mark
	check "$address: data arrives" flow cc=timely connect is=timely send=3000000 close eof
	check "$address: RTTs by a stamp" test $(($(since samples_hw) + $(since samples_sw))) -ge 20
done
FLOW=()

# ---- rates

check_to "$TMP/info" "ss shows a connection" \
	flow cc=timely connect send=3000000 "$INFO" close eof
check "by its name" grep -qw timely "$TMP/info"
check_eq "its rate is the line's" "$(shown bw) $(shown pacing_gain)" "$(line_rate 500)bps 0.941406"
check_eq "so fast it paces" "$(shown pacing_rate)" "$(line_rate 500)bps"
check "its last RTT" test -n "$(shown mrtt)"
test_max_rate max_rate

# the line gets faster; the application uses less than 80% of what was, then all
wire_set "$a/w0" rate 100mbit delay 1ms
slow=()
for ((i = 0; i < 10; i++)); do
	slow+=(send=2896)
done
mark
check_to "$TMP/info" "a slow application" flow cc=timely connect send=300000 \
	"run=sleep 0.1; ip -n $a link set w0 type closwire rate 500mbit" "${slow[@]}" "$INFO" close eof
check_eq "its rate does not rise" "$(shown bw)" "$(line_rate 100)bps"
check "though it could" test "$(since app_limited)" -ge 5
wire_set "$a/w0" rate 100mbit
check_to "$TMP/info" "a fast one" flow cc=timely connect send=300000 \
	"run=ip -n $a link set w0 type closwire rate 500mbit" send=3000000 "$INFO" close eof
# a machine that is late may have taken something for a loss by then
check "its rate rises" test "$(ss_number bw <"$TMP/info")" -gt "$(line_rate 100)"
wire_set "$a/w0" delay 20us

mark
test_paces
check "samples" test $(($(since samples_hw) + $(since samples_sw))) -ge 10
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Permission to choose timely, the source of its RTT samples, data transfer with
# each kind of address and qdisc, the rate in ss and the limit by
# SO_MAX_PACING_RATE.
#
#	+--------- a ---------+     +--------- b ---------+
#	| sender -> w0 stamps |=====| w1 -> receiver      |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
need_cc timely
# a test that made timely the default has also permitted it to all users; reloading undoes that
rmmod tcp_timely && load_module tcp_timely
setup_ns a b
. "$(dirname "$0")/../lib/timely.sh"
. "$(dirname "$0")/../lib/tcp_permission.sh"
wire_ab rate 500mbit delay 20us
. "$(dirname "$0")/../lib/tcp_basic.sh"
high_thresholds

# ---- permission

test_permission 0

# ---- sources of RTTs

mark
long_flow cc=timely connect
# A worker enables software timestamps of arriving packets, with a short delay.
check "without hardware timestamps, RTTs use software timestamps" wait_for 30 grown samples_sw 20
mark
check "RTTs keep using software timestamps" wait_for 30 grown samples_sw 200
check_eq "without hardware timestamps, at most 20 RTTs use another source" \
	"$(($(since samples_rtt) <= 20)) $(since samples_hw)" "1 0"
stamps "$a/w0" 1
check_stamped "RTTs use hardware timestamps when the NIC has them" 1000
[ -n "${KSFT_MACHINE_SLOW:-}" ] || check "with hardware timestamps, at most a third of the RTTs use another source" \
	test $((($(since samples_sw) + $(since samples_rtt)) * 2)) -le "$(since samples_hw)"
check "all data arrives while the source changes" end_flow
check "nicclock counts timestamps of the NIC" test "$(nicclock "$a" w0 stamps)" -ge 100
check_eq "the link's rate is shown" "$(nicclock "$a" w0 rate_Mbps)" 500
mark
check "source=rtt is accepted" params source=rtt
check "source=rtt: data arrives" flow cc=timely connect send=3000000 close eof
check "source=rtt: samples are TCP's RTTs" grown samples_rtt 20
check_eq "source=rtt: no sample uses a timestamp" "$(since samples_hw) $(since samples_sw) $(since samples_owd)" "0 0 0"
check "source=sw is accepted" params source=sw
check "source=sw: data arrives" flow cc=timely connect send=3000000 close eof
check "source=sw: samples use software timestamps" grown samples_sw 20
check_eq "source=sw: no sample uses a hardware timestamp" "$(since samples_hw)" 0
mark
check "source=hw is accepted" params source=hw
check "source=hw: data arrives" flow cc=timely connect send=3000000 close eof
check_eq "source=hw: no sample uses a software timestamp" "$(since samples_sw)" 0
check "source=hw: samples use hardware timestamps or TCP's RTT" \
	test $(($(since samples_hw) + $(since samples_rtt))) -ge 20
params source=auto

# ---- addresses

wire_ipv6
for address in fd00::2 ::ffff:10.0.0.2; do
	FLOW=(-d "$address")
	mark
	check "$address: data arrives" flow cc=timely connect is=timely send=3000000 close eof
	check "$address: RTTs use timestamps" test $(($(since samples_hw) + $(since samples_sw))) -ge 20
done
FLOW=()

# ---- rates

check_to "$TMP/info" "data arrives over an uncongested link" \
	flow cc=timely connect send=3000000 "$INFO" close eof
check "ss shows the name timely" grep -qw timely "$TMP/info"
check_eq "an uncongested connection has line rate" "$(shown bw) $(shown pacing_gain)" "$(line_rate 500)bps 0.941406"
check_eq "an uncongested connection paces at line rate" "$(shown pacing_rate)" "$(line_rate 500)bps"
check "ss shows the last RTT" test -n "$(shown mrtt)"
test_max_rate max_rate

# The link gets faster. First the application uses less than 80 % of the old rate, then all it can get.
wire_set "$a/w0" rate 100mbit delay 1ms
slow=()
for ((i = 0; i < 10; i++)); do
	slow+=(send=2896)
done
mark
check_to "$TMP/info" "data of a slow application arrives" flow cc=timely connect send=300000 \
	"run=sleep 0.1; ip -n $a link set w0 type closwire rate 500mbit" "${slow[@]}" "$INFO" close eof
check_eq "an application-limited connection keeps its rate" "$(shown bw)" "$(line_rate 100)bps"
check "samples are counted as application-limited" test "$(since app_limited)" -ge 5
wire_set "$a/w0" rate 100mbit
check_to "$TMP/info" "data of a fast application arrives" flow cc=timely connect send=300000 \
	"run=ip -n $a link set w0 type closwire rate 500mbit" send=3000000 "$INFO" close eof
# on a slow machine, TCP may have assumed a loss by then
check "a faster link raises the rate" test "$(ss_number bw <"$TMP/info")" -gt "$(line_rate 100)"
wire_set "$a/w0" delay 20us

mark
test_paces
check "paced connections have RTT samples" test $(($(since samples_hw) + $(since samples_sw))) -ge 10
finish

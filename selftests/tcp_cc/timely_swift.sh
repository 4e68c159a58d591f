#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# mode=swift: the delay and its target set window and rate, the target follows the
# hops of the path, hardware timestamps reveal the delay in the sender's own stack,
# each retransmission timeout reduces the window, and lone bursts raise it.
#
#	+--------- a ---------+     +--------- b ---------+
#	| swift -> w0         |=====| w1 -> receiver      |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
exact || skip_all "virtual time only: delays are compared with targets of microseconds"
need_closwire
need_cc timely
setup_ns a b
. "$(dirname "$0")/../lib/timely.sh"
wire_ab rate 1gbit delay 20us
. "$(dirname "$0")/../lib/tcp_loss.sh"

# swift PARAMETER...: mode swift with the empty path's RTT, which is above the default of min_rtt, and these parameters
swift() {
	default_params
	params mode=swift min_rtt=60 "$@"
}

# shown WORD PARAMETER...: send 3 MB in mode swift with these parameters, and print the number that ss shows for WORD
shown() {
	local word=$1
	shift
	swift "$@"
	mark
	flow cc=timely connect send=3000000 "$INFO" close eof | ss_number "$word"
}

# ---- delay and target

# ss shows the rate after the last burst: one burst per RTT, 280 Mbit/s, if min_rate is not above it

check_eq "a target above all delays raises the rate to max_rate" "$(shown bw target=100000 max_rate=200)" 200000000
check "a target above all delays gives increases" test "$(since swift_up)" -ge 50
check_eq "a target above all delays gives no decrease" "$(since swift_down)" 0
check_eq "a target below the path's RTT lowers the rate to min_rate" \
	"$(shown bw target=1 fs_range=1 min_rate=400)" 400000000
check "a target below the path's RTT gives decreases" test "$(since swift_down)" -ge 10
check_eq "a target below the path's RTT gives no increase" "$(since swift_up)" 0
check_eq "mode swift makes no update of the other modes" \
	"$(($(since rate_start) + $(since rate_low) + $(since rate_high) + $(since rate_mul) + $(since rate_ref)))" 0
check_eq "a window below one packet is shown as its fraction" "$(shown cwnd_gain target=1 fs_range=1 min_rate=50 |
	cut -d . -f 1)" 0
check "a window below one packet leaves TCP room for two bursts" \
	test "$(shown cwnd target=1 fs_range=1 min_rate=50)" -le 4
check "the default target keeps at least 95 % of the link busy" \
	test "$(shown bw)" -ge $(($(line_rate 1000) * 95 / 100))
check_eq "the default target with a min_rtt below the path's RTT lowers the rate to min_rate" \
	"$(shown bw min_rtt=20 fs_range=1 min_rate=400)" 400000000
shown bw ai=0.500 max_mdf=0.300 >/dev/null
check "ai and max_mdf: all data arrives" test "$(since swift_up)" -ge 10

# ---- hops

check_eq "hop does not matter on a path without switches" \
	"$(shown bw target=1 fs_range=1 min_rate=400 hop=4000)" 400000000
ip -n "$b" route replace 10.0.0.0/24 dev w1 hoplimit 60
check_eq "hop raises the target on a path of four switches" \
	"$(shown bw target=1 fs_range=1 min_rate=50 max_rate=200 hop=4000)" 200000000
ip -n "$b" route replace 10.0.0.0/24 dev w1 hoplimit 125
check_eq "hops are counted from a TTL of 128, too" \
	"$(shown bw target=1 fs_range=1 min_rate=50 max_rate=200 hop=4000)" 200000000
ip -n "$b" route replace 10.0.0.0/24 dev w1

# ---- endpoint delay

stamps "$a/w0" 1
swift target=100000
long_flow cc=timely connect send=1000000
check_stamped "RTTs use hardware timestamps" 200
mark
check "samples continue" wait_for 20 grown samples_hw 200
check_eq "interrupts at once: the endpoint delay limits nothing" "$(since swift_host)" 0
ip netns exec "$a" ethtool -C w0 rx-usecs 300
mark
check "interrupts after 300 us: the endpoint delay limits the window" wait_for 20 grown swift_host 10
check_eq "interrupts after 300 us: the fabric delay limits nothing" "$(since swift_down)" 0
check "all data arrives while the endpoint delay changes" end_flow
mark
params source=sw
check "source=sw: all data arrives" flow cc=timely connect send=3000000 close eof
check_eq "source=sw: the endpoint delay is unknown and limits nothing" "$(since swift_host)" 0
ip netns exec "$a" ethtool -C w0 rx-usecs 0
stamps "$a/w0" 0

# ---- losses

# timeouts MODE: number of cuts by six timeouts in a row; $TMP/during has the output of ss after them
timeouts() {
	default_params
	params "mode=$1" target=1000000 t_high=1000000 t_low=900000
	count_from_here
	flow cc=timely connect send=300000 "$(loss 100)" fill "$(wait_step TCPTimeouts 6)" \
		"run=ip netns exec $a ss -Htine dport = 5001 >$TMP/during" "$(loss 0)" receive send=300000 close eof \
		>/dev/null && since losses
}
check "mode swift: each of six timeouts cuts the window" test "$(timeouts swift)" -ge 6
check_eq "mode swift: five timeouts in a row reset the window" "$(ss_number cwnd_gain <"$TMP/during" | cut -d . -f 1)" 0
check "mode classic: timeouts in a row cut the rate once" test "$(timeouts classic)" -le 2
swift
test_frames_lost "mode swift"
test_timeouts

# ---- RPCs and idle periods

# cut_window PAUSE STEP...: lower the window by a long delay, then STEPs on the short path after PAUSE seconds
cut_window() {
	local pause=$1
	shift
	flow cc=timely connect send=100000 "run=ip -n $a link set w0 type closwire delay 2ms" send=250000 \
		"run=ip -n $a link set w0 type closwire delay 20us; sleep $pause" "$@" "$INFO" close eof
}
swift min_rate=1 beta=0.8 max_mdf=0.9
mark
check_to "$TMP/rpc" "RPCs after congestion complete" cut_window 0 rpc=20
check "RPCs after congestion raise the window" test "$(since rate_lone)" -ge 1
mark
check_to "$TMP/idle" "data arrives after an idle period" cut_window 1 send=1448
check_eq "after an idle period, the window starts anew" "$(since idle_restarts)" 1
check_eq "after an idle period, the rate is the link's" "$(ss_number bw <"$TMP/idle")" "$(line_rate 1000)"
shown bw profile=paper >/dev/null
check "profile=paper: the window changes" test "$(since swift_up)" -ge 10

if trace_cc; then
	swift
	mark
	flow cc=timely connect send=3000000 close eof
	ports=' src=10\.0\.0\.1:[0-9]+ dst=10\.0\.0\.2:5001'
	fields='fabric_ns=[0-9]+ host_ns=[0-9]+ fabric_cwnd=[0-9]+ host_cwnd=[0-9]+ rate_Bps=[0-9]+ cause=[a-z]+'
	check "there are timely_swift events" test "$(traced timely_swift | wc -l)" -ge 20
	check_eq "each timely_swift event has all its fields" "$(traced timely_swift | grep -cvE "$ports $fields\$")" 0
else
	skip "trace events" "no tracefs"
fi
finish

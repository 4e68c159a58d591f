#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each sysctl accepts exactly its range and logs the range otherwise. Each network
# namespace has its own values, and a connection keeps the values of its start. The
# sysctls and the profile change the rate, the window and the CNPs accordingly.
#
#	+--------- a ---------+     +--------- b ---------+
#	| sender -> netem, w0 |=====| w1 -> receiver      |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
need_cc dcqcn
setup_ns a b
. "$(dirname "$0")/../lib/tcp_dcqcn.sh"
. "$(dirname "$0")/../lib/tcp_sysctl.sh"
wire_ab rate 500mbit delay 20us

# ---- ranges

RANGE="paper or nic or tuned" range profile paper tuned 0 1 Paper "paper nic" Tuned
RANGE="cut_first or alpha_first" range order cut_first alpha_first 0 cut
range rpg_time_reset 0 1000000 1000001 0.5
range rpg_byte_reset 0 1000000000 1000000001 32k
range rpg_threshold 0 254 255
range rpg_ai_rate 0 1000000 1000001
range rpg_hai_rate 0 1000000 1000001
range rpg_min_rate 0 1000000 1000001
range rpg_max_rate 0 1000000 1000001
range dce_tcp_g 0 65536 65537 1/256
range dce_tcp_rtt 0 1000000 1000001
range initial_alpha_value 0.000 1.000 "${FRACTIONS[@]}"
range np_min_time_between_cnps 0 1000000 1000001
range rate_reduce_monitor_period 0 1000000 1000001
range seg_kb 0 64 65
range cap 0 1048576 1048577
range line_rate 0 1000000 1000001

# ---- while a connection runs

constant_params
long_flow cc=dcqcn max-rate=2500000 connect send=300000
params rpg_max_rate=40
check_eq "a new connection uses a changed parameter" \
	"$(flow -p 5002 cc=dcqcn connect send=300000 "${INFO/5001/5002}" close eof | ss_number bw)" 40000000
check "an old connection keeps its parameter" test "$(bw_of 5001)" -gt 40000000
check "connections work while parameters change" churn rpg_max_rate
check "all data of the old connection arrives" end_flow
default_params

# ---- effects

check_eq "line_rate replaces the device's link rate" \
	"$(params line_rate=250 && flow cc=dcqcn connect send=1000 "$INFO" close eof | ss_number bw)" "$(line_rate 250)"
default_params
mss=$(flow cc=dcqcn connect send=3000 "$INFO" close eof | ss_number mss)
check_eq "cap is the window in KiB" \
	"$(params cap=300 && flow cc=dcqcn connect send=3000000 "$INFO" close eof | ss_number cwnd)" $((300 * 1024 / mss))
default_params
# window NAME=VALUE...: window with profile=tuned after 3 MB without marks
window() {
	params profile=tuned "$@"
	flow cc=dcqcn connect send=3000000 "$INFO" close eof | ss_number cwnd
}
check_eq "profile=tuned has a window of 100 µs of the rate" "$(window line_rate=10000)" \
	$(($(line_rate 10000) / 8 / 10000 / mss))
default_params
check_eq "profile=tuned, cap and a fourth of the line rate make a fourth of the window" \
	"$(window cap=300 rpg_max_rate=125)" $((300 * 1024 / 4 / mss))
default_params

if trace_cc && tc -n "$a" qdisc add dev w0 root netem limit 10000; then
	full=$(full_Bps 500)
	# one_mark NAME=VALUE...: rate (of line rate) and alpha after a single mark, in thousandths
	one_mark() {
		default_params
		constant_params
		params "$@"
		trace_again
		flow cc=dcqcn connect send=100000 "$MARK" send=1000 "$MARK_NOT" send=3000 close eof || return
		rates cause rate_Bps alpha | awk -v full="$full" '$1 == "cnp" { printf "%.0f %d\n", $2 * 1000 / full, $3 }'
	}
	check_eq "initial_alpha_value=0.5 cuts the rate by a quarter" "$(one_mark initial_alpha_value=0.5)" "750 501"
	check_eq "initial_alpha_value=0 cuts nothing with order=cut_first" "$(one_mark initial_alpha_value=0)" "1000 3"
	check_eq "dce_tcp_g=4 raises alpha by a quarter" "$(one_mark initial_alpha_value=0 dce_tcp_g=4)" "1000 250"
	check_eq "order=alpha_first cuts by the raised alpha" \
		"$(one_mark initial_alpha_value=0 dce_tcp_g=4 order=alpha_first)" "875 250"
	check_eq "rpg_min_rate limits a cut" "$(one_mark rpg_min_rate=400)" "$(((400 * 125000000 + full / 2) / full)) 1000"

	# all_marked NAME=VALUE...: send 500 kB with marks, then 500 kB without, over which the rate rises
	all_marked() {
		default_params
		params "$@"
		trace_again
		mark
		flow cc=dcqcn connect send=100000 "$MARK" send=500000 "$MARK_NOT" send=500000 close eof
	}
	# shortest_gap: the shortest time between two CNPs in µs, by the receiver's clock
	shortest_gap() { traced dcqcn_cnp | sed 's/.*wait_ns=//' | sed 1d | sort -n | awk 'NR == 1 { print int($1 / 1000) }'; }
	# between VALUE MIN MAX; MAX holds in virtual time only
	between() { echo "$1" && [ "$1" -ge "$2" ] && { ! exact || [ "$1" -le "$3" ]; }; }
	check "all data arrives with np_min_time_between_cnps=200" all_marked np_min_time_between_cnps=200
	check "np_min_time_between_cnps=200 keeps CNPs 200 µs apart" between "$(shortest_gap)" 200 320
	# the receiver's socket is an IPv6 socket
	count_lines() { grep -cE "$1" || true; }
	check_eq "each dcqcn_rate event has all its fields" \
		"$(sender_rates | count_lines ' src=10\.0\.0\.1:[0-9]+ dst=10\.0\.0\.2:5001 rate_Bps=[0-9]+ '\
'target_Bps=[0-9]+ alpha=[0-9]+ timer_stage=[0-9]+ byte_stage=[0-9]+ cause=[a-z]+$')" "$(sender_rates | count_lines .)"
	check_eq "each dcqcn_cnp event has all its fields" "$(traced dcqcn_cnp | count_lines \
		' src=\[::ffff:10\.0\.0\.2\]:5001 dst=\[::ffff:10\.0\.0\.1\]:[0-9]+ wait_ns=[0-9]+$')" \
		"$(traced dcqcn_cnp | count_lines .)"
	check "all data arrives with profile=nic" all_marked profile=nic
	check "profile=nic keeps CNPs at least 4 µs apart" between "$(shortest_gap)" 4 49
	check "profile=nic has a byte counter of 32767 bytes" test "$(rates byte_stage | sort -n | tail -n 1)" -ge 5
	check "profile=nic has F = 1, so that hyper increase begins early" test "$(since hyper_increase)" -ge 1
	mark
	check "all data arrives with profile=tuned" all_marked profile=tuned
	check "profile=tuned keeps CNPs at least 25 µs apart" between "$(shortest_gap)" 25 49
	mark
	check "all data arrives with rpg_threshold=254" one_mark rpg_threshold=254 rpg_time_reset=10000
	check_eq "rpg_threshold=254 allows fast recovery only" "$(since additive_increase) $(since hyper_increase)" "0 0"
	if exact; then
		check "all data arrives with rpg_ai_rate=7" all_marked rpg_ai_rate=7 rpg_threshold=1 rpg_time_reset=5000
		# unless limited, the target rises by one step, or by several that were due at once
		check "rpg_ai_rate is the step of R_T" test "$(rates cause target_Bps timer_stage | awk '
			$1 == "additive" && was == "additive" && $3 > stage && $2 == target + ($3 - stage) * 875000 { n++ }
			{ was = $1; target = $2; stage = $3 } END { print n + 0 }')" -ge 1
		check "rate_reduce_monitor_period=1000 is accepted" params rate_reduce_monitor_period=1000
		trace_again
		ip netns exec "$a" sysctl -qw net.ipv4.tcp_ecn=1
		flow listener-cc=cubic cc=cubic connect cc=dcqcn send=100000 "$MARK" send=1000000 "$MARK_NOT" send=100000 close eof
		ip netns exec "$a" sysctl -qw net.ipv4.tcp_ecn=2
		cuts_spaced() {
			sender_rates | grep cause=cnp | grep -oE '[0-9]+\.[0-9]{6}' |
				awk 'NR > 1 && ($1 - last) * 1000000 < 499 { print $1 - last; bad = 1 } { last = $1 } END { exit bad || NR < 3 }'
		}
		check "rate_reduce_monitor_period=1000 keeps cuts by ECE at least 500 µs apart" cuts_spaced
		default_params
		params profile=tuned
		trace_again
		tc -n "$a" qdisc replace dev w0 root netem limit 10000 delay 10ms
		flow cc=dcqcn connect send=100000 "${MARK/limit/delay 10ms limit}" send=1000 \
			"${MARK_NOT/limit/delay 10ms limit}" send=100000 close eof
		# no timer event of the sender is earlier than a fifth of the delay after the one before it
		round_trip() {
			sender_rates | sed -E 's/.* ([0-9]+\.[0-9]{6}): .* timer_stage=([0-9]+) .* cause=([a-z]+)$/\1 \2 \3/' |
				awk '$3 == "cnp" { cut = $1 } cut && $2 { n++; bad += $2 * 0.002 > $1 - cut + 0.000001 }
					END { print n + 0, "increases,", bad + 0, "too early"; exit bad || !n }'
		}
		check "profile=tuned: fast recovery lasts a round trip of 10 ms" round_trip
	else
		skip "rpg_ai_rate, rate_reduce_monitor_period" "time is real"
	fi
	default_params
	tc -n "$a" qdisc del dev w0 root
else
	skip "effects of the parameters on the rate" "no trace events, or no netem"
fi

# ---- network namespaces

test_namespaces rpg_ai_rate 3 4 x
check "tcp_dcqcn unloads" unload_cc
load_module tcp_dcqcn
check_eq "reloading restores the defaults" "$(current_params)" "$DEFAULTS"
finish

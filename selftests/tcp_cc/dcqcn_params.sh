#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each sysctl takes its range and nothing else, and says what it would take;
# each network namespace has its own; a connection keeps what it began with; and
# what shows from outside follows the sysctls and the profile.
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
. "$(dirname "$0")/../lib/knobs.sh"
wire_ab rate 500mbit delay 20us

# ---- ranges

RANGE="paper or nic or tuned" range profile paper tuned 0 1 Paper "paper nic"
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
range seg_kb 4 64 3 65
range cap 0 1048576 1048577
range line_rate 0 1000000 1000001

# ---- while a connection runs

# bw_of PORT: the rate of its connection
bw_of() { info "$1" | ss_number bw; }
still_params
long_flow cc=dcqcn max-rate=2500000 connect send=300000
params rpg_max_rate=40
check_eq "a parameter changes: a new connection has it" \
	"$(flow -p 5002 cc=dcqcn connect send=300000 "${INFO/5001/5002}" close eof | ss_number bw)" 40000000
check "the old one has not" test "$(bw_of 5001)" -gt 40000000
# churn: connections come and go while the parameters change and are freed
churn() {
	local i
	for ((i = 0; i < 5; i++)); do
		params rpg_max_rate=$((40 + i)) cap=$((1000 + i)) || return
		flow -p 5002 cc=dcqcn connect send=50000 \
			"run=ip netns exec $a sh -c 'echo $((2000 + i)) >$PARAMETERS/cap'" send=50000 close eof || return
	done
}
check "parameters change under connections" churn
check "all bytes arrive" end_flow
default_params

# ---- what they do

check_eq "line_rate is that of the device" \
	"$(params line_rate=250 && flow cc=dcqcn connect send=1000 "$INFO" close eof | ss_number bw)" "$(line_rate 250)"
default_params
mss=$(flow cc=dcqcn connect send=3000 "$INFO" close eof | ss_number mss)
check_eq "cap is the window" \
	"$(params cap=300 && flow cc=dcqcn connect send=3000000 "$INFO" close eof | ss_number cwnd)" $((300 * 1024 / mss))
default_params

if trace_cc && tc -n "$a" qdisc add dev w0 root netem limit 10000; then
	full=$(full_Bps 500)
	# one_mark NAME=VALUE...: what a single mark makes of rate and alpha, in thousandths
	one_mark() {
		default_params
		still_params
		params "$@"
		trace_again
		flow cc=dcqcn connect send=100000 "$MARK" send=1000 "$MARK_NOT" send=3000 close eof || return
		rates cause rate_Bps alpha | awk -v full="$full" '$1 == "cnp" { printf "%.0f %d\n", $2 * 1000 / full, $3 }'
	}
	check_eq "initial_alpha_value 0.5" "$(one_mark initial_alpha_value=0.5)" "750 501"
	check_eq "initial_alpha_value 0: no cut, if the cut comes first" "$(one_mark initial_alpha_value=0)" "1000 3"
	check_eq "and dce_tcp_g: alpha's rise" "$(one_mark initial_alpha_value=0 dce_tcp_g=4)" "1000 250"
	check_eq "order=alpha_first: the rise counts" "$(one_mark initial_alpha_value=0 dce_tcp_g=4 order=alpha_first)" "875 250"
	check_eq "rpg_min_rate: no less" "$(one_mark rpg_min_rate=400)" "$(((400 * 125000000 + full / 2) / full)) 1000"

	# all_marked NAME=VALUE...: 500 kB with marks, then a rise over 500 kB
	all_marked() {
		default_params
		params "$@"
		trace_again
		mark
		flow cc=dcqcn connect send=100000 "$MARK" send=500000 "$MARK_NOT" send=500000 close eof
	}
	# waits: the least time between two CNPs, in us; what the receiver's clock says
	waits() { traced dcqcn_cnp | sed 's/.*wait_ns=//' | sed 1d | sort -n | awk 'NR == 1 { print int($1 / 1000) }'; }
	between() { echo "$1" && [ "$1" -ge "$2" ] && { ! exact || [ "$1" -le "$3" ]; }; }
	check "np_min_time_between_cnps=200" all_marked np_min_time_between_cnps=200
	check "CNPs are as far from each other" between "$(waits)" 200 320
	# the receiver's socket is of IPv6
	words() { grep -cE "$1" || true; }
	check_eq "each rate has its words" "$(sender_rates | words ' src=10\.0\.0\.1:[0-9]+ dst=10\.0\.0\.2:5001 rate_Bps=[0-9]+ '\
'target_Bps=[0-9]+ alpha=[0-9]+ timer_stage=[0-9]+ byte_stage=[0-9]+ cause=[a-z]+$')" "$(sender_rates | words .)"
	check_eq "each CNP has its words" "$(traced dcqcn_cnp | words \
		' src=\[::ffff:10\.0\.0\.2\]:5001 dst=\[::ffff:10\.0\.0\.1\]:[0-9]+ wait_ns=[0-9]+$')" "$(traced dcqcn_cnp | words .)"
	check "profile=nic" all_marked profile=nic
	check "CNPs may be 4 us from each other" between "$(waits)" 4 49
	check "the byte counter counts 32767 bytes" test "$(rates byte_stage | sort -n | tail -n 1)" -ge 5
	check "F is 1: hyper increase comes early" test "$(since hyper_increase)" -ge 1
	mark
	check "rpg_threshold=254" one_mark rpg_threshold=254 rpg_time_reset=10000
	check_eq "there is fast recovery only" "$(since additive_increase) $(since hyper_increase)" "0 0"
	if exact; then
		check "rpg_ai_rate" all_marked rpg_ai_rate=7 rpg_threshold=1 rpg_time_reset=5000
		# where the target rises without a limit, it is by the step, or by several that were due at once
		check "is the step of R_T" test "$(rates cause target_Bps timer_stage | awk '
			$1 == "additive" && was == "additive" && $3 > stage && $2 == target + ($3 - stage) * 875000 { n++ }
			{ was = $1; target = $2; stage = $3 } END { print n + 0 }')" -ge 1
		check "rate_reduce_monitor_period=1000, to a receiver that is no NP" \
			params rate_reduce_monitor_period=1000
		trace_again
		ip netns exec "$a" sysctl -qw net.ipv4.tcp_ecn=1
		flow listener-cc=cubic cc=cubic connect cc=dcqcn send=100000 "$MARK" send=1000000 "$MARK_NOT" send=100000 close eof
		ip netns exec "$a" sysctl -qw net.ipv4.tcp_ecn=2
		apart() {
			sender_rates | grep cause=cnp | grep -oE '[0-9]+\.[0-9]{6}' |
				awk 'NR > 1 && ($1 - last) * 1000000 < 499 { print $1 - last; bad = 1 } { last = $1 } END { exit bad || NR < 3 }'
		}
		check "cuts keep apart" apart
	else
		skip "rpg_ai_rate, rate_reduce_monitor_period" "time is real"
	fi
	default_params
	tc -n "$a" qdisc del dev w0 root
else
	skip "what parameters do to the rate" "no trace events, or no netem"
fi

# ---- whose they are

test_namespaces rpg_ai_rate 3 4 x
check "no connection is left" unload_cc
load_module tcp_dcqcn
check_eq "the defaults again" "$(current_params)" "$DEFAULTS"
finish

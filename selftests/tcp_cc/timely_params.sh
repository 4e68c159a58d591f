#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each sysctl takes its range and nothing else, and says what it would take;
# each network namespace has its own; a connection keeps what it began with; and
# what shows from outside follows the sysctls and the profile.
#
#	+--------- a ---------+     +--------- b ---------+
#	| sender -> w0        |=====| w1 -> receiver      |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
need_cc timely
setup_ns a b
. "$(dirname "$0")/../lib/timely.sh"
. "$(dirname "$0")/../lib/knobs.sh"
wire_ab rate 500mbit delay 20us

# ---- ranges

range alpha 0.000 1.000 "${FRACTIONS[@]}"
range beta 0.000 1.000 "${FRACTIONS[@]}"
range delta 0 100000 100001 0.5 0x10 1k
write_params t_low=0
range t_high 1 1000000 0 1000001 1.5
write_params t_high=1000000
range t_low 0 1000000 1000001
# shellcheck disable=SC2086 # words
write_params t_low=0 $DEFAULTS
range min_rtt 1 1000000 0 1000001
range hai_n 1 100 0 101
range hai_threshold 1 255 0 256
range seg_kb 4 64 3 65
range min_rate 0 1000000 1000001
range max_rate 0 1000000 1000001
range cap 0 1048576 1048577
range line_rate 0 1000000 1000001
range prompt_ack 0 1 2 y
RANGE="paper or tuned" range profile paper tuned 0 1 Paper nic "paper tuned"
RANGE="profile or classic or patched" range mode classic patched 0 1 Classic patch "classic patched"
RANGE="rtt or sw or hw or auto" range source rtt hw nic
RANGE="rtt or owd" range signal rtt owd both

check "fractions may be written in other ways" write_params alpha=1 beta=00.25
check_eq "they are the same" "$(<"$PARAMETERS/alpha") $(<"$PARAMETERS/beta")" "1.000 0.250"
# all_fractions: what is read can be written and is the same
all_fractions() {
	local i text
	for ((i = 1; i <= 1000; i += 7)); do
		printf -v text %d.%03d $((i / 1000)) $((i % 1000))
		takes alpha "$text" || return
	done
}
check "fractions are read as they were written" all_fractions
write_params alpha=0 beta=0
check "t_low above t_high" logs 1 "t_low must be at most t_high: 501 is above 500 us" write_params t_low=501
check "t_high below t_low" logs 1 "t_low must be at most t_high: 50 is above 49 us" write_params t_high=49
check_eq "they stay" "$(<"$PARAMETERS/t_low") $(<"$PARAMETERS/t_high")" "50 500"
check "both the same" write_params t_low=500 t_low=50 t_high=50 t_high=500

# ---- while a connection runs

# bw_of PORT: the rate of its connection
bw_of() { info "$1" | ss_number bw; }
params t_high=1000000 t_low=900000 delta=1
long_flow cc=timely connect send=500000
mark
params max_rate=40 min_rate=40
check "a parameter changes: the connection goes on" wait_for 10 grown samples_sw 20
check_eq "a new one has the new rate" \
	"$(flow -p 5002 cc=timely connect send=300000 "run=ip netns exec $a ss -Htine dport = 5002" close eof |
		ss_number bw)" 40000000
# a machine that is late may have taken something for a loss by then
check "the old one is not bound by it" test "$(bw_of 5001)" -gt 40000000
# churn: connections come and go while the parameters change and are freed
churn() {
	local i
	for ((i = 0; i < 5; i++)); do
		params max_rate=$((40 + i)) cap=$((1000 + i)) || return
		flow -p 5002 cc=timely connect send=50000 \
			"run=ip netns exec $a sh -c 'echo $((2000 + i)) >$PARAMETERS/cap'" send=50000 close eof || return
	done
}
check "parameters change under connections" churn
check "all bytes arrive" end_flow
default_params

# ---- what they do

# shown WORD PARAMETER...: the number that ss shows after WORD, of a connection with these, when it has sent some
shown() {
	local word=$1
	shift
	default_params
	params "$@"
	flow cc=timely connect send=3000000 "$INFO" close eof |
		ss_number "$word"
}
check_eq "all RTTs are above t_high=1: down to min_rate" \
	"$(shown bw t_low=0 t_high=1 min_rate=100)" 100000000
check_eq "all are below t_low: at max_rate" \
	"$(shown bw t_high=1000000 t_low=1000000 max_rate=200)" 200000000
check_eq "line_rate is that of the device" \
	"$(shown bw t_high=1000000 t_low=1000000 line_rate=250 delta=10)" "$(line_rate 250)"
mss=$(shown mss t_high=1000000 t_low=1000000)
check_eq "cap is the window" "$(shown cwnd t_high=1000000 t_low=1000000 cap=300)" $((300 * 1024 / mss))

# counts NAME PARAMETER...: what 3 MB with these parameters count
counts() {
	local name=$1
	shift
	default_params
	params "$@"
	mark
	flow cc=timely connect send=3000000 close eof
	since "$name"
}
check_eq "mode=classic does not aim at a queue" \
	"$(counts rate_ref t_high=1000000 t_low=0 min_rate=100 mode=classic)" 0
check_eq "nor does profile=paper" "$(counts rate_ref t_high=1000000 t_low=0 min_rate=100 profile=paper)" 0
check_eq "the default, profile=tuned, does not" "$(counts rate_ref t_high=1000000 t_low=0 min_rate=100)" 0
check "profile=paper with mode=patched does" \
	test "$(counts rate_ref t_high=1000000 t_low=0 min_rate=100 profile=paper mode=patched)" -gt 10
check_eq "it has no hyperactive increase" "$(since rate_hai) $(since rate_mul)" "0 0"
check "hai_threshold=1: each increase is" \
	test "$(counts rate_hai t_high=1000000 t_low=0 min_rate=100 mode=classic alpha=1 hai_threshold=1)" -gt 5
check_eq "and none another" "$(since rate_add)" 0
check_eq "hai_n=1: none" \
	"$(counts rate_hai t_high=1000000 t_low=0 min_rate=100 mode=classic hai_threshold=1 hai_n=1)" 0
check "they are of the other kind" test "$(since rate_add)" -gt 5

if trace_cc; then
	# largest: bytes of the largest burst of 3 MB with seg_kb=$1
	largest() {
		counts samples_sw t_high=1000000 t_low=900000 min_rate=100 "seg_kb=$1" >/dev/null
		traced timely_sample | sed 's/.* bytes=//' | sort -n | tail -n 1
	}
	for kb in 4 16 64; do
		most=$(largest $kb)
		check_eq "seg_kb=$kb: an even number of packets is a burst" "$most" $((kb * 1024 / mss / 2 * 2 * mss))
	done
	# with no queue it is the two ways and an ACK, whatever the burst is: 1 ms on the line
	counts samples_sw t_high=1000000 t_low=900000 max_rate=400 seg_kb=64 >/dev/null
	least=$(traced timely_sample | grep -F " bytes=$most" | grep -oE ' rtt_ns=[0-9]+' | sort -t = -n -k 2 | head -n 1)
	if exact; then
		check "an RTT has no time on the line in it:$least" test "${least#*=}" -ge 40000 -a "${least#*=}" -le 100000
	else
		skip "an RTT has no time on the line in it:$least" "time is real"
	fi
	check_eq "each sample has its words" "$(traced timely_sample | grep -cvE \
		' src=10\.0\.0\.1:[0-9]+ dst=10\.0\.0\.2:5001 source=(hw|sw|rtt) rtt_ns=[0-9]+ send_ns=[0-9]+ wire_ns=[0-9]+ bytes=[0-9]+$')" 0
	check_eq "each rate has its words" "$(traced timely_rate | grep -cvE \
		' src=10\.0\.0\.1:[0-9]+ dst=10\.0\.0\.2:5001 rtt_ns=[0-9]+ diff_ns=-?[0-9]+ gradient=-?[0-9]+ rate_Bps=[0-9]+ cause=[a-z]+$')" 0
else
	skip "seg_kb, and what trace events say" "no tracefs"
fi
default_params

# ---- whose they are

test_namespaces t_high 300 400 0
check "no connection is left" unload_cc
load_module tcp_timely
check_eq "the defaults again" "$(current_params)" "$DEFAULTS"
finish

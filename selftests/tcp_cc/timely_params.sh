#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each sysctl accepts exactly its range and logs the range otherwise. Each network
# namespace has its own values, and a connection keeps the values of its start. The
# sysctls and the profile change the rate, the window and the bursts accordingly.
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
. "$(dirname "$0")/../lib/tcp_sysctl.sh"
wire_ab rate 500mbit delay 20us

# ---- ranges

range alpha 0.000 1.000 "${FRACTIONS[@]}"
range beta 0.000 1.000 "${FRACTIONS[@]}"
range delta 0 100000 100001 0.5 0x10 1k
write_params t_low=1
range t_high 0 1000000 1000001 1.5
write_params t_high=1000000
range t_low 0 1000000 1000001
# shellcheck disable=SC2086 # words
write_params t_low=1 $DEFAULTS
range min_rtt 0 1000000 1000001
range hai_n 1 100 0 101
range hai_threshold 1 255 0 256
range target 0 1000000 1000001
range hop 0 4000 4001
range fs_range 0 1000000 1000001
range ai 0.000 100.000 100.001 1001 -1 0.0001
range max_mdf 0.001 0.999 0.000 1.000
range host_target 1 1000000 0 1000001
range seg_kb 4 64 3 65
range min_rate 0 1000000 1000001
range max_rate 0 1000000 1000001
range cap 0 1048576 1048577
range line_rate 0 1000000 1000001
range prompt_ack 0 1 2 y
RANGE="paper or tuned" range profile paper tuned 0 1 Paper nic "paper tuned"
RANGE="profile or classic or patched or swift" \
	range mode classic swift 0 1 Classic patch "classic patched"
RANGE="rtt or sw or hw or auto" range source rtt hw nic
RANGE="rtt or owd" range signal rtt owd both

check "fractions are accepted with any number of digits up to three decimals" write_params alpha=1 beta=00.25
check_eq "fractions are read with three decimals" "$(<"$PARAMETERS/alpha") $(<"$PARAMETERS/beta")" "1.000 0.250"
# all_fractions: fractions from 0.001 to 0.995 read back as written
all_fractions() {
	local i text
	for ((i = 1; i <= 1000; i += 7)); do
		printf -v text %d.%03d $((i / 1000)) $((i % 1000))
		takes alpha "$text" || return
	done
}
check "fractions read back as written" all_fractions
write_params alpha=0 beta=0
check "t_low above t_high is refused" logs 1 "t_low must be at most t_high: 501 is above 500 us" write_params t_low=501
check "t_high below t_low is refused" logs 1 "t_low must be at most t_high: 50 is above 49 us" write_params t_high=49
check_eq "refused values leave t_low and t_high unchanged" "$(<"$PARAMETERS/t_low") $(<"$PARAMETERS/t_high")" "0 0"
check "t_low may equal t_high" write_params t_low=500 t_low=50 t_high=50 t_high=500

# ---- while a connection runs

params t_high=1000000 t_low=900000 delta=1
long_flow cc=timely connect send=500000
mark
params max_rate=40 min_rate=40
check "an old connection continues after a parameter changed" wait_for 10 grown samples_sw 20
check_eq "a new connection uses a changed parameter" \
	"$(flow -p 5002 cc=timely connect send=300000 "${INFO/5001/5002}" close eof | ss_number bw)" 40000000
# on a slow machine, TCP may have assumed a loss by then
check "an old connection keeps its parameter" test "$(bw_of 5001)" -gt 40000000
check "connections work while parameters change" churn max_rate
check "all data of the old connection arrives" end_flow
default_params

# ---- effects

# shown WORD PARAMETER...: send 3 MB with these parameters, and print the number that ss shows for WORD
shown() {
	local word=$1
	shift
	default_params
	params "$@"
	flow cc=timely connect send=3000000 "$INFO" close eof |
		ss_number "$word"
}
check_eq "RTTs above t_high lower the rate to min_rate" \
	"$(shown bw t_low=1 t_high=1 min_rate=100)" 100000000
check_eq "RTTs below t_low raise the rate to max_rate" \
	"$(shown bw t_high=1000000 t_low=1000000 max_rate=200)" 200000000
check_eq "line_rate replaces the device's link rate" \
	"$(shown bw t_high=1000000 t_low=1000000 line_rate=250 delta=10)" "$(line_rate 250)"
mss=$(shown mss t_high=1000000 t_low=1000000)
check_eq "cap is the window in KiB" "$(shown cwnd t_high=1000000 t_low=1000000 cap=300)" $((300 * 1024 / mss))

# counts NAME PARAMETER...: send 3 MB with these parameters, and print the growth of counter NAME
counts() {
	local name=$1
	shift
	default_params
	params "$@"
	mark
	flow cc=timely connect send=3000000 close eof
	since "$name"
}
check_eq "mode=classic makes no update of mode=patched" \
	"$(counts rate_ref t_high=1000000 t_low=1 min_rate=100 mode=classic)" 0
check_eq "profile=paper makes no update of mode=patched" \
	"$(counts rate_ref t_high=1000000 t_low=1 min_rate=100 profile=paper)" 0
check_eq "profile=tuned makes no update of mode=patched" "$(counts rate_ref t_high=1000000 t_low=1 min_rate=100)" 0
check "profile=paper with mode=patched makes updates of mode=patched" \
	test "$(counts rate_ref t_high=1000000 t_low=1 min_rate=100 profile=paper mode=patched)" -gt 10
check_eq "mode=patched has no hyperactive increase" "$(since rate_hai) $(since rate_mul)" "0 0"
check "hai_threshold=1 has hyperactive increases" \
	test "$(counts rate_hai t_high=1000000 t_low=1 min_rate=100 mode=classic alpha=1 hai_threshold=1)" -gt 5
check_eq "hai_threshold=1 has no other increase" "$(since rate_add)" 0
check_eq "hai_n=1 has no hyperactive increase" \
	"$(counts rate_hai t_high=1000000 t_low=1 min_rate=100 mode=classic hai_threshold=1 hai_n=1)" 0
check "hai_n=1 has additive increases" test "$(since rate_add)" -gt 5

if trace_cc; then
	# largest KB: bytes of the largest burst with seg_kb=KB
	largest() {
		counts samples_sw t_high=1000000 t_low=900000 min_rate=100 "seg_kb=$1" >/dev/null
		traced timely_sample | sed 's/.* bytes=//' | sort -n | tail -n 1
	}
	for kb in 4 16 64; do
		most=$(largest $kb)
		check_eq "seg_kb=$kb: the largest burst has an even number of packets" "$most" $((kb * 1024 / mss / 2 * 2 * mss))
	done
	# Without a queue, an RTT is two propagation delays and an ACK. Serialization of the burst, 1 ms, is subtracted.
	counts samples_sw t_high=1000000 t_low=900000 max_rate=400 seg_kb=64 >/dev/null
	least=$(traced timely_sample | grep -F " bytes=$most" | grep -oE ' rtt_ns=[0-9]+' | sort -t = -n -k 2 | head -n 1)
	if exact; then
		check "an RTT excludes serialization:$least" test "${least#*=}" -ge 40000 -a "${least#*=}" -le 100000
	else
		skip "an RTT excludes serialization:$least" "time is real"
	fi
	ports=' src=10\.0\.0\.1:[0-9]+ dst=10\.0\.0\.2:5001'
	check_eq "each timely_sample event has all its fields" "$(traced timely_sample | grep -cvE \
		"$ports source=(hw|sw|rtt) rtt_ns=[0-9]+ send_ns=[0-9]+ wire_ns=[0-9]+ bytes=[0-9]+\$")" 0
	check_eq "each timely_rate event has all its fields" "$(traced timely_rate | grep -cvE \
		"$ports rtt_ns=[0-9]+ diff_ns=-?[0-9]+ gradient=-?[0-9]+ rate_Bps=[0-9]+ cause=[a-z]+\$")" 0
else
	skip "seg_kb and trace events" "no tracefs"
fi
default_params

# ---- network namespaces

test_namespaces t_high 300 400 1000001
check "tcp_timely unloads" unload_cc
load_module tcp_timely
check_eq "reloading restores the defaults" "$(current_params)" "$DEFAULTS"
finish

# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Tests of q_roce.so for plugin.sh
# shellcheck disable=SC2153,SC2154 # NAME: set by plugin.sh

defaults="profile tuned rpg_time_reset 0s rpg_byte_reset 0 rpg_threshold 0 dce_tcp_g 0 dce_tcp_rtt 0s \
initial_alpha_value 100% rate_reduce_monitor_period 0s order cut_first ect cnp consume np \
np_min_time_between_cnps 0s np_cnp_dscp 48 np_cnp_prio 6 ce keep limit 10000 qp_limit 1000 other_limit 1000 \
qps 1024 idle 10s overhead 24"

test_reading() {
	local word
	test_sent ""
	test_sent "PROFILE:32:0" profile paper
	test_sent "PROFILE:32:1" profile nic
	test_sent "PROFILE:32:2" profile tuned
	for word in rpg_time_reset dce_tcp_rtt rate_reduce_monitor_period np_min_time_between_cnps; do
		test_sent "${word^^}:32:0" $word 0
		test_sent "${word^^}:32:55" $word 55us
		test_sent "${word^^}:32:1000000" $word 1s
	done
	test_sent "RPG_BYTE_RESET:32:10485760" rpg_byte_reset 10mb
	for word in rpg_ai_rate rpg_hai_rate rpg_min_rate rpg_max_rate rate; do
		test_sent "${word^^}:64:5000000" $word 40mbit
		test_sent "${word^^}:64:0" $word 0
	done
	for word in rpg_threshold dce_tcp_g np_cnp_prio limit qp_limit other_limit qps; do
		test_sent "${word^^}:32:5" $word 5
	done
	test_sent "INITIAL_ALPHA_VALUE:32:2147483648" initial_alpha_value 50%
	test_sent "ORDER:32:0" order cut_first
	test_sent "ORDER:32:1" order alpha_first
	for word in ect np; do
		test_sent "${word^^}:32:1" $word
		test_sent "${word^^}:32:0" no$word
	done
	test_sent "CNP:32:0" cnp consume
	test_sent "CNP:32:1" cnp pass
	test_sent "NP_CNP_DSCP:32:46" np_cnp_dscp ef
	test_sent "CE:32:0" ce keep
	test_sent "CE:32:1" ce clear
	test_sent "IDLE:32:1500" idle 1.5ms
	test_sent "OVERHEAD:32:0" overhead 0
	test_sent "PROFILE:32:1 ECT:32:0 RATE:64:125 QPS:32:9" profile nic noect rate 1kbit qps 9
}

test_errors() {
	local word
	test_refused '"x"' x
	test_refused 'Usage: ... roce' limit 8 help
	test_refused 'Illegal "profile": "fast" is not paper, nic or tuned' profile fast
	test_refused 'Illegal "order": "x" is not cut_first or alpha_first' order x
	test_refused 'Illegal "cnp": "drop" is not consume or pass' cnp drop
	test_refused 'Illegal "ce": "set" is not keep or clear' ce set
	test_refused 'Illegal "idle": "5" is not a time with its unit' idle 5
	test_refused 'Illegal "rpg_ai_rate": "7bit" is not a rate' rpg_ai_rate 7bit
	test_refused 'Illegal "initial_alpha_value": "1" is not a percentage' initial_alpha_value 1
	test_refused 'Illegal "overhead": "x" is not a size in bytes' overhead x
	test_refused 'Illegal "qps": "1.5" is not a whole number' qps 1.5
	for word in profile rpg_time_reset rpg_byte_reset rpg_threshold rpg_ai_rate rpg_hai_rate rpg_min_rate rpg_max_rate \
		dce_tcp_g dce_tcp_rtt initial_alpha_value rate_reduce_monitor_period order cnp np_min_time_between_cnps \
		np_cnp_dscp np_cnp_prio ce limit qp_limit other_limit qps idle rate overhead; do
		test_refused "\"$word\" needs a value" $word
	done
}

test_printing() {
	test_round "$defaults"
	test_round "noect nonp"
	test_round "rpg_ai_rate 40Mbit rpg_max_rate 10Gbit rate 1Gbit"
	test_round "rpg_time_reset 55us initial_alpha_value 12.5% idle 1ms"
}

test_json() {
	local options
	read -ra options <<<"$defaults"
	set_options "${options[@]}" rate 1gbit rpg_ai_rate 40mbit
	check_eq "$NAME: JSON has all options" "$(jq -cS '.initial_alpha_value |= (. * 1e6 | round)' <<<"$(json)")" \
		"$(jq -cSn '{profile: "tuned", rpg_time_reset: 0, rpg_byte_reset: 0, rpg_threshold: 0, rpg_ai_rate: 5000000,
		dce_tcp_g: 0, dce_tcp_rtt: 0, initial_alpha_value: 1000000, rate_reduce_monitor_period: 0,
		order: "cut_first", ect: true, cnp: "consume", np: true, np_min_time_between_cnps: 0, np_cnp_dscp: 48,
		np_cnp_prio: 6, ce: "keep", limit: 10000, qp_limit: 1000, other_limit: 1000, qps: 1024, idle: 10000000,
		rate: 125000000, overhead: 24}')"
}

test_foreign_attributes() {
	test_made ""
	test_made "limit 8" LIMIT:32:8 99:32:5
	test_made "qps 5000000000" QPS:64:5000000000
	test_made "overhead 24" LIMIT:0:0 IDLE:0:0 RATE:0:0 ECT:0:0 OVERHEAD:16:24
	test_made "profile unknown" PROFILE:32:9
}

# queue NAME VALUE...: print a nest of counters, in the order of tc's output
queue() {
	local names=(QLEN_PACKETS BACKLOG_BYTES SENT_PACKETS SENT_BYTES) nest='' name=$1 value i=0
	shift
	for value in "$@"; do
		nest+=" ${names[i]}:64:$value"
		i=$((i + 1))
	done
	echo "$name(${nest# })"
}

counter_names=(QPS QPS_LIMITED FLOWS ECT_SET_PACKETS OVERFLOW_PACKETS RP_CNP_HANDLED RP_CNP_IGNORED RP_CNP_UNMATCHED
	RP_CNP_MALFORMED NP_ECN_MARKED_ROCE_PACKETS NP_CNP_SENT NP_UNPAIRED_PACKETS NOMEM_PACKETS DROPPED_LIMIT_PACKETS
	DROPPED_QP_PACKETS DROPPED_OTHER_PACKETS DROPPED_GSO_PACKETS DROPPED_CNP_PACKETS)

test_xstats() {
	local max=18446744073709551615 numbers=() queues name i=0 full
	queues=("$(queue ROCE 1 2 3 4)" "$(queue CNP 5 6 7 8)" "$(queue OTHER 9 10 11 12)")
	for name in "${counter_names[@]}"; do
		numbers+=("$name:64:$((20 + i))")
		i=$((i + 1))
	done
	numbers[16]=DROPPED_GSO_PACKETS:64:$max
	full="  roce  qlen 1p backlog 2b sent 3p 4b
  cnp   qlen 5p backlog 6b sent 7p 8b
  other qlen 9p backlog 10b sent 11p 12b
  qps 20 limited 21 flows 22 ect_set 23p overflow 24p
  rp_cnp_handled 25 rp_cnp_ignored 26 rp_cnp_unmatched 27 rp_cnp_malformed 28
  np_ecn_marked_roce_packets 29 np_cnp_sent 30 np_unpaired 31p nomem 32p
  dropped limit 33p qp 34p other 35p gso ${max}p cnp 37p"
	check_eq "$NAME: prints the statistics" "$(shown_xstats "${queues[@]}" "${numbers[@]}")" "$full"
	check_eq "$NAME: prints statistics of a newer kernel" \
		"$(shown_xstats 99:64:9 "${queues[@]/%)/ 98:64:9)}" "${numbers[@]}" 97:32:1)" "$full"
	check_eq "$NAME: prints statistics of an older kernel" "$(shown_xstats "$(queue ROCE 1 2)" QPS:64:3 | head -n 2)" \
		"  roce  qlen 1p backlog 2b
  qps 3"
	shown_xstats "${queues[@]}" "${numbers[@]}" >/dev/null
	check_eq "$NAME: JSON has all counters" "$(json_xstats | jq -c 'del(.dropped_gso_packets)')" \
		"$(for name in "${counter_names[@]:0:16}"; do echo "${name,,}"; done |
			jq -cRS '[., inputs] | to_entries | map({(.value): (.key + 20)}) | add + {dropped_cnp_packets: 37,
			roce: {qlen_packets: 1, backlog_bytes: 2, sent_packets: 3, sent_bytes: 4},
			cnp: {qlen_packets: 5, backlog_bytes: 6, sent_packets: 7, sent_bytes: 8},
			other: {qlen_packets: 9, backlog_bytes: 10, sent_packets: 11, sent_bytes: 12}}' | jq -cS .)"
}

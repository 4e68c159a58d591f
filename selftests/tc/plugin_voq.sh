# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Tests of q_voq.so for plugin.sh
# shellcheck disable=SC2153,SC2154 # NAME: set by plugin.sh

defaults="nocredit nogrant limit 10000 voq_limit 1000 queues 1024 quantum 3028 overhead 24 credit_size 8192 rtt 50us \
retry 1ms port 793"
hex=00112233445566778899aAbBcCdDeEfF

test_reading() {
	local word
	test_sent ""
	for word in credit grant; do
		test_sent "${word^^}:32:1" $word
		test_sent "${word^^}:32:0" no$word
	done
	for word in limit voq_limit queues port; do
		test_sent "${word^^}:32:5" $word 5
	done
	for word in quantum credit_size overhead; do
		test_sent "${word^^}:32:2048" $word 2kb
	done
	for word in voq_rate rate; do
		test_sent "${word^^}:64:5000000" $word 40mbit
		test_sent "${word^^}:64:0" $word 0
	done
	for word in rtt retry; do
		test_sent "${word^^}:32:55" $word 55us
	done
	test_sent "CREDIT:32:1 RATE:64:125 QUEUES:32:9" credit rate 1kbit queues 9
}

test_errors() {
	local word
	test_refused '"x"' x
	test_refused 'Usage: ... voq' limit 8 help
	test_refused 'Illegal "rtt": "5" is not a time with its unit' rtt 5
	test_refused 'Illegal "voq_rate": "7bit" is not a rate' voq_rate 7bit
	test_refused 'Illegal "credit_size": "x" is not a size in bytes' credit_size x
	test_refused 'Illegal "queues": "1.5" is not a whole number' queues 1.5
	test_refused 'Illegal "key": "..." is not 32 hexadecimal digits' key 0011
	test_refused 'Illegal "key": "..." is not 32 hexadecimal digits' key "${hex/0/x}"
	for word in limit voq_limit queues quantum voq_rate rate overhead credit_size rtt retry port key; do
		test_refused "\"$word\" needs a value" $word
	done
}

test_printing() {
	test_round "$defaults"
	test_round "credit nogrant"
	test_round "nocredit grant voq_rate 40Mbit rate 1Gbit"
}

test_json() {
	local options
	read -ra options <<<"$defaults"
	set_options "${options[@]:1}" rate 1gbit voq_rate 40mbit credit
	check_eq "$NAME: JSON has all options" "$(json | jq -cS .)" \
		"$(jq -cSn '{credit: true, grant: false, limit: 10000, voq_limit: 1000, queues: 1024, quantum: 3028,
		voq_rate: 5000000, rate: 125000000, overhead: 24, credit_size: 8192, rtt: 50, retry: 1000, port: 793}')"
}

test_foreign_attributes() {
	test_made ""
	test_made "limit 8" LIMIT:32:8 99:32:5
	test_made "overhead 24" LIMIT:0:0 RTT:0:0 RATE:0:0 OVERHEAD:16:24
}

counter_names=(QUEUES WAITING OPEN UNUSED_BYTES REQUESTS RETRIES GRANTS GRANTED_BYTES REFUSED IGNORED OPENED HELD
	WINDOW_FULL STALLED FORGOTTEN OVERFLOW_PACKETS DROPPED_LIMIT_PACKETS DROPPED_VOQ_PACKETS DROPPED_GSO_PACKETS
	NOMEM_MESSAGES RX_MALFORMED RX_PORT RX_NOT_AUTHENTIC)

test_xstats() {
	local max=18446744073709551615 numbers=() name i=0 full
	for name in "${counter_names[@]}"; do
		numbers+=("$name:64:$((20 + i))")
		i=$((i + 1))
	done
	numbers[22]=RX_NOT_AUTHENTIC:64:$max
	full="  queues 20 waiting 21 open 22 unused 23b overflow 35p
  requests 24 retries 25 grants 26 granted 27b refused 28 ignored 29 opened 30
  held 31 window_full 32 stalled 33 forgotten 34
  dropped limit 36p voq 37p gso 38p nomem_messages 39
  rx malformed 40 port 41 not_authentic $max"
	check_eq "$NAME: prints the statistics" "$(shown_xstats "${numbers[@]}")" "$full"
	check_eq "$NAME: prints statistics of a newer kernel" "$(shown_xstats 99:64:9 "${numbers[@]}" 97:32:1)" "$full"
	shown_xstats "${numbers[@]}" >/dev/null
	check_eq "$NAME: JSON has all counters" "$(json_xstats | jq -c 'del(.rx_not_authentic)')" \
		"$(for name in "${counter_names[@]:0:22}"; do echo "${name,,}"; done |
			jq -cRS '[., inputs] | to_entries | map({(.value): (.key + 20)}) | add')"
}

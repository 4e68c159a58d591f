# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Tests of q_ndp.so for plugin.sh
# shellcheck disable=SC2153 # NAME: set by plugin.sh

defaults="limit 0 limit_bytes auto hlimit auto ratio 10 trim_size 128 mode ndp match udp_port 61199 \
dscp_trimmed 48 norts dscp_returned 49 overhead 0 other_limit auto other_ecn 0 bands 1"

test_reading() {
	test_sent ""
	test_sent "LIMIT:32:8" limit 8
	test_sent "LIMIT_BYTES:32:72000" limit_bytes 72000
	test_sent "HLIMIT:32:65536" hlimit 64kb
	test_sent "HLIMIT:32:1048576" hlimit 1M
	test_sent "HLIMIT:32:1536" hlimit 1.5k
	test_sent "LIMIT_BYTES:32:0 HLIMIT:32:0 OTHER_LIMIT:32:0" limit_bytes auto hlimit auto other_limit auto
	test_sent "RATIO:32:100000" ratio 100000
	test_sent "TRIM_SIZE:32:64" trim_size 64b
	test_sent "MODE:32:0" mode ndp
	test_sent "MODE:32:1" mode cp
	test_sent "MODE:32:2" mode droptail
	test_sent "MATCH:32:0 UDP_PORT:32:4793" match udp_port 4793
	test_sent "MATCH:32:2" match all
	test_sent "MATCH:32:1 DSCP_MASK:64:1" match dscp be
	test_sent "MATCH:32:1 DSCP_MASK:64:$((1 << 46 | 1 << 8 | 7 << 1))" match dscp ef,cs1,1-3
	test_sent "MATCH:32:1 DSCP_MASK:64:$((1 << 10 | 1 << 11 | 1 << 12 | 1 << 38))" \
		match dscp af11-af12,af43
	test_sent "MATCH:32:1 DSCP_MASK:64:18446744073709551615" match dscp 0-63
	test_sent "MATCH:32:1 DSCP_MASK:64:9223372036854775808" match dscp 63
	test_sent "DSCP_TRIMMED:32:48" dscp_trimmed cs6
	test_sent "DSCP_RETURNED:32:34" dscp_returned af41
	test_sent "RTS:32:1" rts
	test_sent "RTS:32:0" norts
	test_sent "RATE:64:1250000000" rate 10gbit
	test_sent "RATE:64:1500" rate 1500bps
	test_sent "RATE:64:1099511627776" rate 1099511627776bps
	test_sent "RATE:64:0" rate 0
	test_sent "OVERHEAD:32:24" overhead 24
	test_sent "OTHER_LIMIT:32:1073741824" other_limit 1g
	test_sent "OTHER_ECN:32:30000" other_ecn 30000
	test_sent "BANDS:32:8" bands 8
	test_sent "LIMIT:32:8 RTS:32:0 RATE:64:125000000" limit 8 norts rate 1gbit
}

test_errors() {
	local word
	test_refused 'unknown option "x"' x
	test_refused 'Usage: ... ndp' limit 8 help
	test_refused 'Illegal "match": "tcp" is not udp_port, dscp or all' match tcp
	test_refused 'Illegal "mode": "red" is not ndp, cp or droptail' mode red
	for word in limit ratio bands; do
		test_refused "Illegal \"$word\": \"8p\" is not a whole number" $word 8p
		test_refused "Illegal \"$word\": \"4294967296\" is not" $word 4294967296
	done
	for word in trim_size overhead other_ecn; do
		test_refused "Illegal \"$word\": \"x\" is not a size in bytes" $word x
	done
	for word in limit_bytes hlimit other_limit; do
		test_refused "Illegal \"$word\": \"x\" is not auto or a size in bytes" $word x
		test_refused "Illegal \"$word\": \"0\" is not auto or a size in bytes" $word 0
	done
	for word in -1 1.5 4gb 1q nan inf ""; do
		test_refused "Illegal \"trim_size\": \"$word\" is not a size in bytes" trim_size "$word"
	done
	for word in dscp_trimmed dscp_returned; do
		test_refused "Illegal \"$word\": \"64\" is not a DSCP" $word 64
		test_refused "Illegal \"$word\": \"cs8\" is not a DSCP" $word cs8
		test_refused "Illegal \"$word\": \"af14\" is not a DSCP" $word af14
	done
	for word in 64 5-3 1,,2 "1," 1- -1 cs1x ""; do
		test_refused "Illegal \"match dscp\": \"$word\" is not a list of DSCPs" \
			match dscp "$word"
	done
	for word in 65536 http -1 ""; do
		test_refused "Illegal \"match udp_port\": \"$word\" is not a port" \
			match udp_port "$word"
	done
	for word in fast 7bit -1gbit 1gb/s; do
		test_refused "Illegal \"rate\": \"$word\" is not a rate" rate $word
	done
	for word in limit limit_bytes hlimit ratio trim_size mode match dscp_trimmed dscp_returned \
		rate overhead other_limit other_ecn bands; do
		test_refused "\"$word\" needs a value" $word
	done
	test_refused '"match udp_port" needs a value' match udp_port
	test_refused '"match dscp" needs a value' match dscp
}

test_printing() {
	test_round "$defaults"
	test_round "limit 1 mode cp match all norts"
	test_round "match dscp 0,10-12,46" match dscp be,af11-af12,10,ef
	test_round "match dscp 0-63" match dscp 0-63
	test_round "match dscp 62-63" match dscp 62,63
	test_round "rate 10Gbit" rate 10gbit
	test_round "rate 2500Mbit" rate 2.5gbit
	test_round "rate 1001Kbit" rate 1001kbit
	test_round "rate 1008bit" rate 126bps
	test_round "rate 8796093022208bit" rate 1099511627776bps
	test_round "hlimit 4294967295"
}

test_json() {
	local options
	read -ra options <<<"$defaults"
	set_options "${options[@]}" rate 1gbit
	check_eq "$NAME: JSON has all options" "$(json)" "$(jq -cSn '{limit: 0, limit_bytes: 0,
		hlimit: 0, ratio: 10, trim_size: 128, mode: "ndp", match: "udp_port",
		udp_port: 61199, dscp_trimmed: 48, rts: false, dscp_returned: 49, rate: 125000000,
		overhead: 0, other_limit: 0, other_ecn: 0, bands: 1}')"
	set_options match dscp 8,46-48 norts rate 0
	check_eq "$NAME: JSON has a DSCP list, norts and rate 0" "$(json)" \
		'{"dscp":[8,46,47,48],"match":"dscp","rate":0,"rts":false}'
}

test_foreign_attributes() {
	test_made ""
	test_made "limit 8" LIMIT:32:8 99:32:5
	test_made "hlimit 5000000000 other_limit auto" HLIMIT:64:5000000000 OTHER_LIMIT:32:0
	test_made "overhead 24" LIMIT:0:0 RTS:0:0 OVERHEAD:16:24
	test_made "mode unknown match unknown" MODE:8:9 MATCH:8:9
	test_made "match udp_port" MATCH:8:0
	test_made "match all" MATCH:8:2 UDP_PORT:16:5 DSCP_MASK:64:1
	test_made "" RATE:64:0
}

# queue NAME VALUE...: print a nest of counters, in the order of tc's output
queue() {
	local names=(QLEN_PACKETS BACKLOG_BYTES PEAK_PACKETS PEAK_BYTES SENT_PACKETS SENT_BYTES) nest='' name=$1 value i=0
	shift
	for value in "$@"; do
		nest+=" ${names[i]}:64:$value"
		i=$((i + 1))
	done
	echo "$name(${nest# })"
}

# counters VALUE...: print u64 counters from TRIMMED_ARRIVAL_PACKETS on
counters() {
	local names=(TRIMMED_ARRIVAL_PACKETS TRIMMED_TAIL_PACKETS TRIMMED_BYTES RETURNED_PACKETS ECN_MARKED_PACKETS
		DROPPED_DATA_PACKETS DROPPED_HEADER_PACKETS DROPPED_RETURNED_PACKETS DROPPED_OTHER_PACKETS
		DROPPED_GSO_PACKETS DROPPED_NOMEM_PACKETS) value i=0
	for value in "$@"; do
		echo "${names[i]}:64:$value"
		i=$((i + 1))
	done
}

queue_text="  data   qlen 0p backlog 0b peak 8p 12112b sent 100p 151400b
  header qlen 0p backlog 0b peak 40p 5120b sent 100p 12800b
  other  qlen 0p backlog 0b peak 0p 0b sent 0p 0b"

test_xstats() {
	local max=18446744073709551615 all full queues numbers
	queues=("$(queue DATA 0 0 8 12112 100 151400)" "$(queue HEADER 0 0 40 5120 100 12800)" "$(queue OTHER 0 0 0 0 0 0)")
	mapfile -t numbers < <(counters 50 51 138600 1 2 3 4 5 6 7 $max)
	full="$queue_text
  trimmed arrival 50 tail 51 bytes 138600
  returned 1 ecn_marked 2
  dropped data 3 header 4 returned 5 other 6 gso 7 nomem $max"
	check_eq "$NAME: prints statistics of a newer kernel, with unknown attributes in each nest" \
		"$(shown_xstats 99:64:9 "${queues[@]/%)/ 99:64:9 77:32:1)}" "${numbers[@]}" 98:32:8)" "$full"
	check_eq "$NAME: prints statistics of an older kernel" "$(shown_xstats "$(queue DATA 1 2 3)" "${numbers[0]}")" \
		"  data   qlen 1p backlog 2b peak 3p
  trimmed arrival 50

  dropped"
	check_eq "$NAME: prints the statistics" "$(shown_xstats "${queues[@]}" "${numbers[@]}")" "$full"
	all=$(json_xstats)
	check_eq "$NAME: JSON has all counters" "$(jq -c 'del(.data, .header, .other)' <<<"$all")" \
		"$(jq -cSn '{trimmed_arrival_packets: 50, trimmed_tail_packets: 51,
		trimmed_bytes: 138600, returned_packets: 1, ecn_marked_packets: 2,
		dropped_data_packets: 3, dropped_header_packets: 4, dropped_returned_packets: 5,
		dropped_other_packets: 6, dropped_gso_packets: 7}' | jq -c --arg max $max \
		'.dropped_nomem_packets = ($max | tonumber)' | jq -cS .)"
	check_eq "$NAME: JSON has a queue's statistics" "$(jq -c .header <<<"$all")" "$(jq -cSn '{qlen_packets: 0,
		backlog_bytes: 0, peak_packets: 40, peak_bytes: 5120, sent_packets: 100,
		sent_bytes: 12800}')"
	check_eq "$NAME: JSON has all 64 bits of a counter" "$(SHIM_XSTATS=$TMP/xstats run_tc -j qdisc show dev lo |
		grep -o '"dropped_nomem_packets":[0-9]*')" "\"dropped_nomem_packets\":$max"
}

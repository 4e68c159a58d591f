# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What plugin.sh tests in q_pcrp.so.
# shellcheck disable=SC2154 # here: set by plugin.sh

# spec BYTES BYTES BYTES: TCA_PCRP_SPEC
spec() {
	printf 'SPEC:192:0x'
	"$here/attrs.py" xstats "$@" | od -An -v -tx1 | tr -d ' \n'
}

# map DSCP...: TCA_PCRP_MAP, for P0 to P7
map() {
	local value=0 shift=0 dscp
	for dscp; do
		value=$((value | dscp << shift))
		shift=$((shift + 8))
	done
	printf 'MAP:64:%u' $value
}

defaults="limit 10000 flows 16384 chain auto first auto grants 8 noevict mfwt auto noeu srpt hold 100ms window off \
spec auto map 0:56,1:48,2:40,3:32,4:24,5:16,6:8,7:1 overhead 0"

test_reading() {
	local word
	test_sent ""
	test_sent "LIMIT:32:10000" limit 10000
	test_sent "FLOWS:32:16384" flows 16384
	for word in chain first; do
		test_sent "${word^^}:32:0" $word auto
		test_sent "${word^^}:32:25600" $word 25kb
		test_sent "${word^^}:32:1073741824" $word 1gb
	done
	test_sent "GRANTS:32:8" grants 8
	test_sent "EVICT:8:1" evict
	test_sent "EVICT:8:0" noevict
	test_sent "MFWT_MODE:8:0" mfwt auto
	test_sent "MFWT_MODE:8:1" mfwt off
	test_sent "MFWT_MODE:8:2 MFWT:32:250" mfwt 250us
	test_sent "MFWT_MODE:8:2 MFWT:32:0" mfwt 0
	test_sent "EU:8:1" eu
	test_sent "EU:8:0" noeu
	test_sent "SRPT:8:1" srpt
	test_sent "SRPT:8:0" nosrpt
	test_sent "HOLD:32:100000" hold 100ms
	test_sent "HOLD:32:2" hold 1.5us
	test_sent "WINDOW:32:0" window off
	test_sent "WINDOW:32:20" window 20us
	test_sent "$(spec 0 0 0)" spec auto
	test_sent "$(spec 6000 25600 1048576)" spec 6000:25kb:1mb
	test_sent "$(spec 0 1 1099511627776)" spec 0:1:1024g
	test_sent "$(map 56 48 40 32 24 16 8 1)" map 0:56,1:48,2:40,3:32,4:24,5:16,6:8,7:1
	test_sent "$(map 56 48 255 255 255 0 0 46)" map 1:cs6,7:ef,5-6:be,0:cs7
	test_sent "$(map 255 255 255 255 255 255 255 255)" map off
	test_sent "RATE:64:1250000000" rate 10gbit
	test_sent "OVERHEAD:32:24" overhead 24
	test_sent "LIMIT:32:1 CHAIN:32:0 MFWT_MODE:8:2 MFWT:32:9 EU:8:1 RATE:64:125" \
		limit 1 chain auto mfwt 9us eu rate 1kbit
}

test_errors() {
	local word
	test_refused 'What is "x"?' x
	test_refused 'Usage: ... pcrp' limit 8 help
	for word in limit flows grants; do
		test_refused "Illegal \"$word\": \"1.5\" is not a whole number" $word 1.5
	done
	for word in 0 -1 4gb off ""; do
		test_refused "Illegal \"chain\": \"$word\" is not auto or a size in bytes" chain "$word"
		test_refused "Illegal \"first\": \"$word\" is not auto or a size in bytes" first "$word"
	done
	for word in 5 0.4us -1s 2h on ""; do
		test_refused "Illegal \"mfwt\": \"$word\" is not auto, off or a time with its unit" mfwt "$word"
		test_refused "Illegal \"hold\": \"$word\" is not a time with its unit" hold "$word"
		test_refused "Illegal \"window\": \"$word\" is not a time with its unit" window "$word"
	done
	test_refused 'Illegal "hold": "off" is not a time with its unit' hold off
	for word in 1 1:2 1:2:3:4 1:2: :1:2 1:2:x 1:2:-3 1:2:1e19 0:0:0 1,2,3 off ""; do
		test_refused "Illegal \"spec\": \"$word\" is not auto or three sizes" spec "$word"
	done
	for word in 1 1: :1 8:1 1:64 5-3:1 "1:1," 1:1:1 1-:1 x:1 cs1:1 auto ""; do
		test_refused "Illegal \"map\": \"$word\" is not off or a list of PRIO:DSCP" map "$word"
	done
	test_refused 'Illegal "rate": "7bit" is not a rate' rate 7bit
	test_refused 'Illegal "overhead": "x" is not a size in bytes' overhead x
	for word in limit flows chain first grants mfwt hold window spec map rate overhead; do
		test_refused "\"$word\" needs a value" $word
	done
}

test_printing() {
	test_round "$defaults"
	test_round "chain 25600 first 1514 evict mfwt off eu nosrpt"
	test_round "mfwt 250us hold 1001us window 20us"
	test_round "mfwt 10s hold 1s window 1ms" mfwt 10000ms hold 1000000us window 1000us
	test_round "spec 6144:25600:1099511627776" spec 6kb:25kb:1024gb
	test_round "map off"
	test_round "map 1-2:46,7:0" map 1:ef,2:ef,7:be
	test_round "map 0-7:8" map 0-7:cs1
	test_round "rate 10Gbit overhead 24"
}

test_json() {
	local options
	read -ra options <<<"$defaults"
	give "${options[@]}" rate 1gbit
	check_eq "$NAME: JSON of the options" "$(json)" "$(jq -cSn '{limit: 10000, flows: 16384, chain: 0, first: 0,
		grants: 8, evict: false, mfwt: "auto", eu: false, srpt: true, hold: 100000, window: 0,
		spec: [0, 0, 0], map: [56, 48, 40, 32, 24, 16, 8, 1], rate: 125000000, overhead: 0}')"
	give chain 25kb evict mfwt 250us eu window 20us spec 1:2:1024g map 0-1:56 rate 0
	check_eq "$NAME: JSON of sizes, times, thresholds" "$(json)" "$(jq -cSn '{chain: 25600, evict: true,
		mfwt: "time", mfwt_us: 250, eu: true, window: 20, spec: [1, 2, 1099511627776],
		map: [56, 56, 255, 255, 255, 255, 255, 255], rate: 0}')"
}

test_foreign_attributes() {
	test_made ""
	test_made "limit 8" LIMIT:32:8 99:32:5
	test_made "chain 5000000000 first auto" CHAIN:64:5000000000 FIRST:8:0
	test_made "overhead 24" LIMIT:0:0 EVICT:0:0 MFWT_MODE:0:0 HOLD:0:0 SPEC:64:7 MAP:32:7 OVERHEAD:16:24
	test_made "mfwt unknown" MFWT_MODE:8:9 MFWT:32:5
	test_made "mfwt time" MFWT_MODE:8:2
	test_made "mfwt off" MFWT_MODE:8:1 MFWT:32:5
	test_made "map 0:56,1-7:200" MAP:72:0x38c8c8c8c8c8c8c801
}

# shellcheck disable=SC2046 # lists of numbers
test_xstats() {
	local max=18446744073709551615 all full
	full=$(shown_xstats 25000 20000 1250000000 6250 25000 100000 $(seq 7 56))
	check_eq "$NAME: prints the statistics" "$full" \
		"  chain 25000b base_rtt 20us line 10Gbit spec 6250:25000:100000
  flows ready 7 waiting 8 idle 9 started 10 finished 11 ungated 12 overflow 13p
  chains speculative 14 granted 15 overdue 16 promotions 17p eu 18p
  sent requests 19 probes 20 got grants 21 late 22 nothing_new 23 refused 24
  peers 25 answering 26 silent 27
  packets top 36 P0 28 P1 29 P2 30 P3 31 P4 32 P5 33 P6 34 P7 35 ungated 37
  dropped limit 38 top 39 nomem 40
  receiver got requests 41 probes 42 malformed 43 sent grants 51 answers 52
    flows 46 granted 47 peak 48 finished 50 evicted 49 expired 45 overflow 44
    window 53p early 54"
	check_eq "$NAME: prints those of a newer kernel" \
		"$(shown_xstats 25000 20000 1250000000 6250 25000 100000 $(seq 7 60))" "$full"
	check_eq "$NAME: prints those of an older kernel" \
		"$(shown_xstats 25000 20000 1250000000 6250 25000 100000 $(seq 7 37) | sed -n '6,8p')" \
		"  packets top 36 P0 28 P1 29 P2 30 P3 31 P4 32 P5 33 P6 34 P7 35 ungated 37
  dropped limit 0 top 0 nomem 0
  receiver got requests 0 probes 0 malformed 0 sent grants 0 answers 0"
	check_eq "$NAME: prints empty statistics" "$(shown_xstats | tail -n 1)" "    window 0p early 0"

	shown_xstats $(seq 53) $max >/dev/null
	all=$(json_xstats)
	check_eq "$NAME: JSON of the counters" "$(jq -c 'del(.window_early)' <<<"$all")" "$(jq -cSn '[
		"chain_bytes", "base_rtt_ns", "rate_Bps", "spec_bytes", "spec_bytes", "spec_bytes", "flows_ready",
		"flows_waiting", "flows_idle", "flows_started", "flows_finished", "flows_ungated", "flows_overflow",
		"chains_speculative", "chains_granted", "chains_overdue", "promotions", "eu_packets", "requests_sent",
		"probes_sent", "grants_received", "grants_late", "grants_idle", "grants_refused", "peers",
		"peers_answering", "peers_silent", "prio_packets", "prio_packets", "prio_packets", "prio_packets",
		"prio_packets", "prio_packets", "prio_packets", "prio_packets", "top_packets", "ungated_packets",
		"dropped_limit_packets", "dropped_top_packets", "dropped_nomem_packets", "rx_requests", "rx_probes", "rx_malformed",
		"rx_overflow", "rx_expired", "rx_flows", "rx_granted", "rx_granted_peak", "rx_evicted", "rx_finished",
		"grants_sent", "answers_sent", "window_packets"] | to_entries | map(.key += 1)
		| map(select(.value != "spec_bytes" and .value != "prio_packets") | {(.value): .key}) | add
		| .spec_bytes = [4, 5, 6] | .prio_packets = [range(28; 36)]')"
	check_eq "$NAME: JSON of all 64 bits" "$(SHIM_XSTATS=$TMP/xstats run_tc -j qdisc show dev lo |
		grep -o '"window_early":[0-9]*')" "\"window_early\":$max"
}

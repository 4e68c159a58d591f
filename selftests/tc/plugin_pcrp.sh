# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Tests of q_pcrp.so for plugin.sh
# shellcheck disable=SC2153,SC2154 # NAME, here: set by plugin.sh

# spec BYTES BYTES BYTES: print TCA_PCRP_SPEC
spec() { printf 'SPEC(P0:64:%u P1:64:%u P2:64:%u)' "$@"; }

# map DSCP...: print TCA_PCRP_MAP for P0 to P7; -: priority is missing
map() {
	local words=() prio=0 dscp
	for dscp; do
		[ "$dscp" = - ] || words+=("P$prio:32:$dscp")
		prio=$((prio + 1))
	done
	printf 'MAP(%s)' "${words[*]}"
}

defaults="profile tuned limit 10000 flows 16384 chain auto first auto grants 8 evict mfwt auto noeu srpt hold 100ms window off \
spec auto map 0:56,1:48,2:40,3:32,4:24,5:16,6:8,7:1 overhead 0"

test_reading() {
	local word
	test_sent ""
	test_sent "PROFILE:32:0" profile paper
	test_sent "PROFILE:32:1" profile tuned
	test_sent "LIMIT:32:10000" limit 10000
	test_sent "FLOWS:32:16384" flows 16384
	for word in chain first; do
		test_sent "${word^^}:32:0" $word auto
		test_sent "${word^^}:32:25600" $word 25kb
		test_sent "${word^^}:32:1073741824" $word 1gb
	done
	test_sent "GRANTS:32:8" grants 8
	test_sent "EVICT:32:1" evict
	test_sent "EVICT:32:0" noevict
	test_sent "MFWT_MODE:32:0" mfwt auto
	test_sent "MFWT_MODE:32:1" mfwt off
	test_sent "MFWT_MODE:32:2 MFWT:32:250" mfwt 250us
	test_sent "MFWT_MODE:32:2 MFWT:32:0" mfwt 0
	test_sent "EU:32:1" eu
	test_sent "EU:32:0" noeu
	test_sent "SRPT:32:1" srpt
	test_sent "SRPT:32:0" nosrpt
	test_sent "HOLD:32:100000" hold 100ms
	test_sent "HOLD:32:2" hold 1.5us
	test_sent "WINDOW:32:0" window off
	test_sent "WINDOW:32:20" window 20us
	test_sent "SPEC()" spec auto
	test_sent "$(spec 6000 25600 1048576)" spec 6000:25kb:1mb
	test_sent "$(spec 0 1 1099511627776)" spec 0:1:1024g
	test_sent "$(map 56 48 40 32 24 16 8 1)" map 0:56,1:48,2:40,3:32,4:24,5:16,6:8,7:1
	test_sent "$(map 56 48 - - - 0 0 46)" map 1:cs6,7:ef,5-6:be,0:cs7
	test_sent "MAP()" map off
	test_sent "RATE:64:1250000000" rate 10gbit
	test_sent "OVERHEAD:32:24" overhead 24
	test_sent "LIMIT:32:1 CHAIN:32:0 MFWT_MODE:32:2 MFWT:32:9 EU:32:1 RATE:64:125" \
		limit 1 chain auto mfwt 9us eu rate 1kbit
}

test_errors() {
	local word
	test_refused 'unknown option "x"' x
	test_refused 'Usage: ... pcrp' limit 8 help
	for word in x 1 ""; do
		test_refused "Illegal \"profile\": \"$word\" is not paper or tuned" profile "$word"
	done
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
	for word in profile limit flows chain first grants mfwt hold window spec map rate overhead; do
		test_refused "\"$word\" needs a value" $word
	done
}

test_printing() {
	test_round "$defaults"
	test_round "profile paper"
	test_round "chain 25600 first 1514 noevict mfwt off eu nosrpt"
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
	set_options "${options[@]}" rate 1gbit
	check_eq "$NAME: JSON has all options" "$(json)" "$(jq -cSn '{profile: "tuned", limit: 10000, flows: 16384, chain: 0, first: 0,
		grants: 8, evict: true, mfwt: "auto", eu: false, srpt: true, hold: 100000, window: 0,
		spec: [0, 0, 0], map: [56, 48, 40, 32, 24, 16, 8, 1], rate: 125000000, overhead: 0}')"
	set_options chain 25kb noevict mfwt 250us eu window 20us spec 1:2:1024g map 0-1:56 rate 0
	check_eq "$NAME: JSON has sizes, times and thresholds" "$(json)" "$(jq -cSn '{chain: 25600, evict: false,
		mfwt: "time", mfwt_us: 250, eu: true, window: 20, spec: [1, 2, 1099511627776],
		map: [56, 56, 255, 255, 255, 255, 255, 255], rate: 0}')"
}

test_foreign_attributes() {
	test_made ""
	test_made "limit 8" LIMIT:32:8 99:32:5
	test_made "chain 5000000000 first auto" CHAIN:64:5000000000 FIRST:8:0
	test_made "overhead 24" LIMIT:0:0 EVICT:0:0 MFWT_MODE:0:0 HOLD:0:0 OVERHEAD:16:24
	test_made "spec auto" "SPEC()"
	test_made "spec auto" "SPEC(P0:64:1 P1:64:2)"
	test_made "spec 1:2:3" "SPEC(99:32:7 P0:64:1 P1:32:2 P2:64:3 17:64:4)"
	test_made "map off" "MAP()"
	test_made "map 1:46" "MAP(99:64:7 P1:32:46)"
	test_made "mfwt unknown" MFWT_MODE:32:9 MFWT:32:5
	test_made "mfwt time" MFWT_MODE:32:2
	test_made "mfwt off" MFWT_MODE:32:1 MFWT:32:5
	test_made "map 0:56,1-7:200" "$(map 56 200 200 200 200 200 200 200)"
}

# numbers: print names of the numeric statistics in the order of the attributes
numbers() { "$here/attrs.py" names "pcrp stats" | grep -vxE 'UNSPEC|PAD|SPEC_BYTES|PRIO_PACKETS'; }

test_xstats() {
	local max=18446744073709551615 all full name i=0 stats=() spec prios
	for name in $(numbers); do
		i=$((i + 1))
		stats+=("$name:64:$i")
	done
	spec="SPEC_BYTES(P0:64:6250 P1:64:25000 P2:64:100000)"
	prios="PRIO_PACKETS(P0:64:100 P1:64:101 P2:64:102 P3:64:103 P4:64:104 P5:64:105 P6:64:106 P7:64:107)"
	full=$(shown_xstats "${stats[@]}" "$spec" "$prios")
	check_eq "$NAME: prints the statistics" "$full" \
		"  chain 1b base_rtt 2ns line 24bit spec 6250:25000:100000
  flows ready 4 waiting 5 idle 6 started 7 finished 8 ungated 9 overflow 10p
  chains speculative 11 granted 12 overdue 13 promotions 14p eu 15p
  sent requests 16 probes 17 got grants 18 late 19 nothing_new 20 refused 21
  peers 22 answering 23 silent 24
  packets top 25 P0 100 P1 101 P2 102 P3 103 P4 104 P5 105 P6 106 P7 107 ungated 26
  dropped limit 27 top 28 nomem 29 forged 30
  receiver got requests 31 probes 32 malformed 33 sent grants 42 answers 43
    flows 36 granted 37 peak 38 finished 41 evicted 39 revoked 40 expired 35 overflow 34
    window 44p early 45"
	check_eq "$NAME: skips unknown statistics of a newer kernel in each nest" \
		"$(shown_xstats "999:64:5" "${stats[@]}" "${spec%)} 99:64:5)" "${prios%)} 99:64:5)" 998:32:1)" "$full"
	check_eq "$NAME: omits statistics that an older kernel lacks" \
		"$(shown_xstats FLOWS_READY:64:7 DROPPED_NOMEM_PACKETS:64:8 "SPEC_BYTES(P0:64:1)" "PRIO_PACKETS(P1:64:5)" |
			sed -n '2p;6,7p')" \
		"  flows ready 7
  packets P1 5
  dropped nomem 8"
	check_eq "$NAME: prints empty statistics" "$(shown_xstats | sed -n '7p')" "  dropped"

	shown_xstats WINDOW_EARLY:64:$max >/dev/null
	check_eq "$NAME: JSON has all 64 bits of a counter" "$(SHIM_XSTATS=$TMP/xstats run_tc -j qdisc show dev lo |
		grep -o '"window_early":[0-9]*')" "\"window_early\":$max"

	shown_xstats "${stats[@]}" "$spec" "$prios" >/dev/null
	all=$(json_xstats)
	check_eq "$NAME: JSON has all counters" "$(jq -cS . <<<"$all")" "$(numbers | jq -cSRn '[inputs] | to_entries
		| map({(.value | if . == "RATE_BPS" then "rate_Bps" else ascii_downcase end): (.key + 1)}) | add
		| .spec_bytes = [6250, 25000, 100000] | .prio_packets = [range(100; 108)]')"
}

# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What plugin.sh tests in q_dcqcn.so.

# map PRIO...: the first ones of TCA_DCQCN_MAP; the others are 0
map() {
	local all=("$@")
	while [ ${#all[@]} -lt 64 ]; do
		all+=(0)
	done
	printf 'MAP:512:0x'
	printf '%02x' "${all[@]}"
}

dscp_map="0-7:0,8-15:1,16-23:2,24-31:3,32-39:4,40-47:5,48-55:6,56-63:7"
dscps=()
for dscp in {0..63}; do
	dscps+=($((dscp / 8)))
done
pool="pool sw0 buffer 12582912 headroom auto cable 1500ns xoff auto beta 8 pfc all"
defaults="limit 4194304 kmin 5120 kmax 204800 pmax 1% nonect pass trust dscp map $dscp_map sched strict \
overhead 0 stall 100ms nostall_drop"

# calculated: the options that closnet(8) prints for a switch
calculated() {
	make -s -C "$LIB_TOP/tools/closnet" O="$TMP/closnet" &&
		"$TMP/closnet/closnet" buffers --ports 32 --rate 40g --buffer 12mb | sed -n 's/^tc .* root dcqcn //p'
}

test_reading() {
	local word words
	read -ra words < <(calculated)
	test_sent "KMIN:32:5000 KMAX:32:200000 PMAX:32:42949673 POOL:str:sw0 POOL_BUFFER:32:12000000 \
POOL_HEADROOM:32:25720 POOL_XOFF_MODE:8:2 POOL_BETA:32:8 POOL_PFC:8:255" "${words[@]}"
	test_sent ""
	test_sent "LIMIT:32:4194304" limit 4mb
	for word in kmin kmax; do
		test_sent "${word^^}:32:0" $word 0
		test_sent "${word^^}:32:5120" $word 5kb
	done
	test_sent "PMAX:32:42949673" pmax 1%
	test_sent "PMAX:32:4294967295" pmax 100%
	test_sent "PMAX:32:0" pmax 0%
	test_sent "NONECT:8:0" nonect pass
	test_sent "NONECT:8:1" nonect drop
	test_sent "TRUST:8:0" trust dscp
	test_sent "TRUST:8:1" trust pcp
	test_sent "TRUST:8:2" trust priority
	test_sent "$(map "${dscps[@]}")" map $dscp_map
	test_sent "$(map 0 1 2 3 4 5 6 7)" map 0:0,1:1,2:2,3:3,4:4,5:5,6:6,7:7
	test_sent "$(map 3 3 3 0 5 3)" map 0-3:3,3:0,4-5:5,5:3
	test_sent "$(map 0 0 0 0 0 0 0 0 4 0 2)" map cs1:4,af11:2
	test_sent "$(map "${dscps[@]//[0-9]/7}")" map be-63:7
	test_sent "SCHED:8:0" sched strict
	test_sent "SCHED:8:1" sched drr
	test_sent "RATE:64:1250000000" rate 10gbit
	test_sent "OVERHEAD:32:24" overhead 24
	test_sent "STALL:32:100000" stall 100ms
	test_sent "STALL:32:2" stall 1.5us
	test_sent "STALL:32:0" stall off
	test_sent "STALL:32:0" stall 0
	test_sent "STALL_DROP:8:1" stall_drop
	test_sent "STALL_DROP:8:0" nostall_drop
	test_sent "POOL:str:sw0" pool sw0
	test_sent "POOL:str:fifteen_letters" pool fifteen_letters
	test_sent "POOL_BUFFER:32:12582912" buffer 12mb
	test_sent "POOL_HEADROOM:32:0" headroom auto
	test_sent "POOL_HEADROOM:32:22938" headroom 22.4kb
	test_sent "POOL_CABLE:32:1500" cable 1.5us
	test_sent "POOL_CABLE:32:0" cable 0
	test_sent "POOL_XOFF_MODE:8:0" xoff auto
	test_sent "POOL_XOFF_MODE:8:1 POOL_XOFF:32:25600" xoff 25kb
	test_sent "POOL_XOFF_MODE:8:2" xoff dynamic
	test_sent "POOL_BETA:32:8" beta 8
	test_sent "POOL_PFC:8:255" pfc all
	test_sent "POOL_PFC:8:0" pfc none
	test_sent "POOL_PFC:8:58" pfc 3-5,1
	test_sent "PRIO(INDEX:8:3)" prio 3
	test_sent "KMIN:32:1 PRIO(INDEX:8:3 KMIN:32:2 KMAX:32:3 PMAX:32:42949673 QUANTUM:32:3028) LIMIT:32:64" \
		kmin 1 prio 3 kmin 2 kmax 3 pmax 1% quantum 3028 limit 64
	test_sent "PRIO(INDEX:8:0 KMIN:32:2) PRIO(INDEX:8:7 KMIN:32:3) POOL:str:sw0" \
		prio 0 kmin 2 prio 7 kmin 3 pool sw0
}

test_errors() {
	local word
	test_refused 'What is "x"?' x
	test_refused 'What is "quantum"?' quantum 3028
	test_refused 'What is "quantum"?' prio 3 kmin 2 limit 8kb quantum 3028
	test_refused 'Usage: ... dcqcn' limit 8kb help
	for word in limit kmin kmax overhead buffer; do
		test_refused "Illegal \"$word\": \"x\" is not a size in bytes" $word x
	done
	for word in -1 1.5 0.0001k 4gb 1q nan inf ""; do
		test_refused "Illegal \"kmin\": \"$word\" is not a size in bytes" kmin "$word"
	done
	for word in 1 0.01 101% -1% 1e-11% nan% % 1%% ""; do
		test_refused "Illegal \"pmax\": \"$word\" is not a percentage, like 1%" pmax "$word"
	done
	test_refused 'Illegal "nonect": "mark" is not pass or drop' nonect mark
	test_refused 'Illegal "trust": "tos" is not dscp, pcp or priority' trust tos
	test_refused 'Illegal "sched": "wrr" is not strict or drr' sched wrr
	for word in 1 1: :1 64:1 1:8 5-3:1 "1:1," 1:1:1 1-:1 x:1 1,2:1 ""; do
		test_refused "Illegal \"map\": \"$word\" is not a list of DSCP:PRIO" map "$word"
	done
	test_refused 'Illegal "rate": "7bit" is not a rate' rate 7bit
	for word in 5 0.4us -1s 1e6s nan on ""; do
		test_refused "Illegal \"stall\": \"$word\" is not a time with its unit" stall "$word"
	done
	for word in 5 0.4ns -1us 5s off ""; do
		test_refused "Illegal \"cable\": \"$word\" is not a time with its unit" cable "$word"
	done
	for word in "" "a b" $'a\tb' sixteen__letters; do
		test_refused "Illegal \"pool\": \"$word\" is not a name of 1 to 15 characters" pool "$word"
	done
	for word in 0 dynamic -1 ""; do
		test_refused "Illegal \"headroom\": \"$word\" is not auto or a size in bytes" headroom "$word"
	done
	test_refused 'Illegal "xoff": "static" is not auto, dynamic or a size in bytes' xoff static
	test_refused 'Illegal "beta": "8.5" is not a whole number' beta 8.5
	for word in 8 1,8 3-1 "1," any ""; do
		test_refused "Illegal \"pfc\": \"$word\" is not all, none or a list of priorities" pfc "$word"
	done
	for word in 8 -1 all ""; do
		test_refused "Illegal \"prio\": \"$word\" is not a priority from 0 to 7" prio "$word"
	done
	for word in limit kmin kmax pmax nonect trust map sched rate overhead stall pool buffer headroom cable xoff \
		beta pfc prio; do
		test_refused "\"$word\" needs a value" $word
	done
	for word in kmin kmax pmax quantum; do
		test_refused "\"$word\" needs a value" prio 3 $word
	done
}

test_printing() {
	test_round "$defaults"
	test_round "$defaults $pool prio 1 kmin 0 kmax 0 pmax 100% prio 6 quantum 64"
	test_round "trust pcp map 0:0,1-6:1,7:7" trust pcp map 1-6:1,7:7
	test_round "trust pcp map 0-7:0" trust pcp map 0:0
	test_round "map 0-62:0,63:7" map 63:7
	test_round "pmax 0.00000002%"
	test_round "rate 10Gbit"
	test_round "stall off stall_drop"
	test_round "stall 1001us"
	test_round "pool sw0 headroom 22938 cable 0s xoff 25600 pfc none" \
		pool sw0 headroom 22.4kb cable 0 xoff 25kb pfc none
	test_round "cable 10ms xoff dynamic pfc 0,3-5,7" cable 10ms xoff dynamic pfc 3-5,0,7
}

test_json() {
	local options
	read -ra options <<<"$defaults $pool rate 1gbit prio 3 kmin 0 pmax 50% prio 4 quantum 64"
	give "${options[@]}"
	check_eq "$NAME: JSON of the options" "$(jq -cS '.pmax |= (. * 1e6 | round) | .prio[0].pmax |= (. * 1e6 | round)' \
		<<<"$(json)")" "$(jq -cSn '{limit: 4194304, kmin: 5120, kmax: 204800, pmax: 10000, nonect: "pass",
		trust: "dscp", map: [range(64) / 8 | floor], sched: "strict", rate: 125000000, overhead: 0,
		stall: 100000, stall_drop: false, pool: "sw0", buffer: 12582912, headroom: 0, cable: 1500,
		xoff: "auto", beta: 8, pfc: [0, 1, 2, 3, 4, 5, 6, 7],
		prio: [{index: 3, kmin: 0, pmax: 500000}, {index: 4, quantum: 64}]}')"
	give trust pcp map 1:1 stall off xoff 64 pfc 3,4 rate 0
	check_eq "$NAME: JSON of a PCP map, lists, off" "$(json)" "$(jq -cSn '{trust: "pcp",
		map: [0, 1, 0, 0, 0, 0, 0, 0], stall: 0, xoff: "static", xoff_bytes: 64, pfc: [3, 4], rate: 0,
		prio: []}')"
}

test_foreign_attributes() {
	test_made ""
	test_made "limit 8" LIMIT:32:8 99:32:5
	test_made "limit 5000000000" LIMIT:64:5000000000
	test_made "overhead 24" KMIN:0:0 PMAX:0:0 STALL:0:0 POOL_PFC:0:0 POOL_XOFF_MODE:0:0 MAP:8:1 OVERHEAD:16:24
	test_made "nonect unknown trust unknown sched unknown xoff unknown" NONECT:8:9 TRUST:8:9 SCHED:8:9 \
		POOL_XOFF_MODE:8:9
	test_made "xoff static" POOL_XOFF_MODE:8:1
	test_made "xoff dynamic" POOL_XOFF_MODE:8:2 POOL_XOFF:32:64
	test_made "pool sixteen__letter" POOL:str:sixteen__letters
	test_made "prio 3 kmin 5" "PRIO(INDEX:8:3 KMIN:32:5 9:32:1)" "PRIO(KMIN:32:6)"
}

none=$(printf '0 %.0s' {1..18})
prio3="1 1514 12112 100 151400 5 1 2 3 4 1500000 3028 6056 1514 3028 7 8 9"
prio3_text="  prio 3 qlen 1p backlog 1514b peak 12112b sent 100p 151400b marked 5p
    dropped limit 1p nonect 2p stalled 3p stalls 4 paused 1.5ms"
ingress_text="    ingress 3028b peak 6056b headroom 1514b peak 3028b xoff 7p xon 8p dropped 9p"

# shellcheck disable=SC2086 # lists of numbers
test_xstats() {
	local max=18446744073709551615 all full
	full=$(shown_xstats $none$none$none $prio3 $none$none$none$none 1 2 3 4 5 6)
	check_eq "$NAME: prints what has happened" "$full" "$prio3_text
$ingress_text
  pool ports 2 backlog 3b peak 4b xoff 5b headroom 6b
  dropped nomem 1"
	check_eq "$NAME: prints the statistics of a newer kernel" \
		"$(shown_xstats $none$none$none $prio3 $none$none$none$none 1 2 3 4 5 6 7 8)" "$full"
	check_eq "$NAME: prints those without a pool" \
		"$(shown_xstats $none$none$none $prio3 $none$none$none$none 1 0)" "$prio3_text
  dropped nomem 1"
	check_eq "$NAME: prints those of an older kernel" "$(shown_xstats $none$none$none $prio3)" "$prio3_text
  dropped nomem 0"
	check_eq "$NAME: prints empty statistics" "$(shown_xstats)" "  dropped nomem 0"

	shown_xstats $none$none$none $prio3 $none$none$none$none $max 2 3 4 5 6 >/dev/null
	all=$(json_xstats)
	check_eq "$NAME: JSON of the port" "$(jq -c 'del(.prio, .dropped_nomem_packets)' <<<"$all")" \
		"$(jq -cSn '{pool_ports: 2, pool_bytes: 3, pool_peak_bytes: 4, pool_xoff_bytes: 5,
		pool_headroom_bytes: 6}')"
	check_eq "$NAME: JSON of a priority" "$(jq -c '.prio[3]' <<<"$all")" "$(jq -cSn '{qlen_packets: 1,
		backlog_bytes: 1514, peak_bytes: 12112, sent_packets: 100, sent_bytes: 151400, marked_packets: 5,
		dropped_limit_packets: 1, dropped_nonect_packets: 2, dropped_stalled_packets: 3, stalls: 4,
		paused_ns: 1500000, ingress_bytes: 3028, ingress_peak_bytes: 6056, headroom_bytes: 1514,
		headroom_peak_bytes: 3028, xoff_frames: 7, xon_frames: 8, dropped_headroom_packets: 9}')"
	check_eq "$NAME: JSON of all priorities" "$(jq -c '.prio | length, (map(.sent_packets) | add)' <<<"$all")" \
		"$(printf '8\n100')"
	check_eq "$NAME: JSON of all 64 bits" "$(SHIM_XSTATS=$TMP/xstats run_tc -j qdisc show dev lo |
		grep -o '"dropped_nomem_packets":[0-9]*')" "\"dropped_nomem_packets\":$max"
}

# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Tests of q_dcqcn.so for plugin.sh

pool="pool sw0 buffer 12582912 headroom auto cable 1500ns xoff auto beta 8 pfc all"
defaults="limit 4194304 kmin 5120 kmax 204800 pmax 20% nonect pass prio packet overhead 0 stall 100ms nostall_drop"

# calculated: print the options that closnet(8) computes for a switch
calculated() {
	make -s -C "$LIB_TOP/tools/closnet" O="$TMP/closnet" &&
		"$TMP/closnet/closnet" buffers --ports 32 --rate 40g --buffer 12mb | sed -n 's/^tc .* root dcqcn //p'
}

test_reading() {
	local word words
	read -ra words < <(calculated)
	test_sent "KMIN:32:5000 KMAX:32:200000 PMAX:32:858993459 POOL(NAME:str:sw0 BUFFER:32:12000000 \
HEADROOM:32:25720 XOFF_MODE:32:2 BETA:32:8 PFC:32:255)" "${words[@]}"
	test_sent ""
	test_sent "LIMIT:32:4194304" limit 4mb
	for word in kmin kmax; do
		test_sent "${word^^}:32:0" $word 0
		test_sent "${word^^}:32:5120" $word 5kb
	done
	test_sent "PMAX:32:42949673" pmax 1%
	test_sent "PMAX:32:858993459" pmax 20%
	test_sent "PMAX:32:4294967295" pmax 100%
	test_sent "PMAX:32:0" pmax 0%
	test_sent "NONECT:32:0" nonect pass
	test_sent "NONECT:32:1" nonect drop
	test_sent "PRIO:32:0" prio 0
	test_sent "PRIO:32:7" prio 7
	test_sent "PRIO:32:8" prio packet
	test_sent "RATE:64:1250000000" rate 10gbit
	test_sent "OVERHEAD:32:24" overhead 24
	test_sent "STALL:32:100000" stall 100ms
	test_sent "STALL:32:2" stall 1.5us
	test_sent "STALL:32:0" stall off
	test_sent "STALL:32:0" stall 0
	test_sent "STALL_DROP:32:1" stall_drop
	test_sent "STALL_DROP:32:0" nostall_drop
	test_sent "POOL(NAME:str:sw0)" pool sw0
	test_sent "POOL(NAME:str:fifteen_letters)" pool fifteen_letters
	test_sent "POOL(NAME:str:s BUFFER:32:12582912)" pool s buffer 12mb
	test_sent "POOL(NAME:str:s HEADROOM:32:0)" pool s headroom auto
	test_sent "POOL(NAME:str:s HEADROOM:32:22938)" pool s headroom 22.4kb
	test_sent "POOL(NAME:str:s CABLE:32:1500)" pool s cable 1.5us
	test_sent "POOL(NAME:str:s CABLE:32:0)" pool s cable 0
	test_sent "POOL(NAME:str:s XOFF_MODE:32:0)" pool s xoff auto
	test_sent "POOL(NAME:str:s XOFF_MODE:32:1 XOFF:32:25600)" pool s xoff 25kb
	test_sent "POOL(NAME:str:s XOFF_MODE:32:2)" pool s xoff dynamic
	test_sent "POOL(NAME:str:s BETA:32:8)" pool s beta 8
	test_sent "POOL(NAME:str:s PFC:32:255)" pool s pfc all
	test_sent "POOL(NAME:str:s PFC:32:0)" pool s pfc none
	test_sent "POOL(NAME:str:s PFC:32:58)" pool s pfc 3-5,1
	test_sent "KMIN:32:1 POOL(NAME:str:s BETA:32:1 PFC:32:8) PRIO:32:3 LIMIT:32:64" \
		kmin 1 pool s beta 1 pfc 3 prio 3 limit 64
}

test_errors() {
	local word
	test_refused '"x"' x
	for word in buffer headroom cable xoff beta pfc; do
		test_refused "\"$word\"" $word 1
		test_refused "\"$word\"" pool s limit 8kb $word 1
	done
	test_refused 'Usage: ... dcqcn' limit 8kb help
	for word in limit kmin kmax overhead; do
		test_refused "Illegal \"$word\": \"x\" is not a size in bytes" $word x
	done
	for word in -1 1.5 0.0001k 4gb 1q nan inf ""; do
		test_refused "Illegal \"kmin\": \"$word\" is not a size in bytes" kmin "$word"
	done
	for word in 1 0.01 101% -1% 1e-11% nan% % 1%% ""; do
		test_refused "Illegal \"pmax\": \"$word\" is not a percentage, like 1%" pmax "$word"
	done
	test_refused 'Illegal "nonect": "mark" is not pass or drop' nonect mark
	for word in 8 -1 all ""; do
		test_refused "Illegal \"prio\": \"$word\" is not packet or a priority from 0 to 7" prio "$word"
	done
	test_refused 'Illegal "rate": "7bit" is not a rate' rate 7bit
	for word in 5 0.4us -1s 1e6s nan on ""; do
		test_refused "Illegal \"stall\": \"$word\" is not a time with its unit" stall "$word"
	done
	for word in 5 0.4ns -1us 5s off ""; do
		test_refused "Illegal \"cable\": \"$word\" is not a time with its unit" pool s cable "$word"
	done
	for word in "" "a b" $'a\tb' sixteen__letters; do
		test_refused "Illegal \"pool\": \"$word\" is not a name of 1 to 15 characters" pool "$word"
	done
	test_refused 'Illegal "buffer": "x" is not a size in bytes' pool s buffer x
	for word in 0 dynamic -1 ""; do
		test_refused "Illegal \"headroom\": \"$word\" is not auto or a size in bytes" pool s headroom "$word"
	done
	test_refused 'Illegal "xoff": "static" is not auto, dynamic or a size in bytes' pool s xoff static
	test_refused 'Illegal "beta": "8.5" is not a whole number' pool s beta 8.5
	for word in 8 1,8 3-1 "1," any ""; do
		test_refused "Illegal \"pfc\": \"$word\" is not all, none or a list of priorities" pool s pfc "$word"
	done
	for word in limit kmin kmax pmax nonect prio rate overhead stall pool; do
		test_refused "\"$word\" needs a value" $word
	done
	for word in buffer headroom cable xoff beta pfc; do
		test_refused "\"$word\" needs a value" pool s $word
	done
}

test_printing() {
	test_round "$defaults"
	test_round "$defaults $pool"
	test_round "prio 3"
	test_round "pmax 0.00000002%"
	test_round "rate 10Gbit"
	test_round "stall off stall_drop"
	test_round "stall 1001us"
	test_round "prio 7 pool sw0 headroom 22938 cable 0s xoff 25600 pfc none" \
		prio 7 pool sw0 headroom 22.4kb cable 0 xoff 25kb pfc none
	test_round "pool sw0 cable 10ms xoff dynamic pfc 0,3-5,7" pool sw0 cable 10ms xoff dynamic pfc 3-5,0,7
}

test_json() {
	local options
	read -ra options <<<"${defaults/packet/3} rate 1gbit $pool"
	set_options "${options[@]}"
	check_eq "$NAME: JSON has all options" "$(jq -cS '.pmax |= (. * 1e6 | round)' <<<"$(json)")" \
		"$(jq -cSn '{limit: 4194304, kmin: 5120, kmax: 204800, pmax: 200000, nonect: "pass", prio: 3,
		rate: 125000000, overhead: 0, stall: 100000, stall_drop: false, pool: {name: "sw0",
		buffer: 12582912, headroom: 0, cable: 1500, xoff: "auto", beta: 8, pfc: [0, 1, 2, 3, 4, 5, 6, 7]}}')"
	set_options prio packet stall off rate 0 pool s xoff 64 pfc 3,4
	check_eq "$NAME: JSON of prio packet, pfc lists and stall off" \
		"$(json)" "$(jq -cSn '{prio: "packet", stall: 0, rate: 0,
		pool: {name: "s", xoff: "static", xoff_bytes: 64, pfc: [3, 4]}}')"
}

test_foreign_attributes() {
	test_made ""
	test_made "limit 8" LIMIT:32:8 99:32:5
	test_made "limit 5000000000" LIMIT:64:5000000000
	test_made "overhead 24" KMIN:0:0 PMAX:0:0 STALL:0:0 PRIO:0:0 OVERHEAD:16:24
	test_made "nonect unknown prio 9" NONECT:32:9 PRIO:32:9
	test_made "pool s xoff unknown" "POOL(NAME:str:s XOFF_MODE:32:9)"
	test_made "pool s xoff static" "POOL(NAME:str:s XOFF_MODE:32:1)"
	test_made "pool s xoff dynamic" "POOL(NAME:str:s XOFF_MODE:32:2 XOFF:32:64)"
	test_made "pool sixteen__letter" "POOL(NAME:str:sixteen__letters)"
	test_made "pool s beta 5" "POOL(99:32:1 NAME:str:s BETA:32:5 100:str:new)"
	test_made "" "POOL(BETA:32:5)"
}

max=18446744073709551615
queue=(PEAK_BYTES:64:12112 MARKED_PACKETS:64:5 DROPPED_LIMIT_PACKETS:64:1 DROPPED_NONECT_PACKETS:64:2
	DROPPED_HEADROOM_PACKETS:64:3 DROPPED_STALLED_PACKETS:64:4 DROPPED_NOMEM_PACKETS:64:6
	DROPPED_GSO_PACKETS:64:7 STALLS:64:8)
queue_text="  peak 12112b marked 5p stalls 8
  dropped limit 1p nonect 2p headroom 3p stalled 4p nomem 6p gso 7p"
pool_stats="PORTS:64:2 BYTES:64:3 PEAK_BYTES:64:4 XOFF_BYTES:64:5 HEADROOM_BYTES:64:6"
pool_text="  pool ports 2 backlog 3b peak 4b xoff 5b headroom 6b"
ingress="INGRESS_BYTES:64:3028 INGRESS_PEAK_BYTES:64:6056 HEADROOM_BYTES:64:1514 HEADROOM_PEAK_BYTES:64:3028 \
XOFF_FRAMES:64:7 XON_FRAMES:64:8 DROPPED_PACKETS:64:9"
prio_text="  prio 3 paused 1.5ms
    ingress 3028b peak 6056b headroom 1514b peak 3028b xoff 7p xon 8p dropped 9p"

test_xstats() {
	local all full idle
	# shellcheck disable=SC2001 # a regular expression
	idle=$(sed 's/:64:[0-9]*/:64:0/g' <<<"PRIO(INDEX:32:0 PAUSED_NS:64:0 $ingress)")
	full=$(shown_xstats "${queue[@]}" "POOL($pool_stats)" "$idle" "PRIO(INDEX:32:3 PAUSED_NS:64:1500000 $ingress)")
	check_eq "$NAME: prints statistics of the pool and of used priorities" "$full" "$queue_text
$pool_text
$prio_text"
	check_eq "$NAME: prints statistics of a newer kernel" \
		"$(shown_xstats 90:64:1 "${queue[@]}" 91:str:new "POOL(92:64:1 $pool_stats)" \
			"PRIO(93:64:1 INDEX:32:3 PAUSED_NS:64:1500000 $ingress 94:32:5)")" "$full"
	check_eq "$NAME: prints statistics without a pool" "$(shown_xstats "${queue[@]}")" "$queue_text"
	check_eq "$NAME: prints statistics on closwire without a pool" \
		"$(shown_xstats "${queue[@]}" "PRIO(INDEX:32:0 PAUSED_NS:64:0)" "PRIO(INDEX:32:3 PAUSED_NS:64:1500000)")" \
		"$queue_text
  prio 3 paused 1.5ms"
	check_eq "$NAME: prints statistics on a device without paused time" \
		"$(shown_xstats "PRIO(INDEX:32:3 $ingress)" | tail -n 2)" \
		"  prio 3
    ${prio_text#*    }"
	check_eq "$NAME: prints statistics of an older kernel" "$(shown_xstats PEAK_BYTES:64:1 | head -n 1)" "  peak 1b"

	shown_xstats "${queue[@]/%:8/:$max}" "POOL($pool_stats)" "$idle" \
		"PRIO(INDEX:32:3 PAUSED_NS:64:1500000 $ingress)" >/dev/null
	all=$(json_xstats)
	check_eq "$NAME: JSON has the queue's statistics" "$(jq -cS 'del(.pool, .prio, .stalls)' <<<"$all")" \
		"$(jq -cSn '{peak_bytes: 12112, marked_packets: 5, dropped_limit_packets: 1, dropped_nonect_packets: 2,
		dropped_headroom_packets: 3, dropped_stalled_packets: 4, dropped_nomem_packets: 6,
		dropped_gso_packets: 7}')"
	check_eq "$NAME: JSON has the pool's statistics" \
		"$(jq -cS .pool <<<"$all")" "$(jq -cSn '{ports: 2, bytes: 3, peak_bytes: 4,
		xoff_bytes: 5, headroom_bytes: 6}')"
	check_eq "$NAME: JSON has a priority's statistics" \
		"$(jq -cS '.prio[1]' <<<"$all")" "$(jq -cSn '{prio: 3, paused_ns: 1500000,
		ingress_bytes: 3028, ingress_peak_bytes: 6056, headroom_bytes: 1514, headroom_peak_bytes: 3028,
		xoff_frames: 7, xon_frames: 8, dropped_packets: 9}')"
	check_eq "$NAME: JSON has all priorities, used or not" "$(jq -c '[.prio[].prio]' <<<"$all")" "[0,3]"
	check_eq "$NAME: JSON has all 64 bits of a counter" "$(SHIM_XSTATS=$TMP/xstats run_tc -j qdisc show dev lo |
		grep -o '"stalls":[0-9]*')" "\"stalls\":$max"
}

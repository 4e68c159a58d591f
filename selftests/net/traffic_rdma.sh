#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# RDMA flows of the lab's traffic generator, by rxe (RoCEv2) and siw (iWARP): each operation and pattern, their times,
# lost packets, and errors; NDP's regions
#
#	+----------- a -----------+     +----------- b -----------+
#	| h0: rxe or siw on w0    |=====| h1: rxe or siw on w1    |
#	+-------------------------+     +-------------------------+
# shellcheck disable=SC2016,SC2154,SC2317 # awk expands; setup_ns sets a and b; check calls the function
. "$(dirname "$0")/../lib/lib.sh"
exact || skip_all "only the lab's kernels have rxe in network namespaces"
need_closwire
TRAFFIC=$LIB_TOP/build/lab/traffic
[ -x "$TRAFFIC" ] || skip_all "no $TRAFFIC: make -C tools/lab/traffic"
setup_ns a b
WIRE=(mtu 4200)
wire_ab rate 10gbit delay 2us
printf 'mtu 4200\nhost h0 %s 10.0.0.1 0 0\nhost h1 %s 10.0.0.2 0 0\npath same-leaf 10000000000:2000\n' "$a" "$b" \
	>"$TMP/hosts"

# device KIND: give both hosts an RDMA device of this kind
device() {
	in_ns "$a" rdma link add h0 type "$1" netdev w0 || skip_all "no $1"
	in_ns "$b" rdma link add h1 type "$1" netdev w1
}
no_device() { rdma link del h0 && rdma link del h1; }

traffic() { timeout 60 "$TRAFFIC" --hosts "$TMP/hosts" --flows "$TMP/flows" "$@" >/dev/null; }
# incomplete WORD...: traffic fails
incomplete() { ! traffic "$@"; }
# flows CONDITION: number of records for which awk's CONDITION is true; $7 bytes, $10 fct_ns, $12 slowdown, $13 state
flows() { awk -F , -v n=0 "NR > 1 && ($1) { n++ } END { print n }" "$TMP/flows"; }
# rxe HOST NAME: counter of an rxe device
rxe() { cat "/sys/class/infiniband/$1/ports/1/hw_counters/$2"; }

# run NAME FLOWS SLOWDOWN WORD...: check that traffic completes this number of flows within SLOWDOWN times the ideal time
run() {
	check "$1: traffic runs" traffic "${@:4}"
	check_eq "$1: all flows complete at the line rate" "$(flows "\$13 == \"done\" && \$12 < $3")" "$2"
}

# ---- the generator's model of a NIC

# again: packets that the flows have sent more than once
again() { awk -F , 'NR > 1 { n += $16 - $17 } END { print n }' "$TMP/flows"; }
check "the neighbour is resolved" traffic bulk src=h0 dst=h1 transport=gbn bytes=1
for kind in gbn sr; do
	NIC=(src=h0 dst=h1 "transport=$kind")
	run "$kind" 1 1.01 bulk "${NIC[@]}" bytes=2M
	check_eq "$kind: a flow takes the ideal time at least" "$(flows '$12 >= 1')" 1
	run "$kind: flow of a byte" 1 1.5 bulk "${NIC[@]}" bytes=1
	run "$kind: two patterns share a port" 20 22 bulk "${NIC[@]}" bytes=100k flows=10 -- \
		bulk "${NIC[@]}" bytes=100k flows=10
	check_eq "$kind: a lossless link needs no retransmission" "$(again)" 0
	wire_set "$a/w0" loss 1%
	check "$kind: traffic runs with lost packets" traffic bulk "${NIC[@]}" bytes=20M
	check_eq "$kind: all data arrives though packets are lost" "$(flows '$13 == "done" && $8 == 20000000')" 1
	eval "again_$kind=$(again)"
	wire_set "$a/w0" loss 0%
done
# 1 % of 4816 packets, and the packets after a lost one until its NAK arrives
note "repeated packets: go-back-N $again_gbn, selective repeat $again_sr"
check "selective repeat repeats the lost packets" [ "$again_sr" -gt 20 -a "$again_sr" -lt 100 ]
check "go-back-N repeats more" [ "$again_gbn" -gt $((2 * again_sr)) ]

check_refused "a host without RDMA device is refused" "is there an RDMA device?" \
	traffic bulk src=h0 dst=h1 bytes=1 transport=roce

# ---- RoCEv2

device rxe
ROCE=(src=h0 dst=h1 transport=roce connect=before)
for verb in imm send write nccl; do
	run "$verb" 1 1.01 bulk "${ROCE[@]}" bytes=2M verb=$verb
	check_eq "$verb: a flow takes the ideal time at least" "$(flows '$12 >= 1')" 1
done
run "WRITEs of a packet each" 1 1.01 bulk "${ROCE[@]}" bytes=1M message=4096
run "messages that are cut into WRITEs of a packet each" 1 1.01 bulk "${ROCE[@]}" bytes=1M message=100k verb=write_only
run "flow of a byte" 1 1.5 bulk "${ROCE[@]}" bytes=1
run "ten queue pairs" 10 12 bulk "${ROCE[@]}" bytes=100k flows=10
run "queue pair for each flow" 2 2.2 bulk src=h0,h1 dst=h1,h0 bytes=1M transport=roce
run "requests and responses" 20 2.2 rpc src=h0 dst=h1 transport=roce request=100 response=200k count=10 concurrency=2
check_eq "a lossless link needs no retransmission" "$(rxe h0 completer_retry_err) $(rxe h1 out_of_seq_request)" "0 0"

# times: start and completion time of each flow
times() { cut -d , -f 9,10 "$TMP/flows"; }
# differ FILE: number of times that differ from FILE by more than 2 ns: links count fractions of a ns
differ() {
	paste -d , "$1" <(times) | awk -F , -v n=0 '
		NR > 1 && ($1 != $3 || $2 - $4 > 2 || $4 - $2 > 2) { n++ } END { print (NR > 1 ? n : "no flows") }'
}
POISSON=(--seed 5 --time 3ms --drain 1s poisson load=0.4 "cdf=$LIB_TOP/tools/lab/cdf/hadoop.cdf" transport=roce)
check "pattern poisson runs" traffic "${POISSON[@]}"
times >"$TMP/first"
check "pattern poisson completes flows" [ "$(flows '$13 == "done"')" -gt 5 ]
check "pattern poisson runs again" traffic "${POISSON[@]}"
check_eq "each flow takes the same time again, but for 2 ns" "$(differ "$TMP/first")" 0

check "an endless flow runs" traffic --time 5ms --series "$TMP/series" --every 1ms bulk "${ROCE[@]}" message=64k
check_eq "an endless flow stops at the end of the time" "$(flows '$13 == "stopped" && $8 > 5500000')" 1
check "the series counts messages" awk -F , 'NR > 1 && ($3 % 64000 || $3 < last) { bad++ } NR > 1 { last = $3 }
	END { exit bad || !last }' "$TMP/series"

# 1 % of the packets are lost
wire_set "$a/w0" loss 1%
check "traffic runs with lost packets" traffic bulk "${ROCE[@]}" bytes=5M ack_timeout=8
check_eq "all data arrives though packets are lost" "$(flows '$13 == "done" && $8 == 5000000')" 1
check "rxe has retransmitted" [ "$(rxe h1 out_of_seq_request)" -gt 0 ]
wire_set "$a/w0" loss 0%
check_refused "iWARP is refused on rxe" "RDMA device h0 does not have transport=iwarp" \
	traffic bulk src=h0 dst=h1 bytes=1 transport=iwarp
no_device

# ---- iWARP

device siw
run "iWARP" 1 1.02 bulk src=h0 dst=h1 transport=iwarp connect=before bytes=2M
run "iWARP, requests and responses" 4 1.1 rpc src=h0 dst=h1 transport=iwarp request=100 response=200k count=4
check_refused "RoCEv2 is refused on siw" "RDMA device h0 does not have transport=roce" \
	traffic bulk src=h0 dst=h1 bytes=1 transport=roce
no_device

# ---- NDP, whose packets are placed as DDP's are

if load_module ndp; then
	NDP=(src=h0 dst=h1 transport=ndp connect=before)
	run "NDP, placed in a region" 3 3.2 bulk "${NDP[@]}" bytes=1M flows=3 region=4096k
	run "NDP, more messages than the region has space for at a time" 5 1.1 rpc src=h0 dst=h1 transport=ndp \
		request=1M response=1 count=5 region=2048k
	check "NDP, no space in the region: the generator reports a failed flow" \
		incomplete bulk "${NDP[@]}" bytes=1M flows=3 region=2048k
	check_eq "NDP, no space in the region: one of three flows fails" "$(flows '$13 == "failed"')" 1
	check_refused "a region that ends within a page is refused" "NDP_REGION=5000: Invalid argument" \
		traffic bulk "${NDP[@]}" bytes=1M region=5000
else
	skip "NDP, placed in a region" "no module ndp"
fi
finish

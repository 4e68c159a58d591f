#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Which priority a packet has: by DSCP, by the PCP of its VLAN tag, or by the
# socket's, through the map; and how the priorities share the port: the highest
# first, or by their quanta.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> v0: dcqcn |=====| v1                  |
#	|  capture <-'        |     |                     |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_dcqcn
setup_ns a b
link_ab
ip -n "$a" link add link v0 name v0.5 type vlan id 5 \
	egress-qos-map 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7 || skip_all "no VLAN devices"
ip -n "$a" link set v0.5 up

# waiting WHAT WANT FRAME...: how many wait in each priority
waiting() {
	local what=$1 want=$2
	shift 2
	check "$what: frames are sent" send_frames -s "$a/v0" \
		-x "tc -n $a -s -j qdisc show dev v0 >$TMP/stats" "$PLUG" "$@"
	check_eq "$what" "$(jq -c '.[0] | [.prio[].qlen_packets]' "$TMP/stats")" "$want"
}

# ---- trust and maps

dcqcn rate 1kbit
waiting "trust dscp: DSCP / 8" "[3,1,1,2,1,2,1,6]" \
	udp4,dscp=0 udp4,dscp=7 udp4,dscp=8 udp6,dscp=16 udp4,dscp=24 udp4,dscp=31 tcp4,dscp=32 tcp6,dscp=46 \
	udp4,dscp=40 udp4,dscp=48 raw udp4,dscp=63 \
	udp6,dscp=56,vlan=in udp4,dscp=56,vlan=qinq,pcp=0 tcp4,dscp=63,vlan=off,prio=2 \
	udp4,dscp=60,opt=8 udp6,dscp=60,frag=1,prio=2
dcqcn map 46:5,0-7:2,63:7 rate 1kbit
waiting "a map of DSCPs" "[2,0,2,0,0,1,0,1]" \
	udp4,dscp=0 udp6,dscp=7 udp4,dscp=8 udp4,dscp=46 udp4,dscp=63 udp4,dscp=62
dcqcn trust pcp rate 1kbit
waiting "trust pcp: the tag's" "[4,2,1,2,0,1,0,2]" \
	udp4,dscp=46 raw udp6,dscp=56,prio=3 udp4,vlan=in,pcp=0 \
	udp4,vlan=in,pcp=1 udp6,vlan=qinq,pcp=1 udp4,vlan=off,pcp=2,prio=2 tcp4,vlan=in,pcp=3 tcp6,vlan=off,pcp=3,prio=3 \
	udp4,vlan=in,pcp=5 udp6,vlan=off,pcp=7,prio=7 udp4,vlan=qinq,pcp=7
dcqcn trust pcp map 0:7,7:0,3:1 rate 1kbit
waiting "a map of PCPs; without a tag 0" "[3,1,0,0,0,0,0,1]" \
	udp4 udp4,vlan=in,pcp=0 udp4,vlan=off,pcp=3,prio=3 udp4,vlan=in,pcp=7 udp4,vlan=in,pcp=4
dcqcn trust priority rate 1kbit
waiting "trust priority: the socket's" "[4,0,0,1,0,0,0,2]" \
	udp4,dscp=46 udp4,prio=3 udp6,prio=7 raw,prio=7 udp4,prio=8 udp4,prio=65539 udp4,prio=-1
check "trust dscp again" tc -n "$a" qdisc change dev v0 root dcqcn trust dscp
check "a frame" send_frames -s "$a/v0" udp4,dscp=40
check_json "$(sch_stats)" "only what comes from then on" '[.prio[].qlen_packets] == [4,0,0,1,0,1,0,2]'

# ---- strict

# order: the priorities of the frames behind the plug, as they left; they were
# sent in groups of 8, of DSCPs that are given
order() {
	sort -s -k5n "$TMP/result" | awk -v dscps="$*" '
		BEGIN { split(dscps, dscp, " ") }
		$2 > 0 { printf "%d", dscp[int(($2 - 1) / 8) + 1] / 8 }'
}
# groups DSCP...: frames
groups() { printf 'udp4,n=8,dscp=%d\n' "$@"; }

dcqcn rate 1kbit
# shellcheck disable=SC2046 # words
check_to "$TMP/result" "strict: 40 frames leave" send_frames -s "$a/v0" \
	-c "out=$a/v0/out/41" -x "$(release)" "$PLUG" $(groups 16 56 0 48 24)
check_eq "strict: the highest first" "$(order 16 56 0 48 24)" \
	"7777777766666666333333332222222200000000"

# ---- DRR

# shares QUANTA COUNTS: how far, in hundredths of a round, a priority that waits was ahead of another one that waits;
# with the quantum and the number of frames of each, in the order in which they were sent
shares() {
	sort -s -k5n "$TMP/result" | awk -v quanta="$1" -v counts="$2" '
		BEGIN {
			k = split(quanta, quantum, " "); split(counts, left, " ")
			for (i = 1; i <= k; i++) for (j = 0; j < left[i]; j++) of[++all] = i
		}
		$2 > 0 {
			i = of[$2]
			sent[i] += $4 / quantum[i]
			left[i]--
			for (x = 1; x <= k; x++) for (y = 1; y <= k; y++)
				if (left[x] && left[y] && sent[x] - sent[y] > worst) worst = sent[x] - sent[y]
		}
		END { printf "%d\n", worst * 100 }'
}

# drr WHAT QUANTA COUNTS MOST FRAME...: all wait, then leave; none is ahead by more than MOST hundredths of a round: by
# DRR that is one round, and the longest packet by the quantum of each of two
drr() {
	local what=$1 quanta=$2 counts=$3 most=$4 total
	shift 4
	total=$((${counts// /+} + 1))
	check_to "$TMP/result" "drr, $what: $total frames leave" send_frames -s "$a/v0" \
		-c "out=$a/v0/out/$total" -x "$(release)" "$PLUG" "$@"
	check "drr, $what: none is ahead" test "$(shares "$quanta" "$counts")" -le "$most"
	note "$what: $(shares "$quanta" "$counts") hundredths of a round"
}

dcqcn sched drr rate 1kbit
drr "the same quantum" "3028 3028 3028" "40 40 40" 199 \
	udp4,dscp=0,len=1500,n=40 udp4,dscp=8,len=1500,n=40 udp4,dscp=56,len=1500,n=40
dcqcn sched drr rate 1kbit
drr "other lengths" "3028 3028 3028" "20 100 30" 447 \
	udp4,dscp=24,len=9000,n=20 udp4,dscp=16,len=1000,n=100 raw,len=1500,n=30
dcqcn sched drr prio 1 quantum 6000 prio 4 quantum 1500 rate 1kbit
drr "quanta of their own" "6000 1500 3028" "80 20 40" 200 \
	udp4,dscp=8,len=1000,n=80 udp4,dscp=32,len=1000,n=20 udp4,dscp=40,len=1000,n=40
check_json "$(sch_stats)" "all is counted" '[.prio[].sent_packets] == [0,81,0,0,20,40,0,0]'
dcqcn sched drr prio 3 quantum 64 rate 1kbit
drr "a quantum far below a packet" "3028 64" "200 4" 1696 \
	udp4,dscp=0,len=1000,n=200 udp4,dscp=24,len=1000,n=4
check "back to strict" tc -n "$a" qdisc change dev v0 root dcqcn sched strict
finish

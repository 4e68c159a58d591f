#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Marking by the queue length when a packet arrives: no packet up to kmin, each
# packet above kmax, and between them an independent draw with a probability that
# rises linearly. Marking works on each kind of frame and changes no other byte.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> v0: dcqcn |=====| v1 -> capture       |
#	|  capture <-'        |     |                     |
#	|   mirror '> w0      |=====| w1 -> capture       |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_dcqcn
setup_ns a b
link_ab

# run WHAT COUNT FRAME...: COUNT frames leave after the plug; $stats is the state
# of the qdisc while they are queued
run() {
	local what=$1 count=$2
	shift 2
	check_to "$TMP/result" "$what: $count frames leave with all bytes correct" \
		send_frames -s "$a/v0" -c "in=$b/v1/in/$((count + 1))" \
		-x "tc -n $a -s -j qdisc show dev v0 >$TMP/stats; $(release)" "$PLUG" "$@"
	stats=$(jq -c '.[0]' "$TMP/stats")
}

# marks: for each frame after the plug, in the order of sending: w(hole) or m(arked)
marks() { sort -k2n "$TMP/result" | awk '$2 > 0 { printf "%s", substr($3, 1, 1) }'; }

# ---- thresholds

dcqcn kmin 5000 kmax 5000 rate 1kbit
run "kmin 5000 kmax 5000" 10 udp4,ecn=2,n=10
check_eq "kmin 5000 kmax 5000: packets that arrive above 5000 bytes are marked" "$(marks)" wwwwwwmmmm
check_json "$stats" "kmin 5000 kmax 5000: each mark is counted" '.marked_packets == 4'
dcqcn kmin 5000 kmax 5000 rate 1kbit
run "short frames around kmin" 5 udp4,len=5000,ecn=2 udp4,len=64,ecn=2 udp4,len=64,ecn=2 udp4,len=64,ecn=1 udp4,ecn=2
check_eq "a queue of 5000 bytes is not above kmin 5000, one of 5064 is" "$(marks)" wwmmm
dcqcn kmin 3000 kmax 6000 pmax 100% rate 1kbit
run "pmax 100%" 9 udp4,len=5999,ecn=2 udp4,len=1001,ecn=2 udp4,ecn=2,n=7
check_eq "pmax 100%: each packet above kmax is marked" "$(marks | cut -c 3-)" mmmmmmm
dcqcn kmin 3000 kmax 40000 pmax 0.00001% rate 1kbit
run "pmax 0.00001%" 42 udp4,ecn=2,n=42
check_eq "pmax 0.00001%: only packets above kmax are marked" "$(marks)" "$(printf 'w%.0s' {1..41})m"
dcqcn rate 1kbit
run "default thresholds" 37 udp4,ecn=2,n=4 udp4,ecn=0,len=9000,n=23 udp4,ecn=2,n=10
check_eq "default thresholds: no mark up to 5 kB, each packet marked above 200 kB" \
	"$(marks)" "wwwwwwwwwwwwwwwwwwwwwwwwwwwmmmmmmmmmm"

# ---- between the thresholds. Frames that are not ECT fill the queue to six
# levels; at each level, 500 short ECT frames follow.

# drawn LOW HIGH PMAX: compare the number of marks at each level, and the number of
# consecutive pairs with different results, with independent draws. By Bernstein's
# inequality each bound fails with a probability of at most 10^-9.
drawn() {
	awk -v low="$1" -v high="$2" -v pmax="$3" '
		function compare(what, n, mean, variance, most) {
			most = 7.2 + sqrt(51 + 43 * variance)
			printf "%s: %d, expected %.1f +- %.1f\n", what, n, mean, most
			if (n < mean - most || n > mean + most) bad = 1
		}
		function end_level() {
			if (draws) compare("at " level " bytes", n, mean, variance)
			all += draws
			draws = n = mean = variance = 0
		}
		$2 == 0 { next }
		$4 > 1000 { end_level(); q += $4; level = q; next }
		{
			p = q <= low ? 0 : q > high ? 1 : pmax * (q - low) / (high - low)
			hit = $3 == "marked"
			n += hit; mean += p; variance += p * (1 - p)
			if ((p == 0 && hit) || (p == 1 && !hit)) { print "at " q " bytes"; bad = 1 }
			if (++draws % 2 == 0) {
				differ = p * (1 - last_p) + last_p * (1 - p)
				pairs += hit != last; even += differ; spread += differ * (1 - differ)
			}
			last = hit; last_p = p; q += $4
		}
		END {
			end_level()
			compare("consecutive pairs that differ", pairs, even, spread)
			exit bad || all < 3000
		}' <(sort -k2n "$TMP/result")
}

levels=()
for _ in 1 2 3 4 5 6; do
	levels+=("udp4,ecn=0,len=9000,n=20" "udp4,ecn=2,len=64,n=500")
done
dcqcn kmin 200000 kmax 1200000 pmax 80% limit 10mb rate 1kbit
check_to "$TMP/result" "all frames leave from six queue lengths" \
	send_frames -s "$a/v0" -c "out=$a/v0/out/3121" -x "$(release)" "$PLUG" "${levels[@]}"
check "marks are independent draws with a linear probability" drawn 200000 1200000 0.8
note "$(drawn 200000 1200000 0.8)"

# ---- kinds of frames

vlan_v0
kinds=()
for kind in udp4 udp6 tcp4 tcp6; do
	kinds+=("$kind,ecn=2" "$kind,ecn=1" "$kind,ecn=0" "$kind,ecn=3")
	kinds+=("$kind,ecn=2,vlan=in" "$kind,ecn=1,vlan=qinq" "$kind,ecn=2,vlan=off" "$kind,ecn=0,vlan=in")
	kinds+=("$kind,ecn=1,csum=partial" "$kind,ecn=2,len=9000,lin=14" "$kind,ecn=2,len=9000,csum=partial,lin=94")
	kinds+=("$kind,ecn=1,len=9000,lin=18,vlan=in" "$kind,ecn=2,len=9000,lin=22,vlan=qinq")
	kinds+=("$kind,ecn=2,pad=10" "$kind,ecn=2,opt=8" "$kind,ecn=2,frag=1")
done
kinds+=(raw)
# the queue is not empty for all frames after this one
first=("udp4,ecn=0")
# w: not ECT, or already CE, and leaves as sent
each=mmwwmmmwmmmmmmmm

dcqcn kmin 0 kmax 0 rate 1kbit
run "all kinds of frames" 66 "${first[@]}" "${kinds[@]}"
check_eq "each kind of ECT frame is marked" "$(marks)" "w$each$each$each${each}w"
check_json "$stats" "52 marks on all kinds of frames are counted" '.marked_packets == 52' \
	"frames without ECT pass unmarked" '.dropped_nonect_packets == 0'

mirror_v0
dcqcn kmin 0 kmax 0 rate 1kbit
check_to "$TMP/result" "cloned frames leave at the port and at the mirror" \
	send_frames -s "$a/v0" -c "in=$b/v1/in/67" -c "mirror=$b/w1/in/67" -x "$(release)" \
	"$PLUG" "${first[@]}" "${kinds[@]}"
check_eq "cloned frames are marked at the port only" \
	"$(awk '$1 == "in" && $3 == "marked" { n++ } $1 == "mirror" && $3 == "marked" { m++ } END { print n, m + 0 }' \
		"$TMP/result")" "52 0"
tc -n "$a" qdisc del dev v0 clsact

dcqcn nonect drop kmin 0 kmax 0 rate 1kbit
run "nonect drop" 57 "${first[@]}" udp4,ecn=0,n=10 "${kinds[@]}"
check_json "$stats" \
	"nonect drop: frames without ECT are dropped instead of marked" \
	'.dropped_nonect_packets == 19 and .drops == 19' \
	"nonect drop: a frame without ECT that arrives at an empty queue passes" '.qlen == 57'
dcqcn nonect drop kmin 5000 kmax 5000 rate 1kbit
run "nonect drop below kmin" 6 udp4,ecn=0,n=10
check_json "$stats" "nonect drop: no drop up to kmin" '.dropped_nonect_packets == 4 and .drops == 4'

# ---- TCP, which keeps a clone of each packet for retransmission

ip -n "$a" link set v0 mtu 1500
ip -n "$b" link set v1 mtu 1500
ip netns exec "$a" sysctl -qw net.ipv4.tcp_ecn=1
dcqcn kmin 0 kmax 0 rate 20mbit
traffic tcp-receive -n "$b" -p 5001 >"$TMP/tcp" &
JOBS+=($!)
receiver=$!
wait_for 5 listening 5001
check "TCP with ECN sends through dcqcn" timeout 60 traffic tcp-send -n "$a" -d 10.0.0.2 -p 5001 -c 300000
wait $receiver || true
check_eq "TCP with ECN: each byte arrives unchanged" "$(cat "$TMP/tcp")" "received 300000"
check_json "$(sch_stats)" "TCP with ECN: packets are marked" '.marked_packets > 3'
finish

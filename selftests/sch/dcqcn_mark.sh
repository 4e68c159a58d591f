#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Marks by the length of the queue at a packet's arrival: none up to kmin, all
# above kmax, and between them an independent draw with the probability on the
# line; on each kind of frame, and with the rest of it untouched.
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

# run WHAT COUNT FRAME...: COUNT frames come out behind the plug; $stats is the
# qdisc while they wait
run() {
	local what=$1 count=$2
	shift 2
	check_to "$TMP/result" "$what: $count frames come out, right in each byte" \
		send_frames -s "$a/v0" -c "in=$b/v1/in/$((count + 1))" \
		-x "tc -n $a -s -j qdisc show dev v0 >$TMP/stats; $(release)" "$PLUG" "$@"
	stats=$(jq -c '.[0]' "$TMP/stats")
}

# marks: of the frames behind the plug, in the order in which they were sent: w(hole) or m(arked)
marks() { sort -k2n "$TMP/result" | awk '$2 > 0 { printf "%s", substr($3, 1, 1) }'; }

# ---- thresholds

dcqcn kmin 5000 kmax 5000 rate 1kbit
run "a step at 5000" 10 udp4,ecn=2,n=10
check_eq "a step at 5000: up to 5000 bytes none, above all" "$(marks)" wwwwwwmmmm
check_json "$stats" "and they are counted" \
	'.marked_packets == 4'
dcqcn kmin 5000 kmax 5000 rate 1kbit
run "to the byte" 5 udp4,len=5000,ecn=2 udp4,len=64,ecn=2 udp4,len=64,ecn=2 udp4,len=64,ecn=1 udp4,ecn=2
check_eq "to the byte: 5000 is not above, 5064 is" "$(marks)" wwmmm
dcqcn kmin 3000 kmax 6000 pmax 100% rate 1kbit
run "pmax 100%" 9 udp4,len=5999,ecn=2 udp4,len=1001,ecn=2 udp4,ecn=2,n=7
check_eq "pmax 100%: all above kmax" "$(marks | cut -c 3-)" mmmmmmm
dcqcn kmin 3000 kmax 40000 pmax 0.00001% rate 1kbit
run "hardly ever" 42 udp4,ecn=2,n=42
check_eq "hardly ever: not up to kmax, always above" "$(marks)" "$(printf 'w%.0s' {1..41})m"
dcqcn rate 1kbit
run "the defaults" 37 udp4,ecn=2,n=4 udp4,ecn=0,len=9000,n=23 udp4,ecn=2,n=10
check_eq "the defaults: none up to 5 kB, all above 200 kB" \
	"$(marks)" "wwwwwwwwwwwwwwwwwwwwwwwwwwwmmmmmmmmmm"

# ---- between the thresholds. Frames that are not ECT fill the queue up to some
# levels; at each, 500 short ones are drawn for.

# drawn LOW HIGH PMAX: the number of marks at each level, and of pairs of draws
# with different results, against what independent draws on the line give. By
# Bernstein's inequality each is as far off as that once in 10^9 times.
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
			compare("pairs that differ", pairs, even, spread)
			exit bad || all < 3000
		}' <(sort -k2n "$TMP/result")
}

levels=()
for _ in 1 2 3 4 5 6; do
	levels+=("udp4,ecn=0,len=9000,n=20" "udp4,ecn=2,len=64,n=500")
done
dcqcn kmin 200000 kmax 1200000 pmax 80% limit 10mb rate 1kbit
check_to "$TMP/result" "six levels: all frames leave" \
	send_frames -s "$a/v0" -c "out=$a/v0/out/3121" -x "$(release)" "$PLUG" "${levels[@]}"
check "marks are independent draws on the line" drawn 200000 1200000 0.8
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
# so that no other one meets an empty queue
first=("udp4,ecn=0")
# w: what is not ECT, or came with a mark; it is what was sent
each=mmwwmmmwmmmmmmmm

dcqcn kmin 0 kmax 0 rate 1kbit
run "all kinds" 66 "${first[@]}" "${kinds[@]}"
check_eq "all kinds: what is ECT is marked" "$(marks)" "w$each$each$each${each}w"
check_json "$stats" "52 marks" '.marked_packets == 52' \
	"what cannot be marked passes" '.dropped_nonect_packets == 0'

mirror_v0
dcqcn kmin 0 kmax 0 rate 1kbit
check_to "$TMP/result" "copies: all come out at the port and at the mirror" \
	send_frames -s "$a/v0" -c "in=$b/v1/in/67" -c "mirror=$b/w1/in/67" -x "$(release)" \
	"$PLUG" "${first[@]}" "${kinds[@]}"
check_eq "copies: marked at the port, as they were sent at the mirror" \
	"$(awk '$1 == "in" && $3 == "marked" { n++ } $1 == "mirror" && $3 == "marked" { m++ } END { print n, m + 0 }' "$TMP/result")" \
	"52 0"
tc -n "$a" qdisc del dev v0 clsact

dcqcn nonect drop kmin 0 kmax 0 rate 1kbit
run "nonect drop" 57 "${first[@]}" udp4,ecn=0,n=10 "${kinds[@]}"
check_json "$stats" \
	"nonect drop: what would be marked and is not ECT is dropped" \
	'.dropped_nonect_packets == 19 and .drops == 19' \
	"but not one that met no queue" '.qlen == 57'
dcqcn nonect drop kmin 5000 kmax 5000 rate 1kbit
run "nonect drop below kmin" 6 udp4,ecn=0,n=10
check_json "$stats" "nonect drop: none up to kmin" '.dropped_nonect_packets == 4 and .drops == 4'

# ---- a stream, whose sender keeps what it has sent

ip -n "$a" link set v0 mtu 1500
ip -n "$b" link set v1 mtu 1500
ip netns exec "$a" sysctl -qw net.ipv4.tcp_ecn=1
dcqcn kmin 0 kmax 0 rate 20mbit
traffic tcp-receive -n "$b" -p 5001 >"$TMP/tcp" &
JOBS+=($!)
receiver=$!
wait_for 5 listening 5001
check "TCP with ECN: sent" timeout 60 traffic tcp-send -n "$a" -d 10.0.0.2 -p 5001 -c 300000
wait $receiver || true
check_eq "TCP with ECN: each byte arrives right" "$(cat "$TMP/tcp")" "received 300000"
check_json "$(sch_stats)" "TCP with ECN: packets were marked" '.marked_packets > 3'
finish

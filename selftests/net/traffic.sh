#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The lab's traffic generator: each pattern between four hosts, its records and summaries, error messages, and flows
# that cannot complete
#
#	h0 -- v0 --+
#	h1 -- v0 --+-- br0 in sw, port p1 to h1
#	h2 -- v0 --+
#	h3 -- v0 --+
# shellcheck disable=SC2317 # check and wait_for call the functions
. "$(dirname "$0")/../lib/lib.sh"
[ "$(id -u)" -eq 0 ] || skip_all "needs root"
! exact || skip_all "veth has no rate, so endless flows would stop virtual time"
TRAFFIC=$LIB_TOP/build/lab/traffic
CDF=$LIB_TOP/tools/lab/cdf
[ -x "$TRAFFIC" ] || skip_all "no $TRAFFIC: make -C tools/lab/traffic"

sw=''
h=('' '' '' '')
setup_ns sw h0 h1 h2 h3
# shellcheck disable=SC2154 # setup_ns sets them
h=("$h0" "$h1" "$h2" "$h3")
ip -n "$sw" link add br0 type bridge || skip_all "no bridges"
ip -n "$sw" link set br0 up
for i in 0 1 2 3; do
	ns=${h[i]}
	ip link add v0 netns "$ns" type veth peer name p$i netns "$sw"
	ip -n "$sw" link set p$i master br0 up
	ip netns exec "$ns" tee /proc/sys/net/ipv6/conf/v0/disable_ipv6 >/dev/null <<<0
	ip -n "$ns" -batch - <<-END
		link set v0 up
		addr add 10.0.0.$((i + 1))/24 dev v0
		addr add fd00::$((i + 1))/64 dev v0 nodad
	END
	echo "host h$i $ns 10.0.0.$((i + 1)) 0 0" >>"$TMP/hosts"
	echo "host h$i $ns fd00::$((i + 1)) 0 0" >>"$TMP/hosts6"
done
# a rate that even slow machines reach
for f in hosts hosts6; do
	echo "path same-leaf 100000000:1000 100000000:1000" >>"$TMP/$f"
done

# traffic WORD...: run the generator with hosts file $HOSTS; records: $TMP/flows, summary: $TMP/summary
HOSTS=hosts
traffic() {
	timeout 100 "$TRAFFIC" --hosts "$TMP/$HOSTS" --flows "$TMP/flows" --json "$@" >"$TMP/summary"
}

# flows CONDITION: number of records for which awk's CONDITION is true; columns are variables
flows() {
	awk -F , -v n=0 '
		NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		{
			bytes = $c["bytes"]; received = $c["received_bytes"]; state = $c["state"]
			error = $c["error"]; start = $c["start_ns"]; fct = $c["fct_ns"]
			ideal = $c["ideal_ns"]; slowdown = $c["slowdown"]; round = $c["round"]
			src = $c["src"]; dst = $c["dst"]; name = $c["name"]
			connected = $c["connected"]; sent = $c["sent_packets"]; whole = $c["whole_packets"]; cut = $c["short_packets"]
		}
		'"$1"' { n++ }
		END { print n }' "$TMP/flows"
}
DONE='state == "done" && received == bytes && fct > 0 && slowdown > 0'

# schedule: the planned flows
schedule() { cut -d , -f 3,5-7 "$TMP/flows"; }

check "flows of one byte reach all hosts" wait_for 10 traffic bulk src=h0 dst=h1-h3 bytes=1

# ---- invalid arguments

check_refused "unknown pattern is refused" 'unknown pattern "bluk"' traffic bluk src=h0 dst=h1
check_refused "unknown key is refused" 'bulk: unknown key "size=1"' traffic bulk src=h0 dst=h1 size=1
check_refused "missing key is refused" 'bulk: missing key "dst"' traffic bulk src=h0
check_refused "unknown host is refused" 'src=h4: unknown host "h4"' traffic bulk src=h4 dst=h1 bytes=1
check_refused "host given twice is refused" "src=h0-h2,h1: duplicate host h1" traffic bulk src=h0-h2,h1 dst=h3 bytes=1
check_refused "bands of another transport are refused" 'key "bands" conflicts with transport=ndp' \
	traffic bulk src=h0 dst=h1 bytes=1 transport=ndp bands=6
check_refused "bands with TOS are refused" 'keys "bands" and "tos" conflict' \
	traffic bulk src=h0 dst=h1 bytes=1 bands=6 tos=0x20
check_refused "flow of 0 bytes is refused" 'bad value for key "bytes": "0"' traffic bulk src=h0 dst=h1 bytes=0
check_refused "endless flow without --time is refused" "bulk: endless flows need --time" traffic bulk src=h0 dst=h1
check_refused "unknown option is refused" 'unknown option "--tme"' traffic --tme 1s bulk src=h0 dst=h1
check_refused "time without unit is refused" 'bad value for --time: "5"' traffic --time 5 bulk src=h0 dst=h1
check_refused "unknown congestion control is refused" "cc=nonesuch: No such file" \
	traffic bulk src=h0 dst=h1 bytes=1 cc=nonesuch
check_refused "port in use is refused" "h1: bind, port=2000: Address already in use" \
	traffic bulk src=h0 dst=h1 bytes=1 port=2000 -- bulk src=h2 dst=h1 bytes=1 port=2000
check_refused "origin in the past is refused" "--origin 1 has passed" traffic --origin 1 bulk src=h0 dst=h1 bytes=1
echo "host h0 x 10.0.0.1 0" >"$TMP/bad"
check_refused "bad hosts file is refused" "bad:1: not \"host NAME" "$TRAFFIC" --hosts "$TMP/bad" bulk
printf '10 0\n20 0.5\n' >"$TMP/bad.cdf"
check_refused "distribution without probability 1 is refused" "bad.cdf:2: the last probability is not 1" \
	traffic --time 1s poisson load=0.1 cdf="$TMP/bad.cdf"

# ---- patterns

check "pattern bulk runs" traffic bulk src=h0-h2 dst=h3 bytes=200k
check_eq "pattern bulk completes one flow per sender" "$(flows "$DONE && bytes == 200000")" 3
check_json "$(cat "$TMP/summary")" \
	"summary counts completed flows" '.[0] | .kind == "bulk" and .flows == 3 and .done == 3 and .failed == 0' \
	"summary counts all bytes" '.[0].received_bytes == 600000' \
	"summary has ordered percentiles of completion times" '.[0].fct_us | .p50 <= .p99 and .p99 <= .max and .mean > 0' \
	"summary has Jain's index" '.[0].jain > 0.33 and .[0].jain <= 1'
# 138 full frames and one with 176 bytes of data; the second link starts one full frame and 1 µs later
check_eq "records have the ideal completion time" "$(flows 'ideal == 17123920')" 3

check "pattern bulk runs with more flows than hosts on open connections" \
	traffic bulk src=h0,h1 dst=h2,h3 flows=6 bytes=1 connect=before
check_eq "pattern bulk completes six flows" "$(flows "$DONE")" 6
check_eq "pattern bulk assigns flows to hosts in turn" "$(flows 'src == "h1" && dst == "h3"')" 3

check "pattern rpc runs" traffic rpc src=h0,h1 dst=h2 request=100 response=30k count=4 concurrency=2
check_eq "pattern rpc completes 16 requests" "$(flows "$DONE && bytes == 30100")" 16
check_eq "pattern rpc numbers the requests of a connection" "$(flows 'round == 3')" 4

for connect in flow before; do
	check "pattern incast runs with connect=$connect" \
		traffic incast src=all dst=h1 bytes=20k rounds=3 connect=$connect
	check_eq "pattern incast completes three flows per round with connect=$connect" \
		"$(flows "$DONE") $(flows 'round == 2')" "9 3"
	check_eq "pattern incast starts each round after the previous one with connect=$connect" "$(flows '{
		if (start + fct > end[round]) end[round] = start + fct
		} round > 0 && start < end[round - 1]')" 0
done

check "pattern permutation runs" traffic --seed 3 permutation bytes=10k
check_eq "pattern permutation gives each host one destination and one source" \
	"$(flows "$DONE && src != dst && !from[src]++ && !to[dst]++")" 4
one=$(schedule)
check "pattern permutation runs with the same seed" traffic --seed 3 permutation bytes=10k
check_eq "pattern permutation is the same with the same seed" "$(schedule)" "$one"

poisson=(--time 300ms --drain 60s poisson load=0.06 cdf="$CDF/hadoop.cdf")
check "pattern poisson runs" traffic --seed 7 "${poisson[@]}"
one=$(schedule)
check "pattern poisson completes all flows" [ "$(flows "$DONE")" -eq "$(flows 1)" ]
check "pattern poisson has more than 5 flows" [ "$(flows 1)" -gt 5 ]
check "pattern poisson runs with the same seed" traffic --seed 7 "${poisson[@]}"
check_eq "pattern poisson is the same with the same seed" "$(schedule)" "$one"
check "pattern poisson runs on a pool of connections" traffic --seed 7 "${poisson[@]}" connect=before
check_eq "pattern poisson has the same flows on a pool of connections" "$(schedule)" "$one"
check "pattern poisson completes all flows on a pool of connections" [ "$(flows "$DONE")" -eq "$(flows 1)" ]
check_eq "a flow opens a connection only if those of its pair are busy" "$(flows 'connected { n--
	for (i = 0; i < count; i++)
		if (pair[i] == src dst && from[i] + took[i] > start) { n++; break }
	} { pair[count] = src dst; from[count] = start; took[count++] = fct } 0')" 0
check "one pair of hosts is overloaded" traffic --seed 7 --time 200ms poisson load=4 cdf="$CDF/hadoop.cdf" src=h1 dst=h2 \
	connect=before
check "flows open connections if those of their pair are busy" [ "$(flows connected)" -gt 0 ]
check_refused "more connections than the pool may have are refused" \
	"poisson: concurrency=10000 for 12 pairs exceeds 100000 connections" \
	traffic --time 1s poisson load=0.1 cdf="$CDF/hadoop.cdf" connect=before concurrency=10000
check "pattern poisson runs with another seed" traffic --seed 8 "${poisson[@]}"
check "pattern poisson differs with another seed" [ "$(schedule)" != "$one" ]

# ---- datagrams

check "pattern blast runs at a rate" traffic --time 1s blast src=h0,h2 dst=h1 size=1000 rate=800kbit
check_json "$(cat "$TMP/summary")" \
	"pattern blast stops two flows at the end of the time" '.[0] | .flows == 2 and .stopped == 2' \
	"pattern blast keeps its rate" '.[0].goodput_bps | . > 1400000 and . < 1700000'
check_eq "at most one datagram of each blast is missing" "$(flows 'whole >= sent - 1 && !cut')" 2
check "pattern blast runs without a rate" traffic --time 300ms blast src=h0 dst=h1 size=1000
check_eq "pattern blast without a rate sends at the link's rate" \
	"$(flows 'sent > 100 && sent < 3750 + 1024 + 1 && whole > 0')" 1

if tc -n "$h1" qdisc add dev v0 clsact && tc -n "$h1" filter add dev v0 ingress protocol ip flower \
	ip_proto udp dst_port 61199 ip_tos 0x28 action pass; then
	check "pattern blast runs with a port and TOS" \
		traffic --time 100ms blast src=h0 dst=h1 rate=800kbit port=61199 tos=0x28
	check_json "$(tc -n "$h1" -s -j filter show dev v0 ingress)" "pattern blast sets port and TOS of datagrams" \
		'[.. | .stats? // empty | .packets] | max >= 5'
else
	skip "pattern blast sets port and TOS of datagrams" "no flower"
fi

# precedence DIRECTION TOS: count TCP's bytes of a precedence at h1
precedence() { tc -n "$h1" filter add dev v0 "$1" protocol ip pref 9 flower ip_proto tcp ip_tos "$2/0xe0" action pass; }
if precedence ingress 0x60 2>/dev/null && precedence egress 0xa0; then
	check "pattern bulk runs with bands" traffic bulk src=h0 dst=h1 bytes=100k bands=6
	check_json "$(tc -n "$h1" -s -j filter show dev v0 ingress)" "TCP's data has the precedence of the flow's length" \
		'[.. | .stats? // empty | .bytes] | max >= 100000'
	check_json "$(tc -n "$h1" -s -j filter show dev v0 egress)" "TCP's ACKs have the highest precedence" \
		'[.. | .stats? // empty | .packets] | max >= 3'
else
	skip "TCP's data has the precedence of the flow's length" "no flower"
fi

# module ndp, which an earlier test may have left, would receive all datagrams to its port
! module_loaded ndp || check "module ndp is unloaded" wait_for 10 rmmod ndp
if load_module sch_ndp && tc -n "$sw" qdisc add dev p1 root ndp rate 10mbit limit 4; then
	check "pattern blast runs through a trimming port" \
		traffic --time 500ms blast src=h0 dst=h1 size=1400 rate=30mbit port=61199
	check_eq "records count whole and trimmed datagrams" "$(flows 'whole > 50 && cut > 50 &&
		received == 1400 * whole')" 1
	tc -n "$sw" qdisc del dev p1 root
else
	skip "records count whole and trimmed datagrams" "no module sch_ndp"
fi

# ---- IPv6

HOSTS=hosts6
check "patterns bulk and blast run over IPv6" traffic --time 2s \
	bulk src=h0 dst=h1 bytes=100k tos=0x20 -- blast src=h2 dst=h3 rate=800kbit name=six
check_eq "flows of bulk and blast arrive over IPv6" "$(flows 'name == "bulk" && state == "done" ||
	name == "six" && whole > 10')" 2
HOSTS=hosts

# ---- series and progress

# with_progress WORD...: run traffic --progress with stderr in $TMP/progress
with_progress() { traffic --progress "$@" 2>"$TMP/progress"; }
check "traffic records series" \
	with_progress --time 500ms --series "$TMP/series" --every 50ms bulk src=h0,h1 dst=h2 cc=reno
check_eq "endless flows are stopped at the end of the time" "$(flows 'state == "stopped" && received > 0')" 2
# shellcheck disable=SC2016 # awk expands
check "series has ascending samples of each flow" awk -F , '
	NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
	$c["time_ns"] < t || $c["acked_bytes"] < acked[$c["flow"]] || !$c["cwnd_packets"] { bad++ }
	{ t = $c["time_ns"]; acked[$c["flow"]] = $c["acked_bytes"]; n[$c["flow"]]++ }
	END { exit bad || n[0] < 3 || n[1] < 3 }' "$TMP/series"
check_eq "progress is printed at each percent" "$(grep -c '^progress [0-9]* 500000000$' "$TMP/progress")" 101

# both_use_reno: true if both ends of the connection use reno
both_use_reno() {
	ip netns exec "$h0" ss -Htin "dport = 20000" | grep -qw reno &&
		ip netns exec "$h1" ss -Htin "sport = 20000" | grep -qw reno
}
job timeout 100 "$TRAFFIC" --hosts "$TMP/hosts" --time 60s bulk src=h0 dst=h1 cc=reno
check "cc= sets the congestion control of both sides" wait_for 20 both_use_reno
stop_jobs

# ---- failures

check "600 flows run at once, beyond the usual limit of open files" \
	traffic bulk src=h0,h1 dst=h2,h3 flows=600 bytes=1000 connect=before
check_eq "all 600 flows complete" "$(flows "$DONE")" 600

# fails COMMAND...: true if COMMAND exits with status 1
fails() {
	local status=0
	"$@" || status=$?
	[ $status -eq 1 ]
}
ip netns exec "$h0" tee /proc/sys/net/ipv4/ip_local_port_range >/dev/null <<<"40000 40003"
check "traffic exits with 1 if there are more flows than ports" fails traffic --time 1s bulk src=h0 dst=h1 flows=6
check_eq "flows without a port fail with EADDRNOTAVAIL" \
	"$(flows 'state == "stopped"') $(flows 'error == "EADDRNOTAVAIL"')" "4 2"
ip netns exec "$h0" tee /proc/sys/net/ipv4/ip_local_port_range >/dev/null <<<"32768 60999"

ip -n "$h0" route add unreachable 10.0.0.2
check "traffic exits with 1 if a flow has no route" fails traffic bulk src=h0,h2 dst=h1 bytes=1000
check_eq "flow without a route fails with EHOSTUNREACH" "$(flows 'error == "EHOSTUNREACH"') $(flows "$DONE")" "1 1"
ip -n "$h0" route del unreachable 10.0.0.2

# reset_h1: kill the connection on h1
reset_h1() { ip netns exec "$h1" ss -HK state established "sport = 20000" | grep -q .; }
fails traffic --time 60s bulk src=h0 dst=h1 -- bulk src=h2 dst=h3 bytes=1000 &
if wait_for 20 reset_h1; then
	status=0
	wait $! || status=$?
	check_eq "a reset ends the run with status 1" $status 0
	check_eq "the reset flow fails with the error" "$(flows 'state == "failed" && error ~ /^ECONN|EPIPE/')" 1
else
	kill $!
	wait $! || true
	skip "a reset ends the run with status 1" "ss -K is not supported"
fi

ip -n "$sw" link set p1 down
check "traffic runs with a link that is down" traffic --time 200ms --drain 300ms bulk src=h0,h2 dst=h1,h3 bytes=1000
check_eq "flow over a link that is down is unfinished" "$(flows 'state == "unfinished"') $(flows "$DONE")" "1 1"
ip -n "$sw" link set p1 up
finish

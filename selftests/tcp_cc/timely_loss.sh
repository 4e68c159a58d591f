#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What a network does to packets, and what peers lack: all bytes arrive, the
# rate is cut once in each episode of losses, what was sent twice gives no RTT,
# and afterwards there are RTTs and the full rate again.
#
#	+--------- a ---------+     +--------- b ---------+
#	| sender -> netem, w0 |=====| w1 -> receiver      |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
need_timely
setup_ns a b
. "$(dirname "$0")/../lib/timely.sh"
wire_ab rate 500mbit delay 20us
calm_params

# netstat NAME: how far a counter of TCP's in a has come since `count_from_here`
# shellcheck disable=SC2016 # awk expands
netstats() {
	ip netns exec "$a" awk '{
		if (NR % 2) split($0, name); else for (i = 2; i <= NF; i++) print name[i], $i
	}' /proc/net/netstat /proc/net/snmp
}
count_from_here() {
	mark
	netstats >"$TMP/netstat"
}
netstat() { netstats | cat "$TMP/netstat" - | awk -v name="$1" '$1 == name { was = is; is = $2 } END { print is - was }'; }

# episodes: fast recoveries and time-outs have each cut the rate once, and nothing else has
episodes() {
	local cuts fast slow probes marks
	cuts=$(since losses)
	fast=$(($(netstat TCPSackRecovery) + $(netstat TCPRenoRecovery)))
	slow=$(netstat TCPTimeouts)
	probes=$(netstat TCPLossProbeRecovery)
	marks=${1:-0}
	echo "$cuts cuts: $fast fast recoveries, $slow time-outs, $probes probes"
	[ "$cuts" -ge "$fast" ] && [ "$cuts" -le $((fast + slow + probes + marks)) ]
}

# both NAME=VALUE...: sysctls of both sides
both() {
	ip netns exec "$a" sysctl -qw "$@" && ip netns exec "$b" sysctl -qw "$@"
}

# goes_on STEP...: a connection in which something happens between its beginning and its end, when it has all RTTs and its
# rate again
goes_on() { flow cc=timely connect send=300000 "$@" send=300000 "$INFO" close eof >"$TMP/info"; }
full_rate() { grep -q "bw:$(line_rate 500)bps" "$TMP/info" || { cat "$TMP/info" && return 1; }; }

# ---- losses

loss() { echo "run=ip -n $a link set w0 type closwire loss $1"; }
ack_loss() { echo "run=ip -n $b link set w1 type closwire loss $1"; }
for sack in 1 0; do
	both net.ipv4.tcp_sack=$sack
	count_from_here
	check "sack=$sack, frames are lost: all bytes arrive" goes_on "$(loss 2)" send=4000000 "$(loss 0)" send=2000000
	check "sack=$sack: retransmissions" test "$(netstat RetransSegs)" -ge 10
	check "sack=$sack: a cut for each episode" episodes
	check "sack=$sack: there were some" test "$(since losses)" -ge 3
	check "sack=$sack: no RTT of what was sent twice" test $(($(since skipped_retrans) + $(since skipped_recovery))) -ge 3
	check "sack=$sack: afterwards full rate" full_rate
	count_from_here
	check "sack=$sack, ACKs are lost: all bytes arrive" goes_on "$(ack_loss 20)" send=4000000 "$(ack_loss 0)"
	check "sack=$sack: a cut for each episode" episodes
done
both net.ipv4.tcp_sack=1

# ---- nothing comes through for a while

# waits_for NAME COUNT: a step that waits until TCP's counter in a has come so far; the guest's shell runs it
waits_for() {
	netstats | awk -v name="$1" -v more="$2" '$1 == name { print $2 + more }' >"$TMP/until"
	echo "run=for i in \$(seq 400); do
			v=\$(ip netns exec $a nstat -asz TcpExt$1 | awk '\$1 == \"TcpExt$1\" { print \$2 }')
			[ \"\$v\" -lt $(<"$TMP/until") ] || exit 0
			sleep 0.05
		done; exit 1"
}
count_from_here
check "all is lost until time-outs: all bytes arrive" goes_on "$(loss 100)" fill "$(waits_for TCPTimeouts 2)" "$(loss 0)" receive
check "a cut, and no more than one a time-out" episodes
check "at least one" test "$(since losses)" -ge 1

# The RTT grows from next to nothing to more than a time-out's 200 ms.
count_from_here
check "a time-out too early: all bytes arrive" goes_on "run=ip -n $a link set w0 type closwire delay 500ms" send=20000 \
	"run=ip -n $a link set w0 type closwire delay 20us" send=20000
check "a cut" test "$(since losses)" -ge 1
check_eq "is taken back" "$(since losses_undone)" "$(since losses)"

# ---- order

if tc -n "$a" qdisc add dev w0 root netem limit 10000 delay 3ms reorder 75% 50% gap 3; then
	count_from_here
	check "other order: all bytes arrive" goes_on send=3000000
	check "TCP saw it" test $(($(netstat TCPSACKReorder) + $(netstat TCPTSReorder) + $(netstat TCPDSACKRecv))) -ge 1
	check "a cut for each episode" episodes
	check "samples in spite of it" test $(($(since samples_sw) + $(since samples_hw))) -ge 10
	tc -n "$a" qdisc change dev w0 root netem limit 10000 duplicate 20%
	count_from_here
	check "twice: all bytes arrive" goes_on send=3000000
	check "samples in spite of it" test $(($(since samples_sw) + $(since samples_hw))) -ge 10
	for ecn in 1 0; do
		tc -n "$a" qdisc replace dev w0 root netem limit 10000 loss 2% ecn
		both net.ipv4.tcp_ecn=$ecn
		count_from_here
		check "ecn=$ecn: all bytes arrive" goes_on send=3000000 "run=tc -n $a qdisc change dev w0 root netem limit 10000" send=1000000
		check "ecn=$ecn: afterwards full rate" full_rate
		if [ $ecn -eq 1 ]; then
			check "ecn=1: marks cut the rate" test "$(since losses)" -ge 1
			marked=$(netstat RetransSegs)
		else
			check "ecn=0: there are no marks: losses" test "$(netstat RetransSegs)" -ge 20
			check "more is sent twice than with marks" test "$(netstat RetransSegs)" -gt "$marked"
			check "ecn=0: a cut for each episode" episodes
		fi
	done
	both net.ipv4.tcp_ecn=2
	tc -n "$a" qdisc del dev w0 root
else
	skip "another order, duplicates, ECN" "no netem"
fi

# ---- the end

# The tracepoint does not see the ACKs of a connection that is being closed.
ip netns exec "$a" sysctl -qw net.ipv4.tcp_wmem="4096 4000000 8000000"
count_from_here
check "closed with data in flight: all of it arrives" flow cc=timely connect send=300000 fill close eof
check "RTTs are then TCP's" test "$(since samples_rtt)" -ge 5
count_from_here
check "the same with losses" flow cc=timely connect send=300000 "$(loss 2)" fill close eof "$(loss 0)"
check "closed at once" flow cc=timely connect close eof
check "closed with one byte" flow cc=timely connect send=1 fill close eof

# ---- peers

both net.ipv4.tcp_timestamps=0
count_from_here
check "without time stamps: all bytes arrive" goes_on "$(loss 1)" send=3000000 "$(loss 0)" send=1000000
check "a cut for each episode" episodes
check "samples" test $(($(since samples_sw) + $(since samples_hw))) -ge 20
both net.ipv4.tcp_sack=0 net.ipv4.tcp_window_scaling=0
check "without any option: all bytes arrive" goes_on send=1000000
both net.ipv4.tcp_timestamps=1 net.ipv4.tcp_sack=1 net.ipv4.tcp_window_scaling=1

count_from_here
check "the smallest MSS: all bytes arrive" flow mss=88 cc=timely connect send=300000 "$INFO" close eof
check "samples" test $(($(since samples_sw) + $(since samples_rtt))) -ge 5
check "a small receive buffer: all bytes arrive" flow rcvbuf=4096 cc=timely connect send=500000 close eof

count_from_here
check "a window of 0: all bytes arrive" flow rcvbuf=20000 cc=timely connect send=300000 \
	fill "$(waits_for TCPWinProbe 2)" receive send=300000 close eof
check_eq "it is no loss" "$(since losses)" 0

# Each byte is sent when the one before has been received, and so acknowledged late.
one_by_one=()
for ((i = 0; i < 40; i++)); do
	one_by_one+=(send=1)
done
count_from_here
check "byte by byte" flow cc=timely connect "${one_by_one[@]}" close eof
check "delayed ACKs give no RTT" test "$(since skipped_delayed)" -ge 5
check_eq "nor a decrease" "$(since rate_high) $(since rate_mul)" "0 0"
finish

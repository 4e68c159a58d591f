# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What a network does to packets, and what peers lack: all bytes arrive, and
# the rate is cut once in each episode of losses. A test of a congestion control
# sources this after lib/tcp_cc.sh and wire_ab, calls the functions that test_
# begins, and checks what else it promises.
# shellcheck disable=SC2317,SC2154 # setup_ns sets a and b; functions are called through check and wait_for

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
goes_on() { flow "cc=$CC" connect send=300000 "$@" send=300000 "$INFO" close eof >"$TMP/info"; }

loss() { echo "run=ip -n $a link set w0 type closwire loss $1"; }
ack_loss() { echo "run=ip -n $b link set w1 type closwire loss $1"; }

# waits_for NAME COUNT: a step that waits until TCP's counter in a has come so far; the guest's shell runs it
waits_for() {
	netstats | awk -v name="$1" -v more="$2" '$1 == name { print $2 + more }' >"$TMP/until"
	echo "run=for i in \$(seq 400); do
			v=\$(ip netns exec $a nstat -asz TcpExt$1 | awk '\$1 == \"TcpExt$1\" { print \$2 }')
			[ \"\$v\" -lt $(<"$TMP/until") ] || exit 0
			sleep 0.05
		done; exit 1"
}

# ---- tests; WHAT is said before each check

# test_frames_lost WHAT
test_frames_lost() {
	count_from_here
	check "$1, frames are lost: all bytes arrive" goes_on "$(loss 2)" send=4000000 "$(loss 0)" send=2000000
	check "$1: retransmissions" test "$(netstat RetransSegs)" -ge 10
	check "$1: a cut for each episode" episodes
	check "$1: there were some" test "$(since losses)" -ge 3
}

# test_acks_lost WHAT
test_acks_lost() {
	count_from_here
	check "$1, ACKs are lost: all bytes arrive" goes_on "$(ack_loss 20)" send=4000000 "$(ack_loss 0)"
	check "$1: a cut for each episode" episodes
}

# test_timeouts: nothing comes through for a while
test_timeouts() {
	count_from_here
	check "all is lost until time-outs: all bytes arrive" \
		goes_on "$(loss 100)" fill "$(waits_for TCPTimeouts 2)" "$(loss 0)" receive
	check "a cut, and no more than one a time-out" episodes
	check "at least one" test "$(since losses)" -ge 1

	# The RTT grows from next to nothing to more than a time-out's 200 ms.
	count_from_here
	check "a time-out too early: all bytes arrive" \
		goes_on "run=ip -n $a link set w0 type closwire delay 500ms" send=20000 \
		"run=ip -n $a link set w0 type closwire delay 20us" send=20000
	check "a cut" test "$(since losses)" -ge 1
	check_eq "is taken back" "$(since losses_undone)" "$(since losses)"
}

# test_order: another order than that of sending; false without netem, which else is w0's qdisc then
test_order() {
	tc -n "$a" qdisc add dev w0 root netem limit 10000 delay 3ms reorder 75% 50% gap 3 ||
		{ skip "another order" "no netem" && return 1; }
	count_from_here
	check "other order: all bytes arrive" goes_on send=3000000
	check "TCP saw it" test $(($(netstat TCPSACKReorder) + $(netstat TCPTSReorder) + $(netstat TCPDSACKRecv))) -ge 1
	check "a cut for each episode" episodes
}

# test_twice: after test_order
test_twice() {
	tc -n "$a" qdisc change dev w0 root netem limit 10000 duplicate 20%
	count_from_here
	check "twice: all bytes arrive" goes_on send=3000000
}

# test_ends: closed in different ways
test_ends() {
	ip netns exec "$a" sysctl -qw net.ipv4.tcp_wmem="4096 4000000 8000000"
	count_from_here
	check "closed with data in flight: all of it arrives" flow "cc=$CC" connect send=300000 fill close eof
	check "the same with losses" flow "cc=$CC" connect send=300000 "$(loss 2)" fill close eof "$(loss 0)"
	check "closed at once" flow "cc=$CC" connect close eof
	check "closed with one byte" flow "cc=$CC" connect send=1 fill close eof
}

# test_options: without what TCP may do without
test_options() {
	both net.ipv4.tcp_timestamps=0
	count_from_here
	check "without time stamps: all bytes arrive" goes_on "$(loss 1)" send=3000000 "$(loss 0)" send=1000000
	check "a cut for each episode" episodes
	both net.ipv4.tcp_sack=0 net.ipv4.tcp_window_scaling=0
	check "without any option: all bytes arrive" goes_on send=1000000
	both net.ipv4.tcp_timestamps=1 net.ipv4.tcp_sack=1 net.ipv4.tcp_window_scaling=1
}

# test_windows: small segments and windows
test_windows() {
	check "a small receive buffer: all bytes arrive" flow rcvbuf=4096 "cc=$CC" connect send=500000 close eof
	count_from_here
	check "the smallest MSS: all bytes arrive" flow mss=88 "cc=$CC" connect send=300000 "$INFO" close eof
	check "a window of 0: all bytes arrive" flow rcvbuf=20000 "cc=$CC" connect send=300000 \
		fill "$(waits_for TCPWinProbe 2)" receive send=300000 close eof
	check_eq "it is no loss" "$(since losses)" 0
}

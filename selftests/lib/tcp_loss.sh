# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Packet loss, reordering, and peers without TCP options: all bytes arrive, and each loss episode cuts the rate once. A
# test of a congestion control sources this file after lib/tcp_cc.sh and wire_ab, calls functions that begin with test_,
# and checks the other promises of its congestion control.
# shellcheck disable=SC2317,SC2154 # setup_ns sets a and b; functions are called through check and wait_for

# netstat NAME: increase of a TCP counter in a since `count_from_here`
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
netstat() {
	netstats | cat "$TMP/netstat" - | awk -v name="$1" '$1 == name { was = is; is = $2 } END { print is - was }'
}

# episodes [MARKS]: true if each loss episode cut the rate once: an episode has a fast recovery, or a timeout that a fast
# recovery may follow (TCP's state goes from Loss to Recovery). Other cuts belong to a loss probe or one of MARKS.
episodes() {
	local cuts fast slow probes marks
	cuts=$(since losses)
	fast=$(($(netstat TCPSackRecovery) + $(netstat TCPRenoRecovery)))
	slow=$(netstat TCPTimeouts)
	probes=$(netstat TCPLossProbeRecovery)
	marks=${1:-0}
	echo "$cuts cuts: $fast fast recoveries, $slow timeouts, $probes probes"
	[ "$cuts" -ge $((fast - slow)) ] && [ "$cuts" -le $((fast + slow + probes + marks)) ]
}

# both NAME=VALUE...: set sysctls on both sides
both() {
	ip netns exec "$a" sysctl -qw "$@" && ip netns exec "$b" sysctl -qw "$@"
}

# between_transfers STEP...: run STEPs between two transfers of 300 kB on one connection. $TMP/info has ss's output at
# its end.
between_transfers() { flow "cc=$CC" connect send=300000 "$@" send=300000 "$INFO" close eof >"$TMP/info"; }

loss() { echo "run=ip -n $a link set w0 type closwire loss $1"; }
ack_loss() { echo "run=ip -n $b link set w1 type closwire loss $1"; }

# wait_step NAME COUNT: print a step, run by a shell, that waits until TCP's counter NAME in a has increased by COUNT
wait_step() {
	netstats | awk -v name="$1" -v more="$2" '$1 == name { print $2 + more }' >"$TMP/until"
	echo "run=for i in \$(seq 400); do
			v=\$(ip netns exec $a nstat -asz TcpExt$1 | awk '\$1 == \"TcpExt$1\" { print \$2 }')
			[ \"\$v\" -lt $(<"$TMP/until") ] || exit 0
			sleep 0.05
		done; exit 1"
}

# ---- tests; NAME begins the name of each check

# test_frames_lost NAME
test_frames_lost() {
	count_from_here
	check "$1: all bytes arrive in spite of frame loss" between_transfers "$(loss 2)" send=4000000 "$(loss 0)" send=2000000
	check "$1: TCP retransmits after frame loss" test "$(netstat RetransSegs)" -ge 10
	check "$1: each loss episode cuts the rate once" episodes
	check "$1: frame loss causes at least 3 cuts" test "$(since losses)" -ge 3
}

# test_acks_lost NAME
test_acks_lost() {
	count_from_here
	check "$1: all bytes arrive in spite of ACK loss" between_transfers "$(ack_loss 20)" send=4000000 "$(ack_loss 0)"
	check "$1: each recovery from ACK loss cuts the rate once" episodes
}

# test_timeouts: the link drops all frames for a while
test_timeouts() {
	count_from_here
	check "all bytes arrive after timeouts" \
		between_transfers "$(loss 100)" fill "$(wait_step TCPTimeouts 2)" "$(loss 0)" receive
	check "a timeout cuts the rate at most once" episodes
	check "timeouts cut the rate" test "$(since losses)" -ge 1

	# The RTT grows from some microseconds to more than the minimum RTO of 200 ms.
	count_from_here
	check "all bytes arrive after a spurious timeout" \
		between_transfers "run=ip -n $a link set w0 type closwire delay 500ms" send=20000 \
		"run=ip -n $a link set w0 type closwire delay 20us" send=20000
	check "a spurious timeout cuts the rate" test "$(since losses)" -ge 1
	check_eq "all cuts of spurious timeouts are undone" "$(since losses_undone)" "$(since losses)"
}

# test_order: reordered packets. Leaves netem as w0's qdisc; false without netem.
test_order() {
	tc -n "$a" qdisc add dev w0 root netem limit 10000 delay 3ms reorder 75% 50% gap 3 ||
		{ skip "all bytes of reordered packets arrive" "no netem" && return 1; }
	count_from_here
	check "all bytes of reordered packets arrive" between_transfers send=3000000
	check "TCP detects the reordering" test \
		$(($(netstat TCPSACKReorder) + $(netstat TCPTSReorder) + $(netstat TCPDSACKRecv))) -ge 1
	check "each episode of reordering cuts the rate once" episodes
}

# test_twice: duplicated packets; needs the netem of test_order
test_twice() {
	tc -n "$a" qdisc change dev w0 root netem limit 10000 duplicate 20%
	count_from_here
	check "all bytes arrive in spite of duplicated packets" between_transfers send=3000000
}

# test_ends: connections closed in different states
test_ends() {
	ip netns exec "$a" sysctl -qw net.ipv4.tcp_wmem="4096 4000000 8000000"
	count_from_here
	check "connection closed with data in flight delivers all bytes" flow "cc=$CC" connect send=300000 fill close eof
	check "connection closed with data in flight delivers all bytes in spite of frame loss" \
		flow "cc=$CC" connect send=300000 "$(loss 2)" fill close eof "$(loss 0)"
	check "connection closed without data ends" flow "cc=$CC" connect close eof
	check "connection closed after one byte delivers it" flow "cc=$CC" connect send=1 fill close eof
}

# test_options: connections without TCP options
test_options() {
	both net.ipv4.tcp_timestamps=0
	count_from_here
	check "all bytes arrive without TCP timestamps" between_transfers "$(loss 1)" send=3000000 "$(loss 0)" send=1000000
	check "each loss episode cuts the rate once without timestamps" episodes
	both net.ipv4.tcp_sack=0 net.ipv4.tcp_window_scaling=0
	check "all bytes arrive without timestamps, SACK and window scaling" between_transfers send=1000000
	both net.ipv4.tcp_timestamps=1 net.ipv4.tcp_sack=1 net.ipv4.tcp_window_scaling=1
}

# test_windows: small segments and receive windows
test_windows() {
	check "all bytes arrive with a small receive buffer" flow rcvbuf=4096 "cc=$CC" connect send=500000 close eof
	count_from_here
	check "all bytes arrive with the smallest MSS" flow mss=88 "cc=$CC" connect send=300000 "$INFO" close eof
	check "all bytes arrive after a zero window" flow rcvbuf=20000 "cc=$CC" connect send=300000 \
		fill "$(wait_step TCPWinProbe 2)" receive send=300000 close eof
	check_eq "a zero window does not cut the rate" "$(since losses)" 0
}

# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Addresses and pacing limits of a congestion control. A test sources this file after lib/tcp_cc.sh and wire_ab.
# shellcheck disable=SC2317,SC2154 # functions are called through check; setup_ns sets a and b

# wire_ipv6: give w0 address fd00::1 and w1 fd00::2
wire_ipv6() {
	ip netns exec "$a" tee /proc/sys/net/ipv6/conf/w0/disable_ipv6 >/dev/null <<<0
	ip netns exec "$b" tee /proc/sys/net/ipv6/conf/w1/disable_ipv6 >/dev/null <<<0
	ip -n "$a" addr add fd00::1/64 dev w0 nodad
	ip -n "$b" addr add fd00::2/64 dev w1 nodad
	ip -n "$a" neigh replace fd00::2 lladdr "$MAC_B" nud permanent dev w0
	ip -n "$b" neigh replace fd00::1 lladdr "$MAC_A" nud permanent dev w1
}

# shown WORD: the value of "WORD:VALUE" or "WORD VALUE" in $TMP/info, which ss wrote
shown() { grep -oE "$1[: ][^ ,)]+" "$TMP/info" | head -n 1 | sed 's/^[^: ]*[: ]//'; }

# test_max_rate PARAMETER: SO_MAX_PACING_RATE and the module's sysctl PARAMETER limit the pacing rate
test_max_rate() {
	check_to "$TMP/info" "data arrives with SO_MAX_PACING_RATE" \
		flow "cc=$CC" max-rate=2500000 connect send=300000 "$INFO" close eof
	check_eq "SO_MAX_PACING_RATE limits the pacing rate" "$(shown pacing_rate)" 20000000bps/20000000bps
	params "$1=40"
	check_to "$TMP/info" "data arrives with sysctl $1" flow "cc=$CC" connect send=1000000 "$INFO" close eof
	check_eq "sysctl $1 limits the pacing rate" "$(shown bw) $(shown pacing_rate)" "40000000bps 40000000bps"
	params "$1=0"
}

# paces: true if 1 MB at 4 MB/s takes at least 210 ms
paces() {
	local began=${EPOCHREALTIME/./} ms
	flow "cc=$CC" max-rate=4000000 connect send=1000000 close eof || return
	ms=$(((${EPOCHREALTIME/./} - began) / 1000))
	echo "$ms ms"
	[ "$ms" -ge 210 ]
}

# test_paces: test pacing by TCP and by fq; leaves fq as w0's qdisc
test_paces() {
	check "TCP paces without fq" paces
	if tc -n "$a" qdisc replace dev w0 root fq 2>/dev/null; then
		check "fq paces the connection" paces
		check "data arrives through fq" flow "cc=$CC" connect send=3000000 close eof
	else
		skip "fq paces the connection" "no fq"
	fi
}

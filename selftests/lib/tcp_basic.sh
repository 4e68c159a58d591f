# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Addresses, and rates that a congestion control may not exceed. A test sources
# this after lib/tcp_cc.sh and wire_ab.
# shellcheck disable=SC2317,SC2154 # functions are called through check; setup_ns sets a and b

# wire_ipv6: fd00::1 and fd00::2 for w0 and w1
wire_ipv6() {
	ip netns exec "$a" tee /proc/sys/net/ipv6/conf/w0/disable_ipv6 >/dev/null <<<0
	ip netns exec "$b" tee /proc/sys/net/ipv6/conf/w1/disable_ipv6 >/dev/null <<<0
	ip -n "$a" addr add fd00::1/64 dev w0 nodad
	ip -n "$b" addr add fd00::2/64 dev w1 nodad
	ip -n "$a" neigh replace fd00::2 lladdr "$MAC_B" nud permanent dev w0
	ip -n "$b" neigh replace fd00::1 lladdr "$MAC_A" nud permanent dev w1
}

# shown WORD: in $TMP/info, the value of ss's WORD:VALUE, or of "WORD VALUE"
shown() { grep -oE "$1[: ][^ ,)]+" "$TMP/info" | head -n 1 | sed 's/^[^: ]*[: ]//'; }

# test_max_rate PARAMETER: the socket's and the module's
test_max_rate() {
	check_to "$TMP/info" "a maximum of the socket's: data arrives" \
		flow "cc=$CC" max-rate=2500000 connect send=300000 "$INFO" close eof
	check_eq "it paces no faster" "$(shown pacing_rate)" 20000000bps/20000000bps
	params "$1=40"
	check_to "$TMP/info" "$1: data arrives" flow "cc=$CC" connect send=1000000 "$INFO" close eof
	check_eq "it paces no faster" "$(shown bw) $(shown pacing_rate)" "40000000bps 40000000bps"
	params "$1=0"
}

# paces: 1 MB with 4 MB/s take as long as they must
paces() {
	local began=${EPOCHREALTIME/./} ms
	flow "cc=$CC" max-rate=4000000 connect send=1000000 close eof || return
	ms=$(((${EPOCHREALTIME/./} - began) / 1000))
	echo "$ms ms"
	[ "$ms" -ge 210 ]
}

# test_paces: who does the pacing; at its end fq is w0's qdisc
test_paces() {
	check "without fq TCP paces" paces
	if tc -n "$a" qdisc replace dev w0 root fq 2>/dev/null; then
		check "fq paces" paces
		check "fq: data arrives" flow "cc=$CC" connect send=3000000 close eof
	else
		skip "fq paces" "no fq"
	fi
}

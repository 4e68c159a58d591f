#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The receiver turns CE marks into CNPs, and CNPs cut the sender's rate. The first
# CNP leaves at once, later ones at least 50 µs apart, each as one ACK with ECE.
# Each rate change follows the paper's algorithm (function model). Receivers
# without an NP, and peers without ECN, work as well.
#
#	+--------- a ---------+     +--------- b ---------+
#	| sender -> netem, w0 |=====| w1 -> receiver      |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
need_cc dcqcn
setup_ns a b
. "$(dirname "$0")/../lib/tcp_dcqcn.sh"
wire_ab rate 500mbit delay 20us
trace_cc || skip_all "no trace events"
tc -n "$a" qdisc add dev w0 root netem limit 10000 || skip_all "no netem"
# eces: ACKs with ECE that a has received
tc -n "$a" qdisc add dev w0 clsact
tc -n "$a" filter add dev w0 ingress protocol ip flower ip_proto tcp tcp_flags 0x50/0x52 action pass ||
	skip_all "no flower"
eces() { tc -n "$a" -s filter show dev w0 ingress | sed -n 's/.* \([0-9]*\) pkt .*/\1/p'; }

begin() {
	mark
	trace_again
	eces_before=$(eces)
	sent_before=$(cc_counter cnp_sent "$b")
	ce_before=$(cc_counter ce_packets "$b")
}
eces_since() { echo $(($(eces) - eces_before)); }
sent_since() { echo $(($(cc_counter cnp_sent "$b") - sent_before)); }
ce_since() { echo $(($(cc_counter ce_packets "$b") - ce_before)); }

# ---- one mark

full=$(full_Bps 500)
constant_params
begin
check "all data arrives although one packet is marked" flow cc=dcqcn connect send=300000 \
	"$MARK" send=1000 "$MARK_NOT" send=100000 close eof
check_eq "one mark causes one CNP, one ACK with ECE and one cut" \
	"$(ce_since) $(sent_since) $(eces_since) $(since cnp_handled) $(since cnp_ignored)" "1 1 1 1 0"
check_eq "a CNP while alpha is 1 halves the rate" "$(rates cause rate_Bps target_Bps alpha | grep cnp)" \
	"cnp $((full - full / 2)) $full 1000"
check_eq "the first CNP is sent at once" "$(traced dcqcn_cnp | grep -o 'wait_ns=.*')" "wait_ns=0"

begin
check "all data arrives although three packets are marked" flow cc=dcqcn connect send=300000 \
	"$MARK" send=1000 "$MARK_NOT" "run=sleep 0.01" send=2000 "run=sleep 0.01" \
	"$MARK" send=1000 "$MARK_NOT" "run=sleep 0.01" \
	"$MARK" send=1000 "$MARK_NOT" send=100000 close eof
check_eq "three separate marks cause three CNPs and three cuts" \
	"$(sent_since) $(eces_since) $(since cnp_handled)" "3 3 3"
if exact; then
	left=$full
	for _ in 1 2 3; do
		left=$((left - left / 2))
	done
	check_eq "three cuts leave an eighth of the rate" "$(rates rate_Bps | tail -n 1)" "$left"
else
	skip "three cuts leave an eighth of the rate" "in real time the rate may rise between the cuts"
fi
default_params

# ---- a forged mark

forge() { in_ns "$a" python3 "$(dirname "$0")/dcqcn_forge.py" w0 >"$TMP/forged"; }
job forge
check "a forger waits for data" wait_for 10 grep -q waits "$TMP/forged"
begin
check "all data arrives although a marked segment is forged" flow cc=dcqcn connect send=300000 \
	"run=until grep -q sent $TMP/forged; do sleep 0.01; done" send=100000 close eof
check_eq "a forged mark outside the window causes no CNP and no cut" \
	"$(ce_since) $(sent_since) $(since cnp_handled)" "0 0 0"

# ---- all packets marked

begin
check "all data arrives although 1.5 MB of it is marked" flow cc=dcqcn connect send=300000 \
	"$MARK" send=1500000 "$MARK_NOT" send=1500000 close eof
note "$(ce_since) marks, $(sent_since) CNPs, $(since cnp_handled) cuts"
check "at least 900 packets are marked" test "$(ce_since)" -ge 900
check_eq "each CNP, and no other packet, is an ACK with ECE" "$(eces_since)" "$(sent_since)"
# all_processed COUNT: has the sender handled or ignored COUNT ACKs with ECE? In real time, the backlog of a busy socket
# may merge two ACKs.
all_processed() {
	local processed=$(($(since cnp_handled) + $(since cnp_ignored)))
	echo "$processed of $1"
	[ "$processed" -le "$1" ] && [ "$processed" -ge $(($1 / 2)) ] && { ! exact || [ "$processed" -eq "$1" ]; }
}
check "each CNP is handled or ignored" all_processed "$(sent_since)"
spaced() {
	traced dcqcn_cnp | sed 's/.*wait_ns=//' | awk -v least="$1" '
		NR == 1 { bad = $1 != 0; next }
		$1 < least { print $1; bad = 1 }
		END { exit bad || NR < 10 }'
}
check "CNPs are at least 50 µs apart" spaced 50000
if exact; then
	check_eq "no CNP is ignored" "$(since cnp_ignored)" 0
	# at the minimum rate two packets would be 46 ms apart
	check "the second CNP follows within 150 µs" test "$(traced dcqcn_cnp | sed 's/.*wait_ns=//' | sed -n 2p)" -le 150000
else
	skip "no CNP is ignored, and the second one follows within 150 µs" "time is real"
fi

check "each rate change follows the model with default parameters" model 5 62500 625000 "$full" 62500 256
note "$(model 5 62500 625000 "$full" 62500 256)"

# with a fast byte counter, hyper increase begins far below line rate
params rpg_byte_reset=3000 rpg_threshold=2 rpg_ai_rate=1 rpg_hai_rate=2 rpg_min_rate=20 dce_tcp_g=16
begin
check "all data arrives with other parameters" flow cc=dcqcn connect send=300000 \
	"$MARK" send=1000000 "$MARK_NOT" send=3000000 close eof
check "each rate change follows the model with other parameters" model 2 125000 250000 "$full" 2500000 16
check "the rate has hyper increase" test "$(since hyper_increase)" -ge 1
default_params

# ---- decay of alpha

if exact; then
	params rpg_time_reset=1000000 rpg_byte_reset=1000000000
	begin
	# 177 periods of 55 µs
	check "all data arrives with two marks a half-life of alpha apart" flow cc=dcqcn connect send=300000 \
		"$MARK" send=1000 "$MARK_NOT" "run=sleep 0.00968" "$MARK" send=1000 "$MARK_NOT" send=100000 close eof
	cut=$(rates rate_Bps target_Bps | awk 'END { printf "%.0f", 1000 * (1 - $1 / $2) }')
	check "the mark after a half-life of alpha cuts a quarter ($cut thousandths)" test "$cut" -ge 245 -a "$cut" -le 252
	default_params
else
	skip "the mark after a half-life of alpha cuts a quarter" "time is real"
fi

# ---- receivers without an NP

modprobe -q tcp_dctcp || true
ip netns exec "$a" sysctl -qw net.ipv4.tcp_ecn=1
for receiver in cubic dctcp; do
	grep -qw $receiver /proc/sys/net/ipv4/tcp_available_congestion_control || continue
	begin
	check "to $receiver: all data arrives" flow "listener-cc=$receiver" cc=cubic connect cc=dcqcn is=dcqcn send=300000 \
		"$MARK" send=1000000 "$MARK_NOT" send=1000000 close eof
	check_eq "to $receiver: the receiver sends no CNP" "$(sent_since)" 0
	note "to $receiver: $(eces_since) ACKs with ECE, $(since cnp_handled) cuts, $(since cnp_ignored) ignored"
	check "to $receiver: at least 30 ACKs have ECE" test "$(eces_since)" -ge 30
	check "to $receiver: at least three of them cut the rate" test "$(since cnp_handled)" -ge 3
	check "to $receiver: each ACK with ECE is handled or ignored" all_processed "$(eces_since)"
	# After an ACK without ECE, the sender accepts the next ECE after half of 50 µs; timestamps are rounded.
	cuts_spaced() {
		sender_rates | grep cause=cnp | grep -oE '[0-9]+\.[0-9]{6}' |
			awk 'NR > 1 && ($1 - last) * 1000000 < 24 { print $1 - last; bad = 1 } { last = $1 } END { exit bad }'
	}
	# in real time, trace timestamps may be later than the algorithm's clock
	if exact; then
		check "to $receiver: cuts are at least 24 µs apart" cuts_spaced
	else
		skip "to $receiver: cuts are at least 24 µs apart" "time is real"
	fi
	check "to $receiver: each rate change follows the model" model 5 62500 625000 "$full" 62500 256
done

# ---- no ECN

ip netns exec "$a" sysctl -qw net.ipv4.tcp_ecn=2
FLOW=()
begin
check "without ECN the connection falls back to dcqcn-reno" flow cc=dcqcn is=dcqcn connect is=dcqcn-reno \
	send=1000000 "run=ip -n $a link set w0 type closwire loss 1" send=1000000 \
	"run=ip -n $a link set w0 type closwire loss 0" send=1000000 close eof
check_eq "a fallback counts as ecn_missing, not as a connection" "$(since ecn_missing) $(since connections)" "1 0"
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Accurate ECN, of kernels from 7.0 on: the sender is told of each mark that the
# switch has made, whatever the receiver's congestion control is; its own NP
# makes one cut in N of them, and nothing else reacts; with a peer that only has
# RFC 3168, all is as without Accurate ECN.
#
#	+----------- a -----------+     +--------- b ---------+
#	| sender -> netem, w0     |=====| w1 -> receiver      |
#	|           or dcqcn      |     |                     |
#	+-------------------------+     +---------------------+
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
need_dcqcn
need_cc dcqcn
setup_ns a b
. "$(dirname "$0")/../lib/tcp_dcqcn.sh"

# ecn NS MODE: 3 is Accurate ECN, 2 RFC 3168 for those who ask for it
ecn() { ip netns exec "$1" tee /proc/sys/net/ipv4/tcp_ecn >/dev/null <<<"$2"; }
ecn "$a" 3 2>/dev/null || skip_all "this kernel has no Accurate ECN"
ecn "$b" 3
wire_ab rate 500mbit delay 20us
trace_cc || skip_all "no trace events"
tc -n "$a" qdisc add dev w0 root netem limit 10000 || skip_all "no netem"

# A step: what ss shows when all that was sent is acknowledged, and so the last mark is told
SETTLED="run=while ${INFO#run=} | tee $TMP/info | grep unacked >/dev/null; do :; done"
# told WORD: the number after it
told() { grep -oE " $1:[0-9]+" "$TMP/info" | cut -d : -f 2; }

begin() {
	mark
	trace_again
	cat_b=$(ip netns exec "$b" cat /proc/net/closnet/dcqcn)
}
# b_since NAME: as `since`, of the receiver
b_since() { echo $(($(cc_counter "$1" "$b") - $(awk -v name="$1" '$1 == name { print $2 }' <<<"$cat_b"))); }

# ---- one mark

full=$(full_Bps 500)
still_params
begin
check "one packet is marked" flow cc=dcqcn connect send=100000 \
	"$MARK" send=1000 "$MARK_NOT" send=50000 "$SETTLED" close eof
check_eq "it is a connection with Accurate ECN, at both ends" \
	"$(since accecn_connections) $(b_since accecn_connections)" "1 1"
check_eq "the receiver sees the mark, and leaves it to its stack to tell it" \
	"$(b_since ce_packets) $(b_since cnp_sent) $(told delivered_ce)" "1 0 1"
check_eq "one cut, nothing is ignored" "$(since cnp_handled) $(since cnp_ignored)" "1 0"
check_eq "it halves the rate; alpha stays 1" "$(rates cause rate_Bps target_Bps alpha | grep cnp)" \
	"cnp $((full - full / 2)) $full 1000"

# The stack counts marks from the beginning, with any congestion control.
begin
check "marks come before dcqcn" flow cc=cubic connect "$MARK" send=30000 "$MARK_NOT" cc=dcqcn send=50000 "$SETTLED" \
	close eof
check "they are told" test "$(told delivered_ce)" -ge 20
check_eq "and cut nothing" "$(since cnp_handled) $(since cnp_ignored)" "0 0"
default_params

# ---- marks in each acknowledgement

wire_set "$a/w0" rate 100mbit
params np_min_time_between_cnps=10000
begin
check "all are marked for a while" flow cc=dcqcn connect send=300000 \
	"$MARK" "run=date +%s%N >$TMP/from" send=1000000 "run=date +%s%N >$TMP/to" "$MARK_NOT" send=300000 \
	"$SETTLED" close eof
check_eq "the sender is told of each" "$(told delivered_ce)" "$(b_since ce_packets)"
check "they were many" test "$(told delivered_ce)" -ge 650
# 1 MB lasts 80 ms at least; its last acknowledgement may come 40 ms later
cuts=$(since cnp_handled)
most=$((($(<"$TMP/to") - $(<"$TMP/from")) / 10000000 + 5))
check "$cuts cuts: no more than one in 10 ms, which are $most" test "$cuts" -le "$most" -a "$cuts" -ge 4
check_eq "nothing is ignored, and nobody sends CNPs" "$(since cnp_ignored) $(b_since cnp_sent)" "0 0"
full=$(full_Bps 100)
check "each change of the rate is the algorithm's" model 5 12500 125000 "$full" 12500 256
check_eq "the window is what it was: 1 ms of the line" "$(told cwnd)" $((100000000 / 8 / 1000 / 1448))

# ---- marks of a switch, to whatever receiver

# The rate stays above that of the port: so there is a queue, as long as TCP makes it in its own host, some 7 KB
params rpg_min_rate=100
tc -n "$a" qdisc replace dev w0 root dcqcn kmin 0 kmax 15kb pmax 100% rate 1mbit
FLOW=(listener-cc=cubic)
begin
check "a switch marks some" flow cc=dcqcn connect send=150000 "$SETTLED" close eof
marked=$(tc -n "$a" -s qdisc show dev w0 | grep -oE 'marked [0-9]+' | awk '{ n += $2 } END { print n }')
check_eq "the sender is told of each" "$(told delivered_ce)" "$marked"
check "they were many, but not all" test "$marked" -ge 15 -a "$marked" -le 95
check "they cut the rate, nothing is ignored" test "$(since cnp_handled)" -ge 2 -a "$(since cnp_ignored)" -eq 0
check_eq "it is a connection with Accurate ECN, at one end" \
	"$(since accecn_connections) $(b_since accecn_connections)" "1 0"
tc -n "$a" qdisc del dev w0 root
default_params
wire_set "$a/w0" rate 500mbit

# ---- peers without Accurate ECN

while read -r ecn_a ecn_b receiver; do
	what="$ecn_a to $ecn_b, $receiver"
	ecn "$a" "$ecn_a"
	ecn "$b" "$ecn_b"
	FLOW=("listener-cc=$receiver")
	begin
	check "$what: data arrives" flow cc=dcqcn connect is=dcqcn send=100000 \
		"$MARK" send=300000 "$MARK_NOT" send=100000 close eof
	check_eq "$what: no Accurate ECN" "$(since accecn_connections) $(b_since accecn_connections)" "0 0"
	check "$what: cuts" test "$(since cnp_handled)" -ge 2
	case $receiver in
	dcqcn) check "$what: by CNPs" test "$(b_since cnp_sent)" -ge "$(since cnp_handled)" ;;
	*) check_eq "$what: by ECE" "$(b_since cnp_sent)" 0 ;;
	esac
done <<-END
	3 2 dcqcn
	2 3 dcqcn
	3 2 cubic
END
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Accurate ECN, in kernels from 7.0 on: the peer's stack reports each CE mark to
# the sender, with any congestion control at the receiver. The sender's own NP
# limits how often the marks cut the rate. With a peer that supports only RFC
# 3168, dcqcn works as without Accurate ECN.
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

# ecn NS MODE: set tcp_ecn; 3: request Accurate ECN; 2: RFC 3168, only if the peer requests it
ecn() { ip netns exec "$1" tee /proc/sys/net/ipv4/tcp_ecn >/dev/null <<<"$2"; }
ecn "$a" 3 2>/dev/null || skip_all "this kernel has no Accurate ECN"
ecn "$b" 3
wire_ab rate 500mbit delay 20us
trace_cc || skip_all "no trace events"
tc -n "$a" qdisc add dev w0 root netem limit 10000 || skip_all "no netem"

# A step that waits until all data, and thereby the last mark, is acknowledged, and keeps ss's output
SETTLED="run=while ${INFO#run=} | tee $TMP/info | grep unacked >/dev/null; do :; done"
# ss_value NAME: a number in that output
ss_value() { grep -oE " $1:[0-9]+" "$TMP/info" | cut -d : -f 2; }

begin() {
	mark
	trace_again
	cat_b=$(ip netns exec "$b" cat /proc/net/closnet/dcqcn)
}
# b_since NAME: as `since`, in the receiver's namespace
b_since() { echo $(($(cc_counter "$1" "$b") - $(awk -v name="$1" '$1 == name { print $2 }' <<<"$cat_b"))); }

# ---- one mark

full=$(full_Bps 500)
constant_params
begin
check "all data arrives although one packet is marked" flow cc=dcqcn connect send=100000 \
	"$MARK" send=1000 "$MARK_NOT" send=50000 "$SETTLED" close eof
check_eq "both ends count a connection with Accurate ECN" \
	"$(since accecn_connections) $(b_since accecn_connections)" "1 1"
check_eq "the receiver's stack, not a CNP, reports the mark" \
	"$(b_since ce_packets) $(b_since cnp_sent) $(ss_value delivered_ce)" "1 0 1"
check_eq "one mark causes one cut" "$(since cnp_handled) $(since cnp_ignored)" "1 0"
check_eq "a mark while alpha is 1 halves the rate" "$(rates cause rate_Bps target_Bps alpha | grep cnp)" \
	"cnp $((full - full / 2)) $full 1000"

# The stack counts marks from the handshake on, with any congestion control.
begin
check "all data arrives although marks precede dcqcn" flow cc=cubic connect "$MARK" send=30000 "$MARK_NOT" \
	cc=dcqcn send=50000 "$SETTLED" close eof
check "marks before dcqcn are counted by the stack" test "$(ss_value delivered_ce)" -ge 20
check_eq "marks before dcqcn do not cut its rate" "$(since cnp_handled) $(since cnp_ignored)" "0 0"
default_params

# ---- marks in every ACK

wire_set "$a/w0" rate 100mbit
params np_min_time_between_cnps=10000
begin
check "all data arrives although 1 MB of it is marked" flow cc=dcqcn connect send=300000 \
	"$MARK" "run=date +%s%N >$TMP/from" send=1000000 "run=date +%s%N >$TMP/to" "$MARK_NOT" send=300000 \
	"$SETTLED" close eof
check_eq "each mark of 1 MB is reported to the sender" "$(ss_value delivered_ce)" "$(b_since ce_packets)"
check "at least 650 packets are marked" test "$(ss_value delivered_ce)" -ge 650
# 1 MB takes at least 80 ms; the last ACK may be 40 ms late
cuts=$(since cnp_handled)
most=$((($(<"$TMP/to") - $(<"$TMP/from")) / 10000000 + 5))
check "the rate is cut at most once in 10 ms ($cuts cuts, at most $most)" test "$cuts" -le "$most" -a "$cuts" -ge 4
check_eq "with Accurate ECN no CNP is sent or ignored" "$(since cnp_ignored) $(b_since cnp_sent)" "0 0"
full=$(full_Bps 100)
check "each rate change follows the model with np_min_time_between_cnps=10000" model 5 12500 125000 "$full" 12500 256
check_eq "marks leave the window at 1 ms of the link's rate" "$(ss_value cwnd)" $((100000000 / 8 / 1000 / 1448))

# ---- marks of sch_dcqcn, with another congestion control at the receiver

# The minimum rate is above the port's rate, so a queue persists. TCP limits its own host's queue to some 7 KB.
params rpg_min_rate=100
tc -n "$a" qdisc replace dev w0 root dcqcn kmin 0 kmax 15kb pmax 100% rate 1mbit
FLOW=(listener-cc=cubic)
begin
check "all data arrives through sch_dcqcn" flow cc=dcqcn connect send=150000 "$SETTLED" close eof
marked=$(tc -n "$a" -s qdisc show dev w0 | grep -oE 'marked [0-9]+' | awk '{ n += $2 } END { print n }')
check_eq "each mark of sch_dcqcn is reported by a cubic receiver" "$(ss_value delivered_ce)" "$marked"
check "sch_dcqcn marks some packets, but not all" test "$marked" -ge 15 -a "$marked" -le 95
check "marks of sch_dcqcn cut the rate" test "$(since cnp_handled)" -ge 2 -a "$(since cnp_ignored)" -eq 0
check_eq "with a cubic receiver, only dcqcn's end counts Accurate ECN" \
	"$(since accecn_connections) $(b_since accecn_connections)" "1 0"
tc -n "$a" qdisc del dev w0 root
default_params
wire_set "$a/w0" rate 500mbit

# ---- peers without Accurate ECN

while read -r ecn_a ecn_b receiver; do
	what="tcp_ecn $ecn_a to $ecn_b, $receiver"
	ecn "$a" "$ecn_a"
	ecn "$b" "$ecn_b"
	FLOW=("listener-cc=$receiver")
	begin
	check "$what: data arrives" flow cc=dcqcn connect is=dcqcn send=100000 \
		"$MARK" send=300000 "$MARK_NOT" send=100000 close eof
	check_eq "$what: the connection has no Accurate ECN" "$(since accecn_connections) $(b_since accecn_connections)" "0 0"
	check "$what: marks cut the rate" test "$(since cnp_handled)" -ge 2
	case $receiver in
	dcqcn) check "$what: the cuts follow CNPs" test "$(b_since cnp_sent)" -ge "$(since cnp_handled)" ;;
	*) check_eq "$what: the cuts follow ECE without CNPs" "$(b_since cnp_sent)" 0 ;;
	esac
done <<-END
	3 2 dcqcn
	2 3 dcqcn
	3 2 cubic
END
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Notification point: data with CE marks is answered by CNPs, at most one in a time for each queue pair, with correct
# headers and ICRC, as soon as the sender's queue pair is known.
#
#	+----- a (L) -----+     +----- b (R) -----+
#	| v0: roce        |=====| v1              |
#	| UDP socket 4791 |     | roce_talk       |
#	+-----------------+     +-----------------+
#
# Queue pair 11 of L is connected to 22 of R. R's requests go to 11, L's responses to 22. DEV.5 is VLAN 5.
. "$(dirname "$0")/../lib/lib.sh"
need_roce
setup_ns a b
link_ab
vlan_v0
ip netns exec "$a" tee /proc/sys/net/ipv6/conf/{all,v0,lo}/disable_ipv6 >/dev/null <<<0
ip -n "$a" -batch - <<-END
	link set v0 address 02:00:00:00:00:0a
	addr add 203.0.113.1/32 dev v0
	addr add 2001:db8::1/128 dev v0 nodad
	link set lo up
END
ip netns exec "$a" tee /proc/sys/net/ipv4/conf/{all,v0}/rp_filter >/dev/null <<<0

# talk WHAT STEP...: run steps of roce_talk; its output goes to $TMP/talk
talk() {
	local what=$1
	shift
	check_to "$TMP/talk" "$what: all packets are correct" \
		roce_talk -l "$a/v0" -r "$b/v1" -u "$a" -x "$TMP/cnps" "$@"
}

# cnps: print the CNPs that left, without time
cnps() { awk '$1 == "sent" && $3 == "op=81" { $2 = ""; print }' "$TMP/talk"; }
cnp_count() { cnps | wc -l; }
# ecn_at_stack: print the ECN bits of the packets that the stack received
ecn_at_stack() { awk '$1 == "stack" { print substr($7, 5) }' "$TMP/talk" | paste -s -d ' '; }

# pair KIND: steps that pair the directions of the queue pairs 11 and 22
# A device learns at most once in 50 µs which queue pairs belong together.
pair() { PAIR=("in:$1:op=0a,qpn=11,psn=5" "out:$1:op=11,qpn=22,psn=5" wait=1); }

# ---- the first CNP

roce
pair udp4
talk "unknown sender" "in:udp4,ecn=3:qpn=11,psn=5,n=3" wait=5
check_eq "marked data of an unknown queue pair causes no CNP" "$(cnp_count)" 0
check_json "$(sch_stats)" "marked data of an unknown queue pair is counted" \
	'.np_ecn_marked_roce_packets == 3 and .np_unpaired_packets == 3 and .np_cnp_sent == 0'
talk "the sender becomes known" "out:udp4:op=11,qpn=22,psn=7" "in:udp4,ecn=2:qpn=11,psn=8" wait=5
check_eq "earlier marks cause a CNP once the queue pair is known" "$(cnps)" \
	"sent  op=81 v4 qpn=22 psn=0 ecn=0 dscp=48 sport=49152 vlan=0.0 len=60"
for kind in udp4 udp6; do
	roce
	pair $kind
	talk "$kind: unmarked data" "${PAIR[@]}" "in:$kind,ecn=2:qpn=11,psn=6,n=10" wait=5
	check_eq "$kind: unmarked data causes no CNP" "$(cnp_count)" 0
	talk "$kind: marked ACK" "in:$kind,ecn=3:op=11,qpn=11,psn=5" wait=5
	check_eq "$kind: a marked ACK causes no CNP" "$(cnp_count)" 0
	talk "$kind: marked data" "in:$kind,ecn=3,sport=50001:qpn=11,psn=16" wait=5
	case $kind in udp4) len=60 ip=v4 ;; udp6) len=80 ip=v6 ;; esac
	check_eq "$kind: marked data causes a CNP to its sender" "$(cnps)" \
		"sent  op=81 $ip qpn=22 psn=0 ecn=0 dscp=48 sport=50001 vlan=0.0 len=$len"
	roce
	talk "$kind: tagged data" "in:$kind,vlan=in:qpn=11,psn=5" "out:$kind,vlan=off:op=11,qpn=22,psn=5" \
		"in:$kind,ecn=3,vlan=in:qpn=11,psn=6" wait=5
	check_eq "$kind: the CNP for tagged data has its VLAN ID and priority 6" "$(cnps)" \
		"sent  op=81 $ip qpn=22 psn=0 ecn=0 dscp=48 sport=49152 vlan=5.6 len=$len"
done

# ---- read responses, datagrams, fragments of memory

roce
talk "READ" "out:udp4:op=0c,qpn=22,psn=100" "in:udp4,ecn=2:op=0d,qpn=11,psn=100" "in:udp4,ecn=3:op=0e,qpn=11,psn=101" wait=5
check_eq "marked READ responses cause a CNP to the responder" "$(cnps | cut -d ' ' -f 3-5)" "op=81 v4 qpn=22"
roce
talk "datagrams" "in:udp4,ecn=3:op=64,qpn=11,sqpn=33" wait=5
check_eq "a marked datagram causes a CNP to its source queue pair" "$(cnps | cut -d ' ' -f 3-5)" "op=81 v4 qpn=33"

# ---- at most one CNP per time

if exact; then
	roce
	pair udp4
	talk "burst" "${PAIR[@]}" "in:udp4,ecn=3:qpn=11,psn=6,n=1000,every=1" wait=5
	check "marked data every microsecond causes a CNP every 50 µs" test "$(cnp_count)" -ge 19 -a "$(cnp_count)" -le 21
	check_eq "no two CNPs are less than 50 µs apart" \
		"$(awk '$3 == "op=81" { if (n++ && $2 - last < 50000) print $2 - last; last = $2 }' "$TMP/talk")" ""
	roce np_min_time_between_cnps 200us
	talk "burst, 200 µs" "${PAIR[@]}" "in:udp4,ecn=3:qpn=11,psn=6,n=1000,every=1" wait=5
	check "np_min_time_between_cnps sets the time" test "$(cnp_count)" -ge 5 -a "$(cnp_count)" -le 6
else
	skip "marked data every microsecond causes a CNP every 50 µs" "real time"
fi
roce
talk "queue pairs" "in:udp4:qpn=101,psn=5" "out:udp4:op=11,qpn=201,psn=5" wait=1 "in:udp4:qpn=102,psn=900" \
	"out:udp4:op=11,qpn=202,psn=900" "in:udp4,ecn=3:qpn=101,psn=6" "in:udp4,ecn=3:qpn=102,psn=901" wait=5
check_eq "each queue pair gets its own CNP" "$(cnps | cut -d ' ' -f 5 | sort | paste -s -d ' ')" "qpn=201 qpn=202"

# ---- options

pair udp4
roce nonp
talk "nonp" "${PAIR[@]}" "in:udp4,ecn=3:qpn=11,psn=6" wait=5
check_eq "nonp: no CNP is sent" "$(cnp_count)" 0
roce np_cnp_dscp 26 np_cnp_prio 3
talk "np_cnp_dscp" "${PAIR[@]}" "in:udp4,ecn=3:qpn=11,psn=6" wait=5
check_eq "np_cnp_dscp sets the DSCP" "$(cnps | cut -d ' ' -f 8)" dscp=26
for kind in udp4 udp6; do
	roce
	pair $kind
	talk "$kind: ce keep" "${PAIR[@]}" "in:$kind,ecn=3:qpn=11,psn=6" "in:$kind,ecn=1:qpn=11,psn=7" wait=5
	check_eq "$kind: by default, the stack sees CE marks" "$(ecn_at_stack)" "0 3 1"
	roce ce clear
	talk "$kind: ce clear" "${PAIR[@]}" "in:$kind,ecn=3:qpn=11,psn=6" "in:$kind,ecn=1:qpn=11,psn=7" wait=5
	check_eq "$kind: with ce clear, the stack sees ECT(0) instead of CE" "$(ecn_at_stack)" "0 2 1"
	check_eq "$kind: with ce clear, marked data causes a CNP" "$(cnp_count)" 1
done

# ---- the ICRC, by another implementation

roce
steps=()
for kind in udp4 udp6; do
	for qpn in 1 255 65536 16777215; do
		steps+=("in:$kind,sport=$((qpn % 1000 + 5000)):qpn=$((qpn / 2 + 300)),psn=$qpn"
			"out:$kind:op=11,qpn=$qpn,psn=$qpn" wait=1 "in:$kind,ecn=3,sport=$((qpn % 1000 + 5000)):qpn=$((qpn / 2 + 300)),psn=$qpn")
	done
done
talk "CNPs of eight queue pairs" "${steps[@]}" wait=5
check_eq "eight queue pairs get CNPs" "$(cnp_count)" 8
if command -v python3 >/dev/null; then
	check "Python's CRC-32 confirms the ICRC of each CNP" python3 "$(dirname "$0")/roce_icrc.py" "$TMP/cnps"
else
	skip "Python's CRC-32 confirms the ICRC of each CNP" "no python3"
fi
check_json "$(sch_stats)" "CNPs are counted and queued apart from other traffic" \
	'.np_cnp_sent == 8 and .cnp.sent_packets == 8 and .cnp.sent_bytes == 4 * 74 + 4 * 94'

# ---- default qdisc options are gone

tc -n "$a" qdisc del dev v0 root
talk "without the qdisc" "${PAIR[@]}" "in:udp4,ecn=3:qpn=11,psn=6" wait=5
check_eq "without the qdisc no CNP is sent" "$(cnp_count)" 0
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Reaction point: CNPs for a queue pair cut its rate and nothing else, packets leave at the rate and in order, data
# becomes ECN-capable, and queues are bounded.
# shellcheck disable=SC2317 # functions are called through check and wait_for
#
#	+----- a (L) -----+     +----- b (R) -----+
#	| v0: roce        |=====| v1              |
#	| UDP socket 4791 |     | roce_talk       |
#	+-----------------+     +-----------------+
#
# Queue pair 11 of L is connected to 22 of R. L's requests go to 22, R's responses and CNPs to 11.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/trace.sh"
need_roce
setup_ns a b
link_ab
vlan_v0
ip netns exec "$a" tee /proc/sys/net/ipv6/conf/{all,v0,lo}/disable_ipv6 >/dev/null <<<0
ip -n "$a" -batch - <<-END
	addr add 203.0.113.1/32 dev v0
	addr add 2001:db8::1/128 dev v0 nodad
	link set lo up
END
ip netns exec "$a" tee /proc/sys/net/ipv4/conf/{all,v0}/rp_filter >/dev/null <<<0

# a queue pair keeps its rate for 1 s
KEEP=(rpg_time_reset 1s dce_tcp_rtt 1s)
# a 1000-byte frame takes 10 µs at the highest rate of 100 MB/s
MAX=(rpg_max_rate 800mbit overhead 0)

# talk WHAT STEP...: run steps of roce_talk; its output goes to $TMP/talk
talk() {
	local what=$1
	shift
	check_to "$TMP/talk" "$what: all packets are correct" roce_talk -l "$a/v0" -r "$b/v1" -u "$a" "$@"
}

# sent FIELD: print a field of the packets that left, FIELD counted from 1
sent() { awk -v field="$1" '$1 == "sent" { print $field }' "$TMP/talk" | paste -s -d ' '; }
# cnps_at_stack: number of CNPs that the stack received
cnps_at_stack() { grep -c '^stack .* op=81' "$TMP/talk" || true; }

# pair KIND: steps that pair the directions of the queue pairs 11 and 22
pair() { PAIR=("out:$1:op=0a,qpn=22,psn=5" "in:$1:op=11,qpn=11,psn=5" wait=1); }

# ---- CNPs

for kind in udp4 udp6; do
	roce "${KEEP[@]}"
	pair $kind
	talk "$kind: CNP" "${PAIR[@]}" "in:$kind:op=81,qpn=11" wait=2
	check_eq "$kind: the CNP is consumed" "$(cnps_at_stack)" 0
	check_json "$(sch_stats)" "$kind: a CNP for a queue pair limits its rate" \
		'.rp_cnp_handled == 1 and .rp_cnp_unmatched == 0 and .qps == 1 and .qps_limited == 1'
	# long enough for a slow machine to send five CNPs
	tc -n "$a" qdisc change dev v0 root roce rate_reduce_monitor_period 1s
	sleep 0.6
	talk "$kind: CNPs too soon" "in:$kind:op=81,qpn=11,n=5" wait=2
	check_json "$(sch_stats)" "$kind: of five CNPs at once, at most one is effective" \
		'.rp_cnp_handled == 2 and .rp_cnp_ignored == 4'
	talk "$kind: foreign CNPs" "in:$kind:op=81,qpn=12" "in:$kind:op=81,qpn=22" wait=2
	check_json "$(sch_stats)" "$kind: CNPs for unknown queue pairs change no rate" \
		'.rp_cnp_handled == 2 and .rp_cnp_unmatched == 2'
	check_eq "$kind: CNPs for unknown queue pairs go to the stack" "$(cnps_at_stack)" 2
	talk "$kind: spoiled CNP" "in:$kind:op=81,qpn=11,icrc=wrong" wait=2
	check_json "$(sch_stats)" "$kind: a CNP with a wrong ICRC changes no rate" \
		'.rp_cnp_handled == 2 and .rp_cnp_malformed == 1'
	check_eq "$kind: a CNP with a wrong ICRC goes to the stack" "$(cnps_at_stack)" 1
	roce "${KEEP[@]}" cnp pass
	talk "$kind: cnp pass" "${PAIR[@]}" "in:$kind:op=81,qpn=11" wait=2
	check_json "$(sch_stats)" "$kind: with cnp pass, a CNP is effective" '.rp_cnp_handled == 1'
	check_eq "$kind: with cnp pass, a CNP goes to the stack" "$(cnps_at_stack)" 1
	# a CNP from another host, for the same queue pair number
	roce "${KEEP[@]}"
	talk "$kind: tagged" "out:$kind,vlan=off:qpn=22,psn=9" "in:$kind,vlan=in:op=11,qpn=11,psn=9" \
		"in:$kind,vlan=in:op=81,qpn=11" wait=2
	check_json "$(sch_stats)" "$kind: a CNP with a VLAN tag is effective" '.rp_cnp_handled == 1'
done
roce "${KEEP[@]}"
talk "datagrams" "out:udp4:op=64,qpn=1000,sqpn=33" "in:udp4:op=81,qpn=33" wait=2
check_json "$(sch_stats)" "a CNP to the source queue pair of datagrams is effective" '.rp_cnp_handled == 1'
roce "${KEEP[@]}"
talk "READ responses" "in:udp4:op=0c,qpn=11,psn=70" "out:udp4:op=0d,qpn=22,psn=70" "in:udp4:op=81,qpn=11" wait=2
check_json "$(sch_stats)" "a CNP for READ responses is effective" '.rp_cnp_handled == 1'

# ---- trace events

if trace_events roce; then
	roce "${KEEP[@]}"
	pair udp4
	talk "traced" "${PAIR[@]}" "in:udp4:op=81,qpn=11" "in:udp4,ecn=3:op=0a,qpn=11,psn=9" wait=2
	check_eq "roce_cnp_received has both queue pairs" "$(traced roce_cnp_received | sed 's/.*received: //')" \
		"src=::ffff:203.0.113.2 dst=::ffff:203.0.113.1 qpn=11 data_qpn=22"
	check_eq "roce_rate has the new rate and its cause" "$(traced roce_rate | sed 's/.*rate: //')" \
		"src=::ffff:203.0.113.1 dst=::ffff:203.0.113.2 qpn=22 rate_Bps=625000000 target_Bps=1250000000 alpha=1000\
 timer_stage=0 byte_stage=0 cause=cnp"
	check_eq "roce_cnp_sent has the notified queue pair" "$(traced roce_cnp_sent | sed 's/.*sent: //')" \
		"src=::ffff:203.0.113.1 dst=::ffff:203.0.113.2 qpn=22"
else
	skip "trace events show CNPs and rates" "no trace events"
fi

# ---- rates

# gaps FIRST: print the distances in ns of sent packets from number FIRST on, each value once
gaps() { awk -v first="$1" '$1 == "sent" { if (++n > first) print $2 - last; last = $2 }' "$TMP/talk" | sort -n | uniq | paste -s -d ' '; }
if exact; then
	roce "${KEEP[@]}" "${MAX[@]}"
	talk "highest rate" "out:udp4,len=1000:qpn=22,n=20" wait=2
	check_eq "packets leave at rpg_max_rate" "$(gaps 1)" 10000
	talk "half the rate" "in:udp4:op=11,qpn=11,psn=19" "in:udp4:op=81,qpn=11" "out:udp4,len=1000:qpn=22,psn=20,n=20" wait=3
	check_eq "the first CNP halves the rate" "$(gaps 1)" 20000
	check_eq "the queue pair keeps its order" "$(sent 6)" "$(printf 'psn=%d ' {20..39} | sed 's/ $//')"
	talk "other queue pair" "out:udp4,len=1000:qpn=23,n=20" wait=2
	check_eq "another queue pair keeps its rate" "$(gaps 1)" 10000
	tc -n "$a" qdisc change dev v0 root roce overhead 100
	talk "overhead" "out:udp4,len=900:qpn=23,n=20" wait=2
	check_eq "overhead counts for each packet" "$(gaps 1)" 10000
	tc -n "$a" qdisc change dev v0 root roce overhead 0 initial_alpha_value 50%
	talk "initial alpha" "out:udp4,len=1000:qpn=24,psn=300" "in:udp4:op=11,qpn=14,psn=300" "in:udp4:op=81,qpn=14" wait=1 \
		"out:udp4,len=1000:qpn=24,psn=301,n=5" wait=2
	check_eq "initial_alpha_value 50%: the first CNP takes a quarter off the rate" "$(gaps 2)" 13333
	tc -n "$a" qdisc change dev v0 root roce rpg_min_rate 800mbit
	talk "lowest rate" "out:udp4,len=1000:qpn=25,psn=400" "in:udp4:op=11,qpn=15,psn=400" "in:udp4:op=81,qpn=15" wait=1 \
		"out:udp4,len=1000:qpn=25,psn=401,n=5" wait=2
	check_eq "rpg_min_rate bounds the rate" "$(gaps 2)" 10000
	roce rpg_time_reset 1ms rpg_ai_rate 8mbit "${MAX[@]}"
	talk "recovery" "out:udp4,len=1000:qpn=22,psn=5" "in:udp4:op=11,qpn=11,psn=5" "in:udp4:op=81,qpn=11" wait=1 \
		"out:udp4,len=1000:qpn=22,psn=6,n=500" wait=20
	check "the rate recovers after a CNP" test "$(gaps 2 | cut -d ' ' -f 1)" -lt 10500
else
	skip "packets leave at rpg_max_rate" "real time"
fi
roce
talk "line rate" "out:udp4,len=1000:qpn=22,n=20" wait=2
check_json "$(sch_stats)" "at the line rate, packets are not paced" '.overlimits == 0 and .roce.sent_packets == 20'

# ---- other traffic

arrived() { [ "$(rx_packets)" -ge "$1" ]; }
roce rpg_max_rate 8kbit qp_limit 10
before=$(rx_packets)
# at this rate, the next packet follows after 9 s
talk "waiting queue pair" "out:udp4,len=9000:qpn=22,n=20" wait=1
check "other traffic passes while a queue pair waits" eval \
	"send_frames -s $a/v0 udp4,n=50 tcp4,n=50 && wait_for 5 arrived $((before + 101))"
check_json "$(sch_stats)" "a queue pair has at most qp_limit packets" \
	'.roce.qlen_packets == 10 and .dropped_qp_packets == 9 and .other.sent_packets >= 100'
check "a higher rate releases the next packets" eval \
	"tc -n $a qdisc change dev v0 root roce rpg_max_rate 0 && wait_for 20 drained"

roce
talk "local CNP" "out:udp4:op=81,qpn=22" wait=1
check_json "$(sch_stats)" "a CNP from a local socket has no priority" \
	'.cnp.sent_packets == 0 and .other.sent_packets >= 1 and .np_cnp_sent == 0'

# a CNP for queue pair 22, from a UDP socket without privilege
user_cnp() {
	in_ns "$a" setpriv --reuid 65534 --clear-groups bash -c 'printf \
		"\x81\x00\xff\xff\x40\x00\x00\x16\x00\x00\x00\x00%020d" 0 >/dev/udp/10.0.0.2/4791'
}
roce
check "a user sends a CNP by a UDP socket" user_cnp
check_json "$(sch_stats)" "a CNP from a user's UDP socket is dropped" \
	'.dropped_cnp_packets == 1 and .cnp.sent_packets == 0'

# SCTP in UDP to port 4791: the first byte of the source port is a CNP's opcode, and four bytes of data make its length
sctp_cnp() {
	in_ns "$b" sysctl -qw net.sctp.udp_port=4791 net.sctp.encap_port=4790 &&
		in_ns "$a" sysctl -qw net.sctp.udp_port=4790 net.sctp.encap_port=4791 || return
	in_ns "$b" /usr/bin/python3 - >"$TMP/sctp" 2>/dev/null <<-'END' &
		import socket
		sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132)
		sock.bind(("10.0.0.2", 9000))
		sock.listen()
		print("ready", flush=True)
		sock.accept()[0].recv(4)	# until the other end aborts
	END
	wait_for 10 grep -q ready "$TMP/sctp" &&
		in_ns "$a" setpriv --reuid 65534 --clear-groups /usr/bin/python3 - <<-'END'
			import socket, struct
			sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132)
			sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
			sock.bind(("10.0.0.1", 0x8100))
			sock.connect(("10.0.0.2", 9000))
			sock.send(b"data")
			sock.close()	# abort: no retransmission disturbs later counts
		END
}
if modprobe -q sctp 2>/dev/null; then
	roce
	check "a user sends four bytes by SCTP in UDP" sctp_cnp
	check_json "$(sch_stats)" "a user's SCTP packet in UDP that is a CNP is dropped" \
		'.dropped_cnp_packets >= 1 and .cnp.sent_packets == 0'
else
	skip "a user's SCTP packet in UDP that is a CNP is dropped" "this kernel lacks SCTP"
fi

# GSO packets with CNPs after another CNP, other traffic, and a packet of a queue pair. Each ends with four bytes.
user_gso() {
	in_ns "$a" setpriv --reuid 65534 --clear-groups /usr/bin/python3 - <<-'END'
		import socket
		cnp = bytes.fromhex("8100ffff4000001600000000") + bytes(20)
		sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		sock.setsockopt(socket.IPPROTO_UDP, 103, len(cnp))	# UDP_SEGMENT
		for first in cnp, bytes([0x81, 0x0f]) + bytes(30), bytes([0x0a]) + bytes(31):
		    sock.sendto(first + cnp + bytes(4), ("10.0.0.2", 4791))
	END
}
roce
check "a user sends CNPs in GSO packets" user_gso
check_json "$(sch_stats)" "CNPs in a user's GSO packets are dropped, other segments are not" \
	'.dropped_cnp_packets == 4 and .cnp.sent_packets == 0 and .roce.sent_packets == 1 and .other.sent_packets >= 4'

# ---- limits

roce rate 1kbit qps 2 limit 30 other_limit 5
# the first packet is other traffic, and keeps the shaper busy
talk "qps" "out:udp4,port=9:qpn=1" "out:udp4:qpn=1,n=9,qpns=3" "out:udp4:qpn=5,n=6" "sh=tc -n $a qdisc change dev v0 root roce rate 0" wait=3
check_eq "a queue pair without limiter keeps its order" \
	"$(awk '/qpn=3 / { print $6 }' "$TMP/talk" | paste -s -d ' ')" "psn=0 psn=1 psn=2"
check_json "$(sch_stats)" "further queue pairs share the queue of other traffic" \
	'.qps == 2 and .overflow_packets == 5 and .dropped_other_packets == 4'
roce rate 1kbit limit 5
talk "limit" "out:udp4:qpn=1,n=5" "out:udp4:qpn=2,n=5" wait=1
check_json "$(sch_stats)" "the qdisc has at most limit packets" '.qlen == 5 and .dropped_limit_packets == 4 and .drops == 4'

# ---- ECT

for kind in udp4 udp6 udp4,vlan=in udp6,vlan=qinq udp4,vlan=off udp6,len=9000,lin=62 udp4,len=3000,lin=14; do
	roce
	talk "$kind: ECT" "out:$kind,ecn=0:qpn=22" "out:$kind,ecn=1:qpn=22,psn=1" "out:$kind,ecn=2:qpn=22,psn=2" \
		"out:$kind,ecn=3:qpn=22,psn=3" "out:$kind,ecn=0:op=11,qpn=22" wait=2
	check_eq "$kind: data becomes ECN-capable, ACKs stay" "$(sent 7)" "ecn=2 ecn=1 ecn=2 ecn=3 ecn=0"
done
check_json "$(sch_stats)" "packets made ECN-capable are counted" '.ect_set_packets == 1'
roce noect
talk "noect" "out:udp4,ecn=0:qpn=22" wait=2
check_eq "noect: data stays as it is" "$(sent 7)" "ecn=0"
mirror_v0
roce
talk "clone" "out:udp4,ecn=0:qpn=22" wait=2
check_eq "cloned data becomes ECN-capable" "$(sent 7)" "ecn=2"
finish

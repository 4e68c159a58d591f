#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Packets that no peer may send: flipped bits, packets cut at each length, random and replayed packets, and false claims
# of senders and receivers. No forged data is delivered, the kernel does not break, and honest peers are not affected.
#
#	+---- a ----+     +---------- b ----------+
#	| ndp_forge |=====| v1: ndp_msg           |
#	+-----------+     +-----------------------+
#
# The forger is 203.0.113.1 or 2001:db8::1. These are not addresses of a, so that a's kernel does not answer.
# shellcheck disable=SC2154,SC2317 # setup_ns sets a and b; functions are called through check
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/ndp.sh"
[ -z "${KSFT_MACHINE_SLOW:-}" ] || skip_all "answers are too late on a slow machine"
setup_ns a b
link_ab
ip -n "$b" -batch - <<-END
	addr add 203.0.113.2/24 dev v1
	neigh add 203.0.113.1 lladdr $MAC_A nud permanent dev v1
END
ndp_v6 "$b" v1 2001:db8::2 2001:db8::1 $MAC_A

# forge NAME STEP...: run ndp_forge as a check; the received packets are in $TMP/received
forge() { check_to "$TMP/received" "$1" ndp_forge -s "$a/v0" "${@:2}"; }
# lines TEXT: number of received packets whose line contains TEXT
lines() { grep -c -- "$1" "$TMP/received" || true; }
# check_lines NAME COUNT TEXT: check that COUNT received packets match TEXT
check_lines() {
	if [ "$(lines "$3")" -eq "$2" ]; then
		ok "$1"
	else
		not_ok "$1" "$2 times '$3' in:"$'\n'"$(tail -n 12 "$TMP/received")"
	fi
}
# listener: open a socket on port 1000 in the background
listener() { job ndp_msg receive -n "$b" -p 1000 -f -c 100000000 -l 10 -t 1000; }

# ---- a receiver

# pulled: packets that the last answer pulls in all
pulled() {
	awk '{ for (i = 1; i <= NF; i++) if (sub("^pull=", "", $i) && $i + 0 > n) n = $i + 0 } END { print n + 0 }' \
		"$TMP/received"
}

listener
wait_for 5 in_use
sleep 0.1
forge "message to a closed port is answered" data:udp4:flow_id=1,to=999 await
check_lines "message to a closed port is answered by ERROR" 1 "^error .*code=1"
forge "a message is answered" data:udp4:flow_id=9 await
check_lines "a message is acknowledged" 1 "^control flags=129 flow_id=9 .*ack_base=1"
forge "two duplicates of a message are answered" data:udp4:flow_id=9 await data:udp4:flow_id=9,flags=3,try_no=1 await
check_lines "each duplicate of a message is acknowledged" 2 "ack_base=1"
forge "an IPv6 message is answered" data:udp6:flow_id=9 await
check_lines "an IPv6 message is acknowledged" 1 "^control flags=129 flow_id=9 .*ack_base=1"
without_token=data:udp4:flow_id=38,payload_len=1000,msg_len=0xffffffffff,pull_target=0x3fffffff,prio=7,flags=9
# each packet twice
mapfile -t again < <(for seq in {0..29}; do
	printf '%s\nwait=2\n' "$without_token,seq=$seq,offset=$((1000 * seq)),here=56"{,}
done)
forge "60 trimmed packets without the token are sent" "${again[@]}" wait=50
check_eq "a sender without the token is pulled 8 packets, however many trimmed packets it sends" "$(pulled)" 8
forge "a whole packet without the token is sent" "$without_token" "$without_token" wait=50
check_eq "a packet that arrived whole adds one pull without the token, its duplicate none" "$(pulled)" 9
# SOCK_SEQPACKET: a newer flow of a sender ends the older one when it has returned the token
job ndp_msg receive -n "$b" -p 1001 -O -f -c 100000000 -l 10 -t 1000
two_sockets() { [ "$(ip netns exec "$b" closnet ndp sockets -j | jq '.sockets | length')" -eq 2 ]; }
wait_for 5 two_sockets
older=data:udp4:to=1001,flow_id=40,payload_len=1000,msg_len=2000
newer=data:udp4:to=1001,flow_id=41
# token: the token in the last answer
token() { sed -n '$s/.* token=\([^ ]*\).*/\1/p' "$TMP/received"; }
forge "a part of a message is sent to a SOCK_SEQPACKET socket" "$older,flags=1" await
token=$(token)
forge "the sender returns the token" "$older,flags=3,try_no=1,token=$token" await
forge "a newer flow of the same sender begins without the token" "$newer" await
check_lines "a message of a flow that waits for an older one is acknowledged with PING" 1 "^control flags=193 flow_id=41 "
newer_token=$(token)
forge "the older flow continues" "$older,flags=0,seq=1,offset=1000,token=$token" await
check_lines "a flow without the token does not end the older flow of its sender" 1 "^control .*flow_id=40 .*ack_base=2"
forge "the newer flow returns the token" "$newer,flags=3,try_no=1,token=$newer_token" await
forge "the older flow goes on" data:udp4:to=1001,flow_id=40,flags=0,seq=2,base=2,msg_id=1,msg_base=1,token="$token" await
check_lines "a flow with the token ends the older flow of its sender" 1 "^error .*flow_id=40 .*code=2"
# a message that is read in parts, and then is not the next one any more: an older flow has a message, or ids jump
job ndp_msg receive -n "$b" -p 1002 -O -f -c 100000000 -l 10 -t 1000 -r 20000 -b 1000
three_sockets() { [ "$(ip netns exec "$b" closnet ndp sockets -j | jq '.sockets | length')" -eq 3 ]; }
wait_for 5 three_sockets
# parts FLOW FROM TO [LATER]: parts of a long message, whose packets' numbers are greater by LATER
parts() {
	local i
	for ((i = $2; i < $3; i++)); do
		printf '%s\nwait=2\n' "$1,payload_len=1000,msg_len=30000,seq=$((i + ${4:-0})),offset=$((1000 * i))"
	done
}
older=data:udp4:to=1002,flags=1,flow_id=50 newer=data:udp4:to=1002,flags=1,flow_id=51
mapfile -t begin < <(parts $newer 0 15)
mapfile -t end < <(parts $newer 15 30)
forge "an older flow goes on while a long message is read" "$older" wait=2 "${begin[@]}" \
	"$older,seq=1,msg_id=1,payload_len=1000,msg_len=2000" wait=2 "${end[@]}" "$newer,seq=30,msg_id=1" wait=20
check_lines "the newer flow goes on" 1 "^control .*flow_id=51 .*ack_base=31"
only=data:udp4:to=1002,flags=1,flow_id=52,from=2001
mapfile -t begin < <(parts $only 0 15)
mapfile -t end < <(parts $only 15 30 1)
forge "message ids jump while a long message is read" "${begin[@]}" "$only,seq=15,msg_id=1100" wait=2 "${end[@]}" \
	"$only,seq=31,msg_id=1101" wait=20
check_lines "the flow goes on" 1 "^control .*flow_id=52 .*ack_base=32"
for spec in udp4 udp6; do
	forge "$spec: packets with a flipped bit and wrong checksums are sent" flips:$spec:wrong wait=20
	check_lines "$spec: packets with wrong checksums are not answered" 0 '^control flags=\(129\|130\|131\) '
	forge "$spec: packets with a flipped bit and right checksums are sent" flips:$spec:right wait=20
	check "$spec: valid packets among those with a flipped bit are answered" test "$(lines .)" -gt 0
	for lens in all ip none; do
		forge "$spec: packets cut at each length are sent, right lengths: $lens" cuts:$spec:$lens wait=20
		# 56 to 65 bytes: NACK of a flow; 16 to 55: BARE
		check_lines "$spec: 40 packets without flow fields get a NACK with BARE, right lengths: $lens" \
			40 '^control flags=18'
		check_lines "$spec: 10 trimmed packets get a NACK, right lengths: $lens" 10 '^control flags=13[04] '
	done
done
forge "a padded message is answered" data:udp4,pad=20:flow_id=20 await
check_lines "padding is not payload" 1 "^control flags=129 "
forge "a packet with a wrong UDP checksum is sent" data:udp4,csum=wrong:flow_id=21 wait=20
check_lines "a packet with a wrong UDP checksum is not answered" 0 'flow_id=21 '
forge "a packet with more payload than payload_len is sent" data:udp4:flow_id=22,payload=20 wait=20
check_lines "a packet with more payload than payload_len is not answered" 0 'flow_id=22 '
for seed in 1 2 3; do
	forge "random packets are sent, seed $seed" random:udp4:3000,$seed random:udp6:1000,$seed wait=20
done
forge "a CONTROL packet of an unknown flow is sent" control:udp4:flags=1,flow_id=77,from=1000,to=1000 wait=20
check_lines "a CONTROL packet of an unknown flow is not answered" 0 'flow_id=77 '

# ---- false claims of a sender

forge "a message of 2^40 - 1 bytes is answered" \
	data:udp4:flow_id=30,payload_len=1000,msg_len=0xffffffffff,pull_target=0x3fffffff,flags=9 await wait=100
check "a message of 2^40 - 1 bytes is not pulled forever" test "$(lines .)" -lt 2000
forge "a sender that gives up 2^30 packets is answered" data:udp4:flow_id=31,seq=0x40000000,base=0x40000000 await
forge "packets with different lengths of the same message are sent" \
	data:udp4:flow_id=32,flags=1,payload_len=1000,msg_len=5000 \
	await data:udp4:flow_id=32,seq=1,offset=1000,payload_len=1000,msg_len=9000 wait=20 \
	data:udp4:flow_id=32,seq=2,offset=500,payload_len=1000,msg_len=5000 wait=20
# begun COUNT: true if flow 33 has COUNT messages. The attacker knows its id and ports, but not the packets in flight.
begun() {
	[ "$(ip netns exec "$b" closnet ndp receiving -j | jq '[.receiving[] | select(.flow_id == 33)][0].msgs')" -eq "$1" ]
}
forge "the first packet of a message is answered" \
	data:udp4:flow_id=33,seq=7000,base=7000,msg_id=5,payload_len=1000,msg_len=5000 await
check "the first packet begins a message" begun 1
before=$(snmp "$b" InNoFlow)
for seq in 0 5975 8026 0x80001b58 0xffffffff; do
	forge "ABORT of packet $seq is sent" error:udp4:code=4,flow_id=33,from=2000,to=1000,msg_id=5,seq=$seq wait=5
done
check "ABORTs of packets outside the window are ignored" begun 1
check_eq "ABORTs of packets outside the window are counted" $(($(snmp "$b" InNoFlow) - before)) 5
forge "ABORT of a packet in the window is sent" error:udp4:code=4,flow_id=33,from=2000,to=1000,msg_id=5,seq=7000 wait=5
check "ABORT of a packet in the window ends the message" begun 0
forge "packets of 4000 flows are sent" data:udp4:flow_id=100000,n=4000 wait=50
check "packets of 4000 flows are answered" test "$(lines '^control')" -gt 0
ip link add w0 netns "$a" mtu 9000 type veth peer name w1 netns "$b" mtu 9000
ends_up w0 w1
messages "messages of honest peers arrive amid forged packets" receive -n "$b" -a 10.0.0.2 -p 9 -c 20 -l 1,10k,300k -- \
	send -n "$a" -d 10.0.0.2 -p 9 -c 20 -l 1,10k,300k -- \
	run "ndp_forge -s $a/v0 random:udp4:5000,9 >$TMP/received"
stop_jobs

# ---- false claims of a receiver: b sends, and a forges the answers

# forge_answers NAME STEP...: run STEPs while b sends a message of 100 kB, which fails after 300 ms
SEND="sh=ndp_msg send -n $b -d 203.0.113.1 -p 1000 -l 100k -T 300 -e >$TMP/msgs & sleep 0.05"
forge_answers() {
	: >"$TMP/msgs"
	forge "$1" "$SEND" await "${@:2}" wait=700
	wait_for 5 test -s "$TMP/msgs"
}
forge_answers "ACKs of packets that were not sent are received" \
	control:udp4:flags=1,seq=5000,ack_base=5001 control:udp4:flags=1,ack_base=0x80000000
check_eq "ACKs of packets that were not sent do not complete the message" "$(total msgs) $(total ETIMEDOUT)" "0 1"
forge_answers "a pull of 2^30 packets is received" control:udp4:flags=4,seq=0,path=0,try_no=0,pull=0x3fffffff
check "a pull of 2^30 packets gets fewer than 2000" test "$(total packets)" -lt 2000
forge_answers "ERROR of a closed port is received" error:udp4:code=1
check_eq "ERROR of a closed port fails the message with ECONNREFUSED" "$(total ECONNREFUSED)" 1
forge_answers "ERROR of a message that is too long is received" error:udp4:code=3
check_eq "ERROR of a message that is too long fails it with EMSGSIZE" "$(total EMSGSIZE)" 1
forge_answers "repeated ERRORs of an unknown flow are received" \
	error:udp4:code=2 wait=20 error:udp4:code=2 wait=20 error:udp4:code=2
check_eq "repeated ERRORs of an unknown flow fail the message" "$(total msgs)" 0
forge_answers "forged cookies are received" cookie:udp4:token=1 wait=5 cookie:udp4:token=2 cookie:udp4:token=3
check_eq "forged cookies make the message time out" "$(total ETIMEDOUT)" 1
check "the sender returns the cookie" grep -q "^data .*token=" "$TMP/received"
forge_answers "random answers are received" random:udp4:2000,5 wait=50 random:udp4:2000,6
forge_answers "NACKs of all packets are received" control:udp4:flags=18,seq=0 control:udp4:flags=18,seq=1,path=1 \
	control:udp4:flags=2,nack=0xff,trimmed=0xffffffff
for seed in 11 12; do
	forge_answers "returned packets that b did not send are received, seed $seed" \
		data:udp4,port=700,sport=61199:here=30,n=50 \
		data:udp4,port=700,sport=61199:seq=$seed,n=50 random:udp4,port=700,sport=61199:1000,$seed
done
check "all flows are freed" wait_for 20 unused
finish

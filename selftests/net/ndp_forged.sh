#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Packets that no peer should send: bits flipped, cut at each length, made up, replayed,
# and lies of senders and receivers. Nothing is delivered that was not sent, nothing breaks, and
# honest peers do not notice.
#
#	+---- a ----+     +---------- b ----------+
#	| ndp_forge |=====| v1: ndp_msg           |
#	+-----------+     +-----------------------+
#
# The forger is 203.0.113.1 or 2001:db8::1, which a does not have, so that nobody else answers.
# shellcheck disable=SC2154,SC2317 # setup_ns sets a and b; functions are called through check
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/ndp.sh"
[ -z "${KSFT_MACHINE_SLOW:-}" ] || skip_all "answers are late"
setup_ns a b
link_ab
ip -n "$b" -batch - <<-END
	addr add 203.0.113.2/24 dev v1
	neigh add 203.0.113.1 lladdr $MAC_A nud permanent dev v1
END
ndp_v6 "$b" v1 2001:db8::2 2001:db8::1 $MAC_A

# forge WHAT STEP...: what comes is in $TMP/said
forge() { check_to "$TMP/said" "$1" ndp_forge -s "$a/v0" "${@:2}"; }
# lines TEXT: how many lines have it
lines() { grep -c -- "$1" "$TMP/said" || true; }
# hears WHAT COUNT TEXT
hears() {
	if [ "$(lines "$3")" -eq "$2" ]; then
		ok "$1"
	else
		not_ok "$1" "$2 times '$3' in:"$'\n'"$(tail -n 12 "$TMP/said")"
	fi
}
# listener: in the background, a socket on port 1000
listener() { job ndp_msg receive -n "$b" -p 1000 -f -c 100000000 -l 10 -t 1000; }

# ---- a receiver

listener
wait_for 5 in_use
sleep 0.1
forge "no such port" data:udp4:flow_id=1,to=999 await
hears "is told" 1 "^error .*code=1"
forge "a message" data:udp4:flow_id=9 await
hears "is acknowledged" 1 "^control flags=1 flow_id=9 .*ack_base=1"
forge "and again" data:udp4:flow_id=9 await data:udp4:flow_id=9,flags=3,try_no=1 await
hears "each time" 2 "ack_base=1"
forge "of IPv6" data:udp6:flow_id=9 await
hears "is acknowledged, of IPv6" 1 "^control flags=1 flow_id=9 .*ack_base=1"
for spec in udp4 udp6; do
	forge "$spec: a bit is flipped" flips:$spec:wrong wait=20
	hears "$spec: nothing comes back" 0 '^control flags=[1-3] '
	forge "$spec: a bit is flipped, and the checksums fit" flips:$spec:right wait=20
	check "$spec: what is legal is answered" test "$(lines .)" -gt 0
	for lens in all ip none; do
		forge "$spec: cut at each length, right lengths: $lens" cuts:$spec:$lens wait=20
		# 56 to 65 bytes: NACK of a flow; 16 to 55: BARE
		hears "$spec: NACK with BARE" 40 '^control flags=18'
		hears "$spec: NACK" 10 '^control flags=[26] '
	done
done
forge "padding is no payload" data:udp4,pad=20:flow_id=20 await
hears "acknowledged" 1 "^control flags=1 "
forge "a wrong UDP checksum" data:udp4,csum=wrong:flow_id=21 wait=20
hears "nothing comes back" 0 'flow_id=21 '
forge "more payload than it says" data:udp4:flow_id=22,payload=20 wait=20
hears "nothing comes back" 0 'flow_id=22 '
for seed in 1 2 3; do
	forge "random packets $seed" random:udp4:3000,$seed random:udp6:1000,$seed wait=20
done
forge "an answer to nothing" control:udp4:flags=1,flow_id=77,from=1000,to=1000 wait=20
hears "nothing comes back" 0 'flow_id=77 '

# ---- lies of a sender

forge "a message of 2^40 - 1 bytes" \
	data:udp4:flow_id=30,payload_len=1000,msg_len=0xffffffffff,pull_target=0x3fffffff,flags=9 await wait=100
check "is not pulled for ever" test "$(lines .)" -lt 2000
forge "all of 2^30 packets given up" data:udp4:flow_id=31,seq=0x40000000,base=0x40000000 await
forge "two messages say they are one" data:udp4:flow_id=32,flags=1,payload_len=1000,msg_len=5000 \
	await data:udp4:flow_id=32,seq=1,offset=1000,payload_len=1000,msg_len=9000 wait=20 \
	data:udp4:flow_id=32,seq=2,offset=500,payload_len=1000,msg_len=5000 wait=20
# a stranger who knows flow_id and ports, but not which packets are on their way
begun() { [ "$(ip netns exec "$b" closnet ndp receiving -j | jq '[.receiving[] | select(.flow_id == 33)][0].msgs')" -eq "$1" ]; }
forge "a message begins" data:udp4:flow_id=33,seq=7000,base=7000,msg_id=5,payload_len=1000,msg_len=5000 await
check "a message has begun" begun 1
before=$(snmp "$b" InNoFlow)
for seq in 0 5975 8026 0x80001b58 0xffffffff; do
	forge "ABORT that names packet $seq" error:udp4:code=4,flow_id=33,from=2000,to=1000,msg_id=5,seq=$seq wait=5
done
check "ABORTs that name packets outside of the window change nothing" begun 1
check_eq "they are counted" $(($(snmp "$b" InNoFlow) - before)) 5
forge "ABORT of the sender" error:udp4:code=4,flow_id=33,from=2000,to=1000,msg_id=5,seq=7000 wait=5
check "ABORT of the sender ends the message" begun 0
forge "4000 flows" data:udp4:flow_id=100000,n=4000 wait=50
check "are answered" test "$(lines '^control')" -gt 0
ip link add w0 netns "$a" mtu 9000 type veth peer name w1 netns "$b" mtu 9000
wire_up
messages "honest peers meanwhile" receive -n "$b" -a 10.0.0.2 -p 9 -c 20 -l 1,10k,300k -- \
	send -n "$a" -d 10.0.0.2 -p 9 -c 20 -l 1,10k,300k -- \
	run "ndp_forge -s $a/v0 random:udp4:5000,9 >$TMP/said"
stop_jobs

# ---- lies of a receiver: b sends; a makes up the answers

# lied WHAT STEP...: while b sends a message of 100 kB, which fails after 300 ms
SEND="sh=ndp_msg send -n $b -d 203.0.113.1 -p 1000 -l 100k -T 300 -e >$TMP/msgs & sleep 0.05"
lied() {
	: >"$TMP/msgs"
	forge "$1" "$SEND" await "${@:2}" wait=700
	wait_for 5 test -s "$TMP/msgs"
}
lied "acknowledges what was not sent" control:udp4:flags=1,seq=5000,ack_base=5001 control:udp4:flags=1,ack_base=0x80000000
check_eq "no message was sent" "$(said msgs) $(said ETIMEDOUT)" "0 1"
lied "pulls 2^30 packets" control:udp4:flags=4,seq=0,path=0,try_no=0,pull=0x3fffffff
check "which it does not get" test "$(said packets)" -lt 2000
lied "no such port" error:udp4:code=1
check_eq "is believed" "$(said ECONNREFUSED)" 1
lied "too long" error:udp4:code=3
check_eq "is believed" "$(said EMSGSIZE)" 1
lied "does not know the flow, again and again" error:udp4:code=2 wait=20 error:udp4:code=2 wait=20 error:udp4:code=2
check_eq "the message fails" "$(said msgs)" 0
lied "cookies" cookie:udp4:cookie=1 wait=5 cookie:udp4:cookie=2 cookie:udp4:cookie=3
check_eq "the message fails" "$(said ETIMEDOUT)" 1
check "the cookie comes back" grep -q "^data .*cookie=" "$TMP/said"
lied "random answers" random:udp4:2000,5 wait=50 random:udp4:2000,6
lied "NACKs of all" control:udp4:flags=18,seq=0 control:udp4:flags=18,seq=1,path=1 control:udp4:flags=2,nack=0xff,trimmed=0xffffffff
for seed in 11 12; do
	lied "returned packets that it never sent $seed" data:udp4,port=50000,sport=61199:here=30,n=50 \
		data:udp4,port=50000,sport=61199:seq=$seed,n=50 random:udp4,port=50000,sport=61199:1000,$seed
done
check "nothing is left" wait_for 20 unused
finish

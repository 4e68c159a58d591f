#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A peer dies in each state of a flow: other senders to the same socket continue, and messages of the same socket to
# other peers arrive. The peer is a forger that stops sending; an attacker needs only one of its packets.
#
#	+----------- a ----------+     +----------- b ---------+
#	| ndp_forge, ndp_msg  w0 |=====| w1: ndp_msg           |
#	+------------------------+     +-----------------------+
#
# The forger is 203.0.113.1, an address that a does not have, so that a's kernel does not answer.
# shellcheck disable=SC2154 # setup_ns sets a and b
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
. "$(dirname "$0")/../lib/ndp.sh"
[ -z "${KSFT_MACHINE_SLOW:-}" ] || skip_all "answers are too late on a slow machine"
setup_ns a b
WIRE=(mtu 9000) # for wire_ab
wire_ab rate 10gbit delay 2us
ip -n "$b" -batch - <<-END
	addr add 203.0.113.2/24 dev w1
	neigh add 203.0.113.1 lladdr $MAC_A nud permanent dev w1
END

# ---- a sender dies

# check_senders NAME: send six messages of 1.5 MB; each reserves three quarters of SO_RCVBUF
check_senders() {
	messages "$1" send -n "$a" -p 9 -d 10.0.0.2 -c 6 -l 1500k -t 60
	note "$1: $(total us) µs"
	! exact || check "$1, within 3 s" test "$(total us)" -lt 3000000
}
# sender_dies STATE STEP...: the forger runs each STEP and stops; check that other senders are not affected
sender_dies() {
	check_to "$TMP/forged" "forged sender dies $1" ndp_forge -s "$a/w0" "${@:2}"
	check_senders "messages of other senders arrive after a sender died $1"
}
job ndp_msg receive -n "$b" -p 9 -f -c 100000000 -l 1500k -t 200
wait_for 5 in_use
check_senders "messages arrive without a dead sender"
long=to=9,payload_len=1000,msg_len=0xffffffffff,pull_target=0x3fffffff
sender_dies "after a trimmed first packet" data:udp4:flow_id=50,$long,flags=9,here=56 wait=1
sender_dies "after a whole first packet" data:udp4:flow_id=51,$long,flags=9 await
sender_dies "after a window with a hole" data:udp4:flow_id=52,$long,flags=9 \
	data:udp4:flow_id=52,$long,flags=8,seq=2,offset=2000 data:udp4:flow_id=52,$long,flags=8,seq=3,offset=3000 await
sender_dies "after a window with a trimmed packet" data:udp4:flow_id=53,$long,flags=9 \
	data:udp4:flow_id=53,$long,flags=8,seq=1,offset=1000,here=56 await
sender_dies "after a pull" data:udp4:flow_id=54,$long,flags=9 await \
	data:udp4:flow_id=54,$long,flags=0,seq=1,offset=1000 await
sender_dies "after a PROBE" data:udp4:flow_id=55,$long,flags=9 await \
	probe:udp4:flow_id=55,to=9,pull_target=0x3fffffff await
sender_dies "on ten flows after trimmed first packets" data:udp4:flow_id=60,$long,flags=9,here=56,n=10 wait=1
# four messages of 600 kB without their last packets: together they leave no room for another sender's message
mapfile -t late < <(for seq in {0..298}; do
	echo "data:udp4:flow_id=80,to=9,payload_len=2000,msg_len=600000,flags=9,seq=$seq,offset=$((2000 * seq)),n=4"
done)
evicted=$(snmp "$b" RxEvicted)
sender_dies "late in four messages" "${late[@]}" wait=1
check_eq "messages of senders that died late were not given up for that" "$(($(snmp "$b" RxEvicted) - evicted))" 0
check_eq "no room is kept for refused senders without the token" "$(snmp "$b" RxLapsed)" 0
# for 4 s, more often than a PING may remain without an answer
mapfile -t repeats < <(for _ in {1..2000}; do printf '%s\nwait=2\n' "data:udp4:flow_id=70,$long,flags=9,here=56"; done)
job ndp_forge -s "$a/w0" "${repeats[@]}"
sleep 0.1
check_senders "messages of other senders arrive while a sender without the token repeats a trimmed packet"
stop_jobs

# with this SO_RCVBUF, all messages are read in parts
job ndp_msg receive -n "$b" -p 9 -r 1000000 -f -c 100000000 -l 1500k -t 200
wait_for 5 in_use
sender_dies "of a message that is read, as theirs are" data:udp4:flow_id=90,$long,flags=9 await
stop_jobs

# ---- a receiver dies

# receiver_dies STATE STEP...: b sends one message to the forger, which runs STEPs and stops, and one to a socket in a
receiver_dies() {
	: >"$TMP/msgs"
	check_to "$TMP/forged" "forged receiver dies $1" ndp_forge -s "$a/w0" \
		"sh=ndp_msg send -n $b -d 203.0.113.1,10.0.0.1 -p 1000 -l 300k -T 300 -e >$TMP/msgs & sleep 0.05" \
		await "${@:2}" wait=2000
	wait_for 5 test -s "$TMP/msgs"
	check_eq "message to a receiver that died $1 fails, and a message to another receiver arrives" \
		"$(total ETIMEDOUT) $(total msgs)" "1 1"
}
job ndp_msg receive -n "$a" -p 1000 -f -c 100000000 -l 300k -t 200
wait_for 5 in_use
receiver_dies "before an ACK" wait=1
receiver_dies "after an ACK" control:udp4:flags=1,ack_base=1,window=30
receiver_dies "after a NACK" control:udp4:flags=2,trimmed=1,window=30
receiver_dies "after a pull" control:udp4:flags=5,ack_base=1,pull=1,window=30
receiver_dies "with a closed window" control:udp4:flags=1,ack_base=1,window=0
receiver_dies "after a cookie" cookie:udp4:token=1
stop_jobs
check "all flows are freed" wait_for 20 unused
finish

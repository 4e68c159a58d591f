#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Packets at the sender's NIC: ACKs and pulls go before data. At most 10 µs of data and a packet are there, for any
# window and number of sockets, and short messages wait for no long one. If the NIC is slower than it reports, a socket
# has at most 128 KiB of data there.
#
#	+--------- a ---------+     +--------- b ---------+
#	| ndp_msg -> prio w0  |=====| w1 prio <- ndp_msg  |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2154,SC2317 # setup_ns sets a and b; functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
need_ndp
. "$(dirname "$0")/../lib/ndp.sh"
setup_ns a b
wire_ab rate 50mbit delay 5us
rx=(receive -n "$b" -p 9)
tx=(send -n "$a" -p 9 -d 10.0.0.2)

# bands of prio's default priomap: control packets in the first, best effort in the second
for port in "$a/w0" "$b/w1"; do
	tc -n "${port%/*}" -batch - <<-END || skip_all "no prio"
		qdisc add dev ${port#*/} root handle 1: prio
		qdisc add dev ${port#*/} parent 1:1 handle 11: pfifo
		qdisc add dev ${port#*/} parent 1:2 handle 12: pfifo
	END
done
# band NS/DEV HANDLE FIELD: statistics field of a band's queue
band() {
	tc -n "${1%/*}" -s -j qdisc show dev "${1#*/}" | jq ".[] | select(.handle == \"$2:\") | .$3"
}
messages "messages arrive in both directions through prio" \
	"${rx[@]}" -c 20 -l 1,10k,100k -- "${tx[@]}" -c 20 -l 1,10k,100k -- \
	receive -n "$a" -p 9 -c 20 -l 1,10k,100k -- send -n "$b" -p 9 -d 10.0.0.1 -c 20 -l 1,10k,100k
for port in "$a/w0" "$b/w1"; do
	ns=${port%/*}
	check_eq "${port#*/}: DATA packets are best effort" "$(band "$port" 12 packets)" "$(snmp "$ns" OutData)"
	check_eq "${port#*/}: all other packets go first" "$(band "$port" 11 packets)" \
		"$(snmp "$ns" OutControl OutProbe OutCookie OutError)"
done

# ---- bytes queued at the NIC

# max_backlog COUNT: the largest backlog of w0's queue in COUNT samples
max_backlog() {
	local i now max=0
	for ((i = 0; i < $1; i++)); do
		now=$(band "$a/w0" 12 backlog)
		[ "$now" -le "$max" ] || max=$now
		sleep 0.01
	done
	echo "$max"
}
# check_backlog NAME SOCKETS MIN MAX: check the queued bytes while each socket sends 8 MB with a window of 1.5 MB
check_backlog() {
	local bytes i
	job ndp_msg "${rx[@]}" -s "$2" -f -c 1 -l 8m -r 16777216 -t 60
	wait_for 10 in_use
	for ((i = 0; i < $2; i++)); do
		job ndp_msg "${tx[@]}" -w 1024 -l 8m
	done
	bytes=$(max_backlog 10)
	check "$1 has at most $4 bytes at the NIC: $bytes" test "$bytes" -le "$4"
	# on a slow machine, the samples may be too early
	! exact || check "$1 has at least $3 bytes at the NIC" test "$bytes" -ge "$3"
	stop_jobs
	check "all flows of $1 are freed" wait_for 90 unused
}
check_backlog "a socket with a window of 1024 packets" 1 0 4000
check_backlog "a pair of sockets with windows of 1024 packets" 2 0 4000

# ---- order of messages

# a long message of one socket, and then a short one of another
job ndp_msg "${rx[@]}" -c 1 -l 1m -t 60
job ndp_msg receive -n "$b" -p 10 -c 1 -l 10k -t 60
wait_for 10 in_use
job ndp_msg "${tx[@]}" -w 1024 -l 1m
sleep 0.01
since=$(date +%s%N)
check "a short message is sent" ndp_msg send -n "$a" -p 10 -d 10.0.0.2 -l 10k
ms=$((($(date +%s%N) - since) / 1000000))
# 1.7 ms on the link, 171 ms behind the long one
! exact || check "a short message does not wait for the long one of another socket: $ms ms" test "$ms" -lt 10
stop_jobs
check "all flows of these messages are freed" wait_for 90 unused

# ---- a NIC that is slower than it reports

wire_set "$a/w0" rate 10gbit
wire_set "$b/w1" rate 10gbit
tc -n "$a" qdisc del dev w0 parent 1:2
tc -n "$a" qdisc add dev w0 parent 1:2 handle 12: ndp mode droptail limit 10000 rate 50mbit
# the limits are those of skb memory, which exceeds the bytes on the link
check_backlog "a slow NIC: a socket with a window of 1024 packets" 1 60000 131072
check_backlog "a slow NIC: a pair of sockets with windows of 1024 packets" 2 130000 262144
finish

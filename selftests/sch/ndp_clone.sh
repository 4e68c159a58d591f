#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Trimming does not change clones of the packet: a mirror of the port sees each
# frame as it was sent, and TCP, whose retransmission queue shares the data,
# delivers all bytes unchanged.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> v0: ndp   |=====| v1 -> capture       |
#	|   mirror '> w0      |=====| w1 -> capture       |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_ndp
setup_ns a b
link_ab

mirror_v0

frames=()
for kind in udp4 udp6 tcp4 tcp6; do
	frames+=("$kind,n=3" "$kind,len=9000,csum=partial,lin=94,n=3" "$kind,len=4000,vlan=in")
done
for mode in ndp cp; do
	ndp limit 2 hlimit 500000 mode $mode match all rate 1kbit
	check_to "$TMP/result" "mode $mode: 31 frames leave at the port and 31 at the mirror, with all bytes correct" \
		send_frames -k -s "$a/v0" -c "in=$b/v1/in/31" -c "mirror=$b/w1/in/31" \
		-x "$(release)" "$PLUG" udp4,n=2 "${frames[@]}"
	check_eq "mode $mode: the port trims 28 of 31 frames" \
		"$(awk '$1 == "in" && $3 == "trimmed" { n++ } END { print n }' "$TMP/result")" 28
	check_eq "mode $mode: all frames at the mirror are whole" \
		"$(awk '$1 == "mirror" && $3 == "whole" { n++ } END { print n }' "$TMP/result")" 31
done

ndp limit 1 hlimit 200 rts match all rate 1kbit
check_to "$TMP/result" "10 frames return to the sender and 13 leave at the mirror" \
	send_frames -k -s "$a/v0" -c "in=$b/v1/in/3" -c "back=$a/v0/in/10" -c "mirror=$b/w1/in/13" \
	-x "$(release)" "$PLUG" udp4,n=12
check_eq "returning a frame does not change its clone at the mirror" \
	"$(awk '$1 == "mirror" && $3 == "whole" { n++ } END { print n }' "$TMP/result")" 13
tc -n "$a" qdisc del dev v0 clsact

# transfer WHAT BYTES OPTION...: send a TCP stream through a queue that trims some packets
transfer() {
	local what=$1 bytes=$2 receiver
	shift 2
	ndp limit 4 match all rate 10mbit
	traffic tcp-receive -n "$b" -p 5001 >"$TMP/tcp" &
	JOBS+=($!)
	receiver=$!
	wait_for 5 listening 5001
	check "$what: all bytes are sent" timeout 60 traffic tcp-send -n "$a" -d 10.0.0.2 -p 5001 -c "$bytes" "$@"
	wait $receiver || true
	check_eq "$what: each byte arrives unchanged" "$(cat "$TMP/tcp")" "received $bytes"
	check_json "$(sch_stats)" "$what: packets are trimmed" \
		'.trimmed_arrival_packets + .trimmed_tail_packets > 0'
}

# small segments, so that a window of them exceeds the queue
ip -n "$a" link set v0 mtu 1500
ip -n "$b" link set v1 mtu 1500
transfer "TCP" 500000
transfer "TCP from sendfile" 500000 -f
finish

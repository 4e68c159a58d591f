#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# With rts and a full header queue, a trimmed packet is returned to its sender
# once, marked and with source and destination exchanged in each header. The
# second time, it is dropped. Without rts, it is dropped the first time.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> v0: ndp   |=====| v1 -> capture       |
#	|  capture <-'        |     |                     |
#	+---------------------+     +---------------------+
#
# and through a router, to the sender's socket:
#
#	+------- b -------+   +------------ r ------------+   +------ c ------+
#	| traffic - v2    |===| v3     router     v4: ndp |===| v5            |
#	+-----------------+   +---------------------------+   +---------------+
. "$(dirname "$0")/../lib/lib.sh"
need_ndp
setup_ns a b
link_ab
vlan_v0

# run OUT BACK FRAME...: OUT frames reach b, BACK frames return to a; $send has options of send_frames
send=()
run() {
	local out=$1 back=$2
	shift 2
	check_to "$TMP/result" "$what: $out frames arrive and $back return, with all bytes correct" \
		send_frames "${send[@]}" -s "$a/v0" -c "in=$b/v1/in/$out" -c "back=$a/v0/in/$back" \
		-x "tc -n $a -s -j qdisc show dev v0 >$TMP/stats; $(release)" "$PLUG" udp4 "$@"
	full=$(unwrap <"$TMP/stats")
	check_eq "$what: returned frames are trimmed, with addresses exchanged" \
		"$(awk '$1 == "back" && $3 == "returned" { n++ } END { print n + 0 }' "$TMP/result")" "$back"
}

frames=()
for kind in udp4 udp6 tcp4 tcp6; do
	for vlan in none in off; do
		frames+=("$kind,vlan=$vlan" "$kind,vlan=$vlan,csum=partial,len=5000,lin=90")
	done
done
what="all kinds of frames"
# the header queue holds 2 trimmed packets
ndp limit 1 hlimit 256 rts match all rate 1kbit
send=(-k)
run 4 22 "${frames[@]}"
send=()
check_json "$full" \
	"$what: each return is counted" '.returned_packets == 22' \
	"$what: a return does not count as a drop" '.drops == 0 and .dropped_header_packets == 0'

what="trimmed by an earlier switch"
ndp limit 1 hlimit 200 rts rate 1kbit
run 4 3 udp4,len=100,dscp=48,n=5
check_json "$full" "$what: 3 headers are returned" '.returned_packets == 3'

what="DSCP says that it was returned"
ndp limit 1 hlimit 200 rts rate 1kbit
run 4 0 udp4,len=100,dscp=49,n=5
check_json "$full" "$what: 3 headers are dropped" \
	'.dropped_returned_packets == 3 and .drops == 3 and .returned_packets == 0'

what="returned before, by its source port"
ndp limit 1 hlimit 200 rts rate 1kbit
run 4 0 udp4,len=100,dscp=48,sport=61199,port=7000,n=5
check_json "$full" "$what: 3 headers are dropped" \
	'.dropped_returned_packets == 3 and .drops == 3 and .returned_packets == 0'

what="TTL or hop limit 1"
ndp limit 1 hlimit 200 rts rate 1kbit
short=len=100,dscp=48
run 4 2 udp4,$short,n=2 udp4,$short,ttl=1,n=3 udp6,$short,ttl=1,n=3 udp4,$short,ttl=2 udp6,$short,ttl=2
check_json "$full" "$what: 6 headers are dropped instead of returned" \
	'.dropped_header_packets == 6 and .drops == 6 and .returned_packets == 2'

what="without rts, the default"
ndp limit 1 hlimit 256 rate 1kbit
run 4 0 udp4,n=9
check_json "$full" "$what: 7 headers are dropped" \
	'.dropped_header_packets == 7 and .drops == 7 and .returned_packets == 0'

tc -n "$a" -batch - <<-END
	qdisc replace dev v0 root handle 2: tbf rate 1gbit burst 100kb limit 10mb
	qdisc add dev v0 parent 2: ndp limit 1 hlimit 256 rts match all rate 1kbit
END
send_frames -s "$a/v0" -x "tc -n $a -s -j qdisc show dev v0 >$TMP/stats" "$PLUG" udp4,n=30
check_json "$(<"$TMP/stats")" \
	"below tbf: arrivals and tails are returned" \
	'any(.kind == "ndp" and .returned_packets > 20 and .trimmed_tail_packets > 0)' \
	"below tbf: a return does not count as a drop of tbf" 'any(.kind == "tbf" and .drops == 0)'

r='' c=''
setup_ns r c
mac=02:00:00:00:01
ip -batch - <<-END
	link add v2 address $mac:02 netns $b type veth peer name v3 address $mac:03 netns $r
	link add v4 address $mac:04 netns $r type veth peer name v5 address $mac:05 netns $c
END
ip -n "$b" -batch - <<-END
	link set v2 up
	addr add 10.1.1.2/24 dev v2
	neigh add 10.1.1.1 lladdr $mac:03 nud permanent dev v2
	route add 10.1.2.0/24 via 10.1.1.1
END
ip -n "$r" -batch - <<-END
	link set v3 up
	link set v4 up
	addr add 10.1.1.1/24 dev v3
	addr add 10.1.2.1/24 dev v4
	neigh add 10.1.1.2 lladdr $mac:02 nud permanent dev v3
	neigh add 10.1.2.2 lladdr $mac:05 nud permanent dev v4
END
ip netns exec "$r" tee /proc/sys/net/ipv4/ip_forward >/dev/null <<<1
# c has no address and so sends no reply
ip -n "$c" link set v5 up
tc -n "$r" qdisc add dev v4 root ndp limit 1 hlimit 128 rts rate 1kbit
check_to "$TMP/result" "20 datagrams are sent through a router" \
	traffic udp -n "$b" -d 10.1.2.2 -p 61199 -l 1400 -c 20 -z -w 3000
# 1 datagram has left, 1 is queued, 1 header is queued; a header has 128 - 14 - 20 - 8 bytes of payload
check_eq "17 datagrams return to the sender's socket, marked, with 86 bytes" \
	"$(tail -n 1 "$TMP/result")" "returned 17 tos 196 length 86"
finish

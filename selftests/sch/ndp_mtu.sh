#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# limit_bytes auto, hlimit auto and other_limit auto follow the device's MTU and the
# limits of the data queue, also while packets are queued. After a value was set, auto
# can be set again.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> v0: ndp   |=====| v1                  |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_ndp
setup_ns a b
link_ab

mtu() { ip -n "$a" link set v0 mtu "$1"; }
change() { tc -n "$a" qdisc change dev v0 root ndp "$@"; }

# headers WHAT COUNT: after 200 headers were sent, the header queue has COUNT
headers() {
	send_frames -s "$a/v0" udp4,len=100,n=200
	check_json "$(sch_stats)" "$1: $2 headers of 100 bytes fit" ".header.qlen_packets == $2"
}

ndp limit 2 rate 1kbit
mtu 1500
# the first frame leaves and keeps the shaper busy
send_frames -s "$a/v0" udp4,len=1500
headers "hlimit auto, MTU reduced to 1500, limit 2 (3028 bytes)" 30
mtu 3000
headers "hlimit auto, MTU 3000, limit 2 (6028 bytes)" 60
change limit 3
headers "hlimit auto, MTU 3000, limit 3 (9042 bytes)" 90
change limit_bytes 9200
headers "hlimit auto, limit_bytes 9200 above limit 3 (9042 bytes)" 90
change limit_bytes auto hlimit 9500
headers "hlimit 9500" 95
mtu 6000
headers "hlimit 9500 after a change of the MTU" 95
change hlimit auto
headers "hlimit auto again, MTU 6000, limit 3 (18042 bytes)" 180
mtu 1500
change limit_bytes 3000
headers "hlimit auto reduced by limit_bytes 3000" 30

# data WHAT COUNT: after 200 data packets of 150 bytes were sent, the data queue has COUNT
data() {
	send_frames -s "$a/v0" udp4,len=150,n=200
	check_json "$(sch_stats)" "$1: $2 packets of 150 bytes fit" ".data.qlen_packets == $2"
}
ndp rate 1kbit
mtu 1500
send_frames -s "$a/v0" udp4,len=1500
data "limit_bytes auto, MTU 1500 (12112 bytes)" 80
mtu 3000
data "limit_bytes auto, MTU 3000 (24112 bytes)" 160
change limit 170
data "limit_bytes auto, limit 170" 170
change limit 0 limit_bytes 27000
data "limit_bytes 27000" 180
send_frames -s "$a/v0" udp4,len=100,n=200
check_json "$(sch_stats)" "hlimit auto, limit_bytes 27000: the header queue has as many bytes" \
	'.header.backlog_bytes > 27000 - 100 and .header.backlog_bytes <= 27000'

mtu 9000
ndp rate 1kbit
send_frames -s "$a/v0" raw,len=9000
mtu 68
# other_traffic WHAT COUNT: after 1100 frames of other traffic were sent, their queue has COUNT
other_traffic() {
	send_frames -s "$a/v0" raw,len=82,n=1100
	check_json "$(sch_stats)" "$1: $2 frames of 82 bytes fit" ".other.qlen_packets == $2"
}
other_traffic "other_limit auto, MTU 68" 1000
mtu 100
other_traffic "other_limit auto, MTU 100" 1390
change other_limit 120000
other_traffic "other_limit 120000" 1463
change other_limit auto
mtu 150
other_traffic "other_limit auto again, MTU 150" 2000

# below another qdisc
tc -n "$a" -batch - <<-END
	qdisc replace dev v0 root handle 2: prio
	qdisc add dev v0 parent 2:2 handle 20: ndp limit 1 rate 1kbit
END
mtu 1500
send_frames -s "$a/v0" udp4,len=1500
headers "hlimit auto below prio, MTU 1500, limit 1 (1514 bytes)" 15
finish

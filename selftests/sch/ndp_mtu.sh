#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# hlimit and other_limit that are not set follow the device's MTU and the limits
# of the data queue, also when they change while packets wait; and after they
# were set they can be auto again.
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

# headers WHAT COUNT: of 200 headers, so many wait in the header queue then
headers() {
	send_frames -s "$a/v0" udp4,len=100,n=200
	check_json "$(sch_stats)" "$1: $2 headers of 100 bytes fit" ".header.qlen_packets == $2"
}

ndp limit 2 rate 1kbit
mtu 1500
# leaves, and keeps the shaper busy
send_frames -s "$a/v0" udp4,len=1500
headers "MTU 1500 after 9000, 2 frames of 1514 bytes" 30
mtu 3000
headers "MTU 3000, 2 frames of 3014 bytes" 60
change limit 3
headers "limit 3, 3 frames of 3014 bytes" 90
change limit_bytes 9200
headers "limit_bytes 9200 is more than that" 90
change limit_bytes 0 hlimit 9500
headers "hlimit 9500 is set" 95
mtu 6000
headers "hlimit 9500 stays when the MTU changes" 95
change hlimit auto
headers "hlimit auto, 3 frames of 6014 bytes" 180
mtu 1500
change limit_bytes 3000
headers "made smaller, it drops what is too much" 30

mtu 9000
ndp rate 1kbit
send_frames -s "$a/v0" raw,len=9000
mtu 68
# others WHAT COUNT: of 1100 frames of other traffic, so many wait then
others() {
	send_frames -s "$a/v0" raw,len=82,n=1100
	check_json "$(sch_stats)" "$1: $2 frames of 82 bytes fit" ".other.qlen_packets == $2"
}
others "other_limit auto, MTU 68" 1000
mtu 100
others "other_limit auto, MTU 100" 1390
change other_limit 120000
others "other_limit is set" 1463
change other_limit auto
mtu 150
others "other_limit auto again, MTU 150" 2000

# below another qdisc
tc -n "$a" -batch - <<-END
	qdisc replace dev v0 root handle 2: prio
	qdisc add dev v0 parent 2:2 handle 20: ndp limit 1 rate 1kbit
END
mtu 1500
send_frames -s "$a/v0" udp4,len=1500
headers "below prio, MTU 1500, 1 frame of 1514 bytes" 15
finish

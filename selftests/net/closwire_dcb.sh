#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dcb(8) sets which priorities of a closwire port obey pause frames, and shows the numbers of pause frames sent and
# received. netconsole is refused, because it sends in contexts in which a port cannot.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> w0        |=====| w1                  |
#	|                  <--|-----|--- pause frames     |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
setup_ns a b
wire_ab delay 1us rate 1gbit
. "$(dirname "$0")/../lib/pause.sh"
tc -n "$a" qdisc replace dev w0 root pfifo

# netpoll's message goes to the kernel's log
if modprobe -n netconsole 2>/dev/null; then
	in_ns "$a" modprobe netconsole netconsole="@10.0.0.1/w0,@10.0.0.2/$MAC_B" 2>/dev/null || true
	check "netconsole is refused" eval "dmesg | grep -q \"w0 doesn't support polling\""
	rmmod netconsole 2>/dev/null || true
else
	skip "netconsole is refused" "no netconsole in this kernel"
fi

if ! dcb -n "$a" pfc show dev w0 >"$TMP/dcb" 2>&1; then
	skip "dcb pfc" "$(head -n 1 "$TMP/dcb")"
	finish
fi

pfc() { dcb -n "$a" pfc "$@" dev w0; }
set_pfc() { dcb -n "$a" pfc set dev w0 prio-pfc "$@"; }
# obeyed: the priorities that obey pause frames
obeyed() { dcb -j -n "$a" pfc show dev w0 prio-pfc | jq -c '.prio_pfc'; }
# numbers NS/DEV FIELD: dcb's FIELD of each priority
numbers() { dcb -s -j -n "${1%/*}" pfc show dev "${1#*/}" "$2" | jq -c ".$2"; }
frames() { send_frames -s "$a/w0" -c "in=$b/w1/in/$1" "$2,n=$1"; }

check_eq "all priorities obey pause frames by default" "$(obeyed)" \
	"[true,true,true,true,true,true,true,true]"
check "dcb turns priority 3 off" set_pfc 3:off
check_eq "dcb shows that priority 3 is off" "$(obeyed)" "[true,true,true,false,true,true,true,true]"
slow_pause 3
check "a priority that is off ignores pause frames" frames 10 udp4,prio=3
slow_pause 5
check "a frame of paused priority 5 enters the ring" send_frames -s "$a/w0" udp4,prio=5
check_eq "a priority that is on obeys pause frames" "$(counter "$a/w0" tx_paused)" 1
before=$(packets "$b/w1" rx_packets)
check "dcb turns priority 5 off while it is paused" set_pfc 5:off
check "turning a paused priority off releases its frames at once" \
	wait_for 5 at_least $((before + 1)) packets "$b/w1" rx_packets
check "dcb turns all priorities on" set_pfc all:on
slow_pause 3
check "a frame of paused priority 3 enters the ring" send_frames -s "$a/w0" udp4,prio=3
check_eq "a priority that is turned on again obeys pause frames" "$(counter "$a/w0" tx_paused)" 2
pause 3=0
check_eq "indications count received pause frames by priority" "$(numbers "$a/w0" indications)" "[0,0,0,3,0,1,0,0]"
check_eq "requests count sent pause frames by priority" "$(numbers "$b/w1" requests)" "[0,0,0,3,0,1,0,0]"
# dcb(8) of iproute2 6.1 exits with 0 when the kernel refuses a setting
dcb -n "$a" pfc set dev w0 delay 5 || true
check_eq "a PFC delay is refused" "$(dcb -j -n "$a" pfc show dev w0 delay | jq '.delay')" 0
dcb -n "$a" pfc set dev w0 macsec-bypass on || true
check_eq "a MACsec bypass is refused" "$(dcb -j -n "$a" pfc show dev w0 macsec-bypass | jq '.macsec_bypass')" false
ip -n "$a" link set w0 down
check "dcb sets priorities of a port that is down" set_pfc 1:off
check_eq "dcb shows priorities of a port that is down" "$(obeyed)" "[true,false,true,true,true,true,true,true]"
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Pairs of closwire ports come and go, here and in other namespaces; their
# settings are what was asked for, and what cannot be is refused.
#
#	+--------- a ---------+     +--------- b ---------+
#	| w0                  |=====| w1                  |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
c='' # set by setup_ns
setup_ns a b c

# there NS/DEV: is there such a device?
there() { ip -n "${1%/*}" link show "${1#*/}" >/dev/null 2>&1; }
gone() { ! there "$1"; }

# settings NS/DEV: as one line of JSON
settings() { wire_json "$1" | sed 's/.*"info_data":\({[^}]*}\).*/\1/'; }

# settings_are WHAT NS/DEV RATE DELAY RING LOSS OFFSET DRIFT
settings_are() {
	check_eq "$1" "$(settings "$2")" \
		"{\"rate\":$3,\"delay\":$4,\"ring\":$5,\"loss\":$6,\"clock_offset\":$7,\"clock_drift\":$8}"
}

# frames LEN COUNT: of 10 frames that w0 sends, COUNT come out of w1
frames() { send_frames -s "$a/w0" -c "in=$b/w1/in/$2" "udp4,len=$1,n=10"; }

what="a pair without settings"
check "$what: made" ip link add w0 netns "$a" type closwire peer name w1 netns "$b"
check_json "$(wire_json "$a/w0")" \
	"$what: kind" '.linkinfo.info_kind == "closwire"' \
	"$what: one TX queue" '.num_tx_queues == 1' \
	"$what: no carrier" '.operstate == "DOWN"' \
	"$what: says that it has a peer" '.link_index != null or .link != null'
for port in "$a/w0" "$b/w1"; do
	settings_are "$what: defaults of ${port#*/}" "$port" 1250000000 0 256 0 0 0
done
check "deleted at one end" ip -n "$b" link del w1
check "both are gone" gone "$a/w0"

what="a pair with settings"
all="rate 25gbit delay 3us ring 64 loss 0% clock_offset 5us clock_drift 2ppm"
# shellcheck disable=SC2086 # all is words
check "$what: made" ip link add w0 netns "$a" type closwire $all peer name w1 netns "$b"
for port in "$a/w0" "$b/w1"; do
	settings_are "$what: those of ${port#*/}" "$port" 3125000000 3000 64 0 5000 2000
done
check "deleted" ip -n "$a" link del w0
check "the peer is gone, too" gone "$b/w1"

what="a peer with its own settings"
# shellcheck disable=SC2086 # all is words
check "$what: made" ip link add w0 netns "$a" type closwire $all \
	peer name w1 netns "$b" address 02:00:00:00:00:77 mtu 9000 numtxqueues 4 \
	type closwire rate 1gbit ring 2 clock_drift -500ppm
settings_are "$what: the first keeps its own" "$a/w0" 3125000000 3000 64 0 5000 2000
settings_are "$what: the peer has some of both" "$b/w1" 125000000 3000 2 0 5000 -500000
check_json "$(wire_json "$b/w1")" "$what: address, MTU and queues" \
	'.address == "02:00:00:00:00:77" and .mtu == 9000 and .num_tx_queues == 4'
check_json "$(wire_json "$a/w0")" "$what: not of the first" '.mtu == 1500 and .num_tx_queues == 1'

what="a change"
check "$what: accepted" wire_set "$a/w0" rate 1tbit delay 10s ring 16384 loss 100% clock_offset -1s clock_drift 500ppm
settings_are "$what: made" "$a/w0" 125000000000 10000000000 16384 1 -1000000000 500000
settings_are "$what: of this port alone" "$b/w1" 125000000 3000 2 0 5000 -500000
check "$what to the least: accepted" wire_set "$a/w0" rate 1kbit delay 0 ring 2 loss 0 clock_offset 0 clock_drift -500ppm
settings_are "$what to the least: made" "$a/w0" 125 0 2 0 0 -500000
before=$(settings "$a/w0")
rate="rate must be 1 kbit/s to 1 Tbit/s"
check_refused "a rate too low" "$rate" wire_set "$a/w0" rate 992bit
check_refused "a rate too high" "$rate" wire_set "$a/w0" rate 1001gbit
check_refused "a delay too long" "delay must be 0 to 10 s" wire_set "$a/w0" delay 10000000001ns
check_refused "a ring too short" "ring must be 2 to 16384 packets" wire_set "$a/w0" ring 1
check_refused "a ring too long" "ring must be 2 to 16384 packets" wire_set "$a/w0" ring 16385
check_refused "a drift too small" "clock_drift must be -500 to 500 ppm" wire_set "$a/w0" clock_drift -500001ppb
check_refused "a drift too big" "clock_drift must be -500 to 500 ppm" wire_set "$a/w0" clock_drift 500001ppb
check_refused "one bad value of two" "$rate" wire_set "$a/w0" ring 5 rate 992bit
check_eq "what is refused changes nothing" "$(settings "$a/w0")" "$before"
check "a peer cannot be changed" closwire_netlink refused -n "$a" -i w0
ip -n "$a" link del w0

check_refused "a new link with a bad rate" "$rate" ip link add w0 netns "$a" type closwire rate 992bit peer name w1
check_refused "a peer with a bad rate" "$rate" \
	ip link add w0 netns "$a" type closwire peer name w1 netns "$b" type closwire rate 992bit
check_refused "too many queues" "numtxqueues must be 1 to 16" ip link add w0 netns "$a" numtxqueues 17 type closwire
check_refused "too many queues of the peer" "numtxqueues must be 1 to 16" \
	ip link add w0 netns "$a" type closwire peer name w1 netns "$b" numtxqueues 17
check_refused "a multicast address" "must be a unicast Ethernet address" \
	ip link add w0 netns "$a" address 01:00:00:00:00:01 type closwire
check_refused "two of one name" "File exists" ip link add w0 netns "$a" type closwire peer name w0 netns "$a"
check "and nothing is left of these" eval "gone $a/w0 && gone $b/w1"

check "a peer without a name" ip -n "$a" link add w0 type closwire
check "gets one" eval "ip -n $a -j link show type closwire | jq -e 'map(.ifname) == [\"closwire0\", \"w0\"]'"
ip -n "$a" link del w0

# ---- carrier

wire_ab delay 1us
down() { ! has_carrier "$1" "$2"; }
# carrier_is WHAT on|off
carrier_is() {
	if [ "$2" = on ]; then
		check "$1: carrier here" has_carrier "$a" w0
		check "$1: carrier there" has_carrier "$b" w1
	else
		check "$1: no carrier here" down "$a" w0
		check "$1: no carrier there" down "$b" w1
	fi
}
carrier_is "both up" on
ip -n "$b" link set w1 down
carrier_is "one down" off
check "nothing gets through" frames 100 0
ip -n "$b" link set w1 up
carrier_is "up again" on
check "and carries" frames 100 10
ip -n "$a" link set w0 carrier off
carrier_is "unplugged" off
ip -n "$b" link set w1 carrier on
carrier_is "unplugged at the other end" off
ip -n "$a" link set w0 down
ip -n "$a" link set w0 up
carrier_is "still unplugged" off
ip -n "$a" link set w0 carrier on
carrier_is "plugged in" on
check "and carries again" frames 100 10

# ---- frames too long

check "MTU 1500: frames of 1514 pass" frames 1514 10
ip -n "$a" link set w0 mtu 9000
dropped=$(packets "$b/w1" rx_length_errors)
check "a receiver with a smaller MTU takes 1522 bytes, for two tags" frames 1522 10
check "and none of 1523" frames 1523 0
check_eq "and counts each" "$(packets "$b/w1" rx_length_errors)" $((dropped + 10))
check_json "$(wire_json "$b/w1")" "as length errors" ".stats64.rx.length_errors == $dropped + 10 or .stats64.rx.errors == $dropped + 10"
ip -n "$b" link set w1 mtu 9000
check "MTU 9000: frames of 9014 pass" frames 9014 10
ip -n "$a" link set w0 mtu 65535
ip -n "$b" link set w1 mtu 65535
check "MTU 65535: frames of 60000 pass" frames 60000 10
check_refused "MTU 65536" "mtu greater than device maximum" ip -n "$a" link set w0 mtu 65536

# ---- namespaces

job traffic udp -n "$a" -d 10.0.0.2 -p 9 -l 1400 -g 4
# frames_come NS/DEV: do its counters move?
frames_come() {
	local before
	before=$(packets "$1" rx_packets)
	wait_for 5 at_least $((before + 1)) packets "$1" rx_packets
}
check "traffic runs" frames_come "$b/w1"
check "the receiver moves under load" ip -n "$b" link set w1 netns "$c"
ip -n "$c" link set w1 up
check "and receives there" frames_come "$c/w1"
settings_are "with its settings" "$c/w1" 1250000000 1000 256 0 0 0
check "the sender moves under load" ip -n "$a" link set w0 netns "$c"
ip -n "$c" -batch - <<-END
	link set w0 up
	addr add 10.0.0.1/24 dev w0
	neigh add 10.0.0.2 lladdr $MAC_B nud permanent dev w0
END
check "both in one namespace have carrier" wait_for 5 has_carrier "$c" w0
stop_jobs # the sender's socket is still in a
check "both move, each to another's place" eval "ip -n $c link set w1 netns $a && ip -n $c link set w0 netns $b"
check "they are there" eval "there $a/w1 && there $b/w0"
ip -n "$a" link del w1
check "and go together" gone "$b/w0"

wire_ab
job traffic udp -n "$a" -d 10.0.0.2 -p 9 -l 1400 -g 4
check "traffic runs again" frames_come "$b/w1"
check "delete under load" ip -n "$b" link del w1
check "the sender is gone" gone "$a/w0"
wire_ab delay 1ms
job traffic udp -n "$a" -d 10.0.0.2 -p 9 -l 1400 -g 4
check "traffic runs once more" frames_come "$b/w1"
check "the receiver's namespace goes under load" eval "ip netns del $b && ip netns add $b"
check "the sender goes, too" wait_for 10 gone "$a/w0"
stop_jobs

# ---- many, and the module

for ((i = 0; i < 100; i++)); do
	echo "link add x$i netns $a type closwire peer name y$i netns $b"
done >"$TMP/pairs"
check "100 pairs" ip -batch "$TMP/pairs"
ports() { ip -n "$1" -br link | grep -c '^[xy][0-9]'; }
check_eq "are there" "$(ports "$a") $(ports "$b")" "100 100"
check "the module goes with them" rmmod closwire
check_eq "none is left" "$(ports "$a") $(ports "$b")" "0 0"
load_module closwire
wire_ab delay 100us
job traffic udp -n "$a" -d 10.0.0.2 -p 9 -l 1400 -g 4
check "traffic runs" frames_come "$b/w1"
check "the module is unloaded under load" rmmod closwire
check "and is gone" eval "! module_loaded closwire"
load_module closwire
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Make, change, move and delete pairs of closwire ports, in one namespace and in several. Ports have the requested
# settings, and invalid requests are refused.
#
#	+--------- a ---------+     +--------- b ---------+
#	| w0                  |=====| w1                  |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
c='' # set by setup_ns
setup_ns a b c

# exists NS/DEV: true if the device exists
exists() { ip -n "${1%/*}" link show "${1#*/}" >/dev/null 2>&1; }
gone() { ! exists "$1"; }

# settings NS/DEV: the port's settings as one line of JSON
settings() { wire_json "$1" | sed 's/.*"info_data":\({[^}]*}\).*/\1/'; }

# settings_are NAME NS/DEV RATE DELAY RING LOSS OFFSET DRIFT [CPU_PACKET CPU_FRAME CPU_KB]
settings_are() {
	local cpu="\"cpu_packet\":${9:-0},\"cpu_frame\":${10:-0},\"cpu_kb\":${11:-0}"
	check_eq "$1" "$(settings "$2")" \
		"{\"rate\":$3,\"delay\":$4,\"ring\":$5,\"loss\":$6,\"clock_offset\":$7,\"clock_drift\":$8,$cpu}"
}

# frames LEN COUNT: w0 sends 10 frames of LEN bytes; true if w1 receives COUNT of them
frames() { send_frames -s "$a/w0" -c "in=$b/w1/in/$2" "udp4,len=$1,n=10"; }

what="pair without settings"
check "$what is made" ip link add w0 netns "$a" type closwire peer name w1 netns "$b"
check_json "$(wire_json "$a/w0")" \
	"$what has kind closwire" '.linkinfo.info_kind == "closwire"' \
	"$what has one TX queue" '.num_tx_queues == 1' \
	"$what has no carrier" '.operstate == "DOWN"' \
	"$what shows its peer" '.link_index != null or .link != null'
for port in "$a/w0" "$b/w1"; do
	settings_are "$what: ${port#*/} has the defaults" "$port" 1250000000 0 256 0 0 0
done
check "a pair can be deleted at one end" ip -n "$b" link del w1
check "deleting one end deletes the other end" gone "$a/w0"

what="pair with settings"
all="rate 25gbit delay 3us ring 64 loss 0% clock_offset 5us clock_drift 2ppm cpu_packet 1us cpu_frame 20ns cpu_kb 3ns"
# shellcheck disable=SC2086 # all is words
check "$what is made" ip link add w0 netns "$a" type closwire $all peer name w1 netns "$b"
for port in "$a/w0" "$b/w1"; do
	settings_are "$what: ${port#*/} has the settings" "$port" 3125000000 3000 64 0 5000 2000 1000 20 3
done
check "a pair can be deleted at the first end" ip -n "$a" link del w0
check "deleting the first end deletes the peer" gone "$b/w1"

what="peer with its own settings"
# shellcheck disable=SC2086 # all is words
check "$what is made" ip link add w0 netns "$a" type closwire $all \
	peer name w1 netns "$b" address 02:00:00:00:00:77 mtu 9000 numtxqueues 4 \
	type closwire rate 1gbit ring 2 clock_drift -500ppm cpu_kb 0
settings_are "$what: the first port keeps its settings" "$a/w0" 3125000000 3000 64 0 5000 2000 1000 20 3
settings_are "$what inherits the other settings from the first port" "$b/w1" 125000000 3000 2 0 5000 -500000 1000 20 0
check_json "$(wire_json "$b/w1")" "$what has its own address, MTU and queues" \
	'.address == "02:00:00:00:00:77" and .mtu == 9000 and .num_tx_queues == 4'
check_json "$(wire_json "$a/w0")" "$what: the first port has default MTU and queues" \
	'.mtu == 1500 and .num_tx_queues == 1'

what="change"
check "$what to maximum values is accepted" \
	wire_set "$a/w0" rate 1tbit delay 10s ring 16384 loss 100% clock_offset -1s clock_drift 500ppm \
	cpu_packet 1ms cpu_frame 1ms cpu_kb 1ms
settings_are "$what to maximum values takes effect" "$a/w0" 125000000000 10000000000 16384 1 -1000000000 500000 \
	1000000 1000000 1000000
settings_are "$what of one port leaves the peer unchanged" "$b/w1" 125000000 3000 2 0 5000 -500000 1000 20 0
check "$what to minimum values is accepted" \
	wire_set "$a/w0" rate 1kbit delay 0 ring 2 loss 0 clock_offset 0 clock_drift -500ppm \
	cpu_packet 0 cpu_frame 0 cpu_kb 0
settings_are "$what to minimum values takes effect" "$a/w0" 125 0 2 0 0 -500000
before=$(settings "$a/w0")
rate="rate must be 1kbit to 1tbit"
check_refused "a rate below the minimum is refused" "$rate" wire_set "$a/w0" rate 992bit
check_refused "a rate above the maximum is refused" "$rate" wire_set "$a/w0" rate 1001gbit
check_refused "a delay above the maximum is refused" "delay must be 0 to 10s" wire_set "$a/w0" delay 10000000001ns
check_refused "a ring below the minimum is refused" "ring must be 2 to 16384 packets" wire_set "$a/w0" ring 1
check_refused "a ring above the maximum is refused" "ring must be 2 to 16384 packets" wire_set "$a/w0" ring 16385
check_refused "a clock_drift below the minimum is refused" "clock_drift must be -500ppm to 500ppm" \
	wire_set "$a/w0" clock_drift -500001ppb
check_refused "a clock_drift above the maximum is refused" "clock_drift must be -500ppm to 500ppm" \
	wire_set "$a/w0" clock_drift 500001ppb
for cost in cpu_packet cpu_frame cpu_kb; do
	check_refused "a $cost above the maximum is refused" "$cost must be 0 to 1ms" wire_set "$a/w0" $cost 1000001ns
done
check_refused "one bad value of two is refused" "$rate" wire_set "$a/w0" ring 5 rate 992bit
check_eq "refused changes leave all settings unchanged" "$(settings "$a/w0")" "$before"
check "changes of the peer and malformed attributes are refused" closwire_netlink refused -n "$a" -i w0
ip -n "$a" link del w0

check_refused "a new pair with a bad rate is refused" "$rate" \
	ip link add w0 netns "$a" type closwire rate 992bit peer name w1
check_refused "a peer with a bad rate is refused" "$rate" \
	ip link add w0 netns "$a" type closwire peer name w1 netns "$b" type closwire rate 992bit
check_refused "more than 16 TX queues are refused" "numtxqueues must be 1 to 16" \
	ip link add w0 netns "$a" numtxqueues 17 type closwire
check_refused "more than 16 TX queues of the peer are refused" "numtxqueues must be 1 to 16" \
	ip link add w0 netns "$a" type closwire peer name w1 netns "$b" numtxqueues 17
check_refused "a multicast address is refused" "must be a unicast Ethernet address" \
	ip link add w0 netns "$a" address 01:00:00:00:00:01 type closwire
check_refused "two ports of the same name are refused" "File exists" \
	ip link add w0 netns "$a" type closwire peer name w0 netns "$a"
check "refused pairs leave no device" eval "gone $a/w0 && gone $b/w1"

check "a pair whose peer has no name is made" ip -n "$a" link add w0 type closwire
check "a peer without a name gets a default name" \
	eval "ip -n $a -j link show type closwire | jq -e 'map(.ifname) == [\"closwire0\", \"w0\"]'"
ip -n "$a" link del w0

# ---- carrier

wire_ab delay 1us
down() { ! has_carrier "$1" "$2"; }
# carrier_is NAME on|off
carrier_is() {
	if [ "$2" = on ]; then
		check "w0 has carrier with $1" has_carrier "$a" w0
		check "w1 has carrier with $1" has_carrier "$b" w1
	else
		check "w0 has no carrier with $1" down "$a" w0
		check "w1 has no carrier with $1" down "$b" w1
	fi
}
carrier_is "both ports up" on
ip -n "$b" link set w1 down
carrier_is "one port down" off
check "no frame passes a pair with one port down" frames 100 0
ip -n "$b" link set w1 up
carrier_is "both ports up again" on
check "frames pass after a port comes up again" frames 100 10
ip -n "$a" link set w0 carrier off
carrier_is "the cable unplugged" off
ip -n "$b" link set w1 carrier on
carrier_is "the cable plugged in at the other end only" off
ip -n "$a" link set w0 down
ip -n "$a" link set w0 up
carrier_is "the cable unplugged after down and up" off
ip -n "$a" link set w0 carrier on
carrier_is "the cable plugged in" on
check "frames pass after the cable is plugged in" frames 100 10

# ---- frames too long

check "frames of 1514 bytes pass at MTU 1500" frames 1514 10
ip -n "$a" link set w0 mtu 9000
dropped=$(packets "$b/w1" rx_length_errors)
check "a receiver with MTU 1500 accepts 1522 bytes, for two VLAN tags" frames 1522 10
check "a receiver with MTU 1500 drops frames of 1523 bytes" frames 1523 0
check_eq "each frame that is too long is counted" "$(packets "$b/w1" rx_length_errors)" $((dropped + 10))
check_json "$(wire_json "$b/w1")" "frames that are too long are length errors" \
	 ".stats64.rx.length_errors == $dropped + 10 or .stats64.rx.errors == $dropped + 10"
ip -n "$b" link set w1 mtu 9000
check "frames of 9014 bytes pass at MTU 9000" frames 9014 10
ip -n "$a" link set w0 mtu 65535
ip -n "$b" link set w1 mtu 65535
check "frames of 60000 bytes pass at MTU 65535" frames 60000 10
check_refused "MTU 65536 is refused" "mtu greater than device maximum" ip -n "$a" link set w0 mtu 65536

# ---- namespaces

job traffic udp -n "$a" -d 10.0.0.2 -p 9 -l 1400 -g 4
# receives_frames NS/DEV: true once the device receives frames
receives_frames() {
	local before
	before=$(packets "$1" rx_packets)
	wait_for 5 at_least $((before + 1)) packets "$1" rx_packets
}
check "traffic runs before a namespace change" receives_frames "$b/w1"
check "the receiver moves to another namespace under load" ip -n "$b" link set w1 netns "$c"
ip -n "$c" link set w1 up
check "the moved receiver receives frames" receives_frames "$c/w1"
settings_are "the moved receiver keeps its settings" "$c/w1" 1250000000 1000 256 0 0 0
check "the sender moves to another namespace under load" ip -n "$a" link set w0 netns "$c"
ip -n "$c" -batch - <<-END
	link set w0 up
	addr add 10.0.0.1/24 dev w0
	neigh add 10.0.0.2 lladdr $MAC_B nud permanent dev w0
END
check "a pair in one namespace has carrier" wait_for 5 has_carrier "$c" w0
stop_jobs # the sender's socket is still in a
check "both ports move to different namespaces" eval "ip -n $c link set w1 netns $a && ip -n $c link set w0 netns $b"
check "both ports are in their new namespaces" eval "exists $a/w1 && exists $b/w0"
ip -n "$a" link del w1
check "deleting a moved port deletes its peer" gone "$b/w0"

wire_ab
job traffic udp -n "$a" -d 10.0.0.2 -p 9 -l 1400 -g 4
check "traffic runs before a port is deleted" receives_frames "$b/w1"
check "the receiver is deleted under load" ip -n "$b" link del w1
check "deleting the receiver deletes the sender" gone "$a/w0"
wire_ab delay 1ms
job traffic udp -n "$a" -d 10.0.0.2 -p 9 -l 1400 -g 4
check "traffic runs before a namespace is deleted" receives_frames "$b/w1"
check "the receiver's namespace is deleted under load" eval "ip netns del $b && ip netns add $b"
check "deleting the receiver's namespace deletes the sender" wait_for 10 gone "$a/w0"
stop_jobs

# ---- many pairs; unloading the module

for ((i = 0; i < 100; i++)); do
	echo "link add x$i netns $a type closwire peer name y$i netns $b"
done >"$TMP/pairs"
check "100 pairs are made" ip -batch "$TMP/pairs"
ports() { ip -n "$1" -br link | grep -c '^[xy][0-9]'; }
check_eq "100 pairs exist" "$(ports "$a") $(ports "$b")" "100 100"
check "the module is unloaded with 100 pairs" rmmod closwire
check_eq "unloading the module deletes all pairs" "$(ports "$a") $(ports "$b")" "0 0"
load_module closwire
wire_ab delay 100us
job traffic udp -n "$a" -d 10.0.0.2 -p 9 -l 1400 -g 4
check "traffic runs before the module is unloaded" receives_frames "$b/w1"
check "the module is unloaded under load" rmmod closwire
check "the module is not loaded any longer" eval "! module_loaded closwire"
load_module closwire
finish

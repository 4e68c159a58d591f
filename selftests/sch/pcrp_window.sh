#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The receive window holds packets for its time, or until 64 are held, and passes the highest priority first, in order
# within a priority. No packet is lost, even if the window is switched off or the qdisc is deleted.
#
#	+--- a ---+    +-------------- b --------------+    +--- c ---+
#	| v0      |====| v1: pcrp == bridge == v2      |====| v3      |
#	+---------+    +-------------------------------+    +---------+
. "$(dirname "$0")/../lib/lib.sh"
need_sch pcrp
c=''
setup_ns a b c
ip link add v0 address $MAC_A netns "$a" type veth peer name v1 netns "$b"
ip link add v2 netns "$b" type veth peer name v3 netns "$c"
ip -n "$b" link add br0 type bridge mcast_snooping 0 || skip_all "no bridges"
for dev in v1 v2; do
	ip -n "$b" link set $dev master br0 up
done
ip -n "$b" link set br0 up
ip -n "$a" link set v0 up
ip -n "$c" link set v3 up
wait_for 5 has_carrier "$a" v0
tc -n "$b" qdisc add dev v1 root pcrp window 1ms

window() { tc -n "$b" -s -j qdisc show dev v1 root | unwrap; }

# order FILE: indices of the frames in the order of arrival
order() { cut -d ' ' -f 2 "$1" | paste -s -d ' '; }

# pass WHAT FRAMES SPEC...: FRAMES frames pass unchanged; $TMP/out has their order
pass() {
	local what=$1 count=$2
	shift 2
	check_to "$TMP/out" "$what: all frames pass unchanged" send_frames -s "$a/v0" -c "in=$c/v3/in/$count" "$@"
}

# packets that leave the window must not pass tc's ingress hook a second time
clsact=yes
{ tc -n "$b" qdisc add dev v1 clsact && tc -n "$b" filter add dev v1 ingress matchall action pass; } || clsact=''
pass "frames of several priorities" 9 \
	udp4,dscp=1 udp4,dscp=24 udp4,dscp=1 udp6,dscp=56 raw udp4,dscp=48 tcp4,dscp=24 udp4,dscp=63 udp4,dscp=16
if exact; then
	check_eq "non-IP frames pass at once, then P0, P1, P4 with unmapped DSCPs, P5, P7" "$(order "$TMP/out")" \
		"4 3 5 1 6 7 8 0 2"
	check_eq "the window holds packets for 1 ms" \
		"$(awk '{ ns[$2] = substr($5, length($5) - 11) } END { printf "%d", ns[0] - ns[4] }' "$TMP/out")" 1000000
fi
check_json "$(window)" "window_packets counts the 8 IP packets" '.window_packets == 8' \
	"a window that was not full did not end early" '.window_early == 0'

if [ -n "$clsact" ]; then
	check_eq "each packet passes tc's ingress hook once" "$(tc -n "$b" -s -j filter show dev v1 ingress |
		jq '[.[] | .options.actions[]?.stats.packets] | add')" 9
	tc -n "$b" qdisc del dev v1 clsact
else
	skip "each packet passes tc's ingress hook once" "no clsact"
fi

# a generic XDP program sees each packet once
waited=$(jq .window_packets <<<"$(window)")
status=0
xdp_count "$b" v1 send_frames -s "$a/v0" -c "in=$c/v3/in/20" udp4,dscp=1,n=20 >"$TMP/xdp" 2>&1 || status=$?
case $status in
4) skip "a generic XDP program runs once for each packet" "the kernel has no BPF" ;;
*)
	check_eq "20 frames pass a generic XDP program" "$status" 0
	check_eq "a generic XDP program runs once for each packet" "$(sed -n 's/^runs //p' "$TMP/xdp")" 20
	check_eq "the window holds no packet while a generic XDP program is attached" \
		"$(jq .window_packets <<<"$(window)")" "$waited"
	;;
esac

pass "100 frames of one priority" 100 udp4,dscp=1,n=100
check_eq "100 frames of one priority arrive in order" "$(order "$TMP/out")" "$(seq -s ' ' 0 99)"
check_json "$(window)" "the window holds each of 100 frames" '.window_packets == 108'
if exact; then
	check_json "$(window)" "a full window ends early" '.window_early == 1'
fi

tc -n "$b" qdisc change dev v1 root pcrp map 0:1,7:56
pass "map 0:1,7:56" 3 udp4,dscp=56 udp4,dscp=1 udp4,dscp=24
exact && check_eq "map 0:1,7:56 sets the order P0, P4, P7" "$(order "$TMP/out")" "1 2 0"
pass "window switched off with packets in it" 20 -x "tc -n $b qdisc change dev v1 root pcrp window off" udp4,n=20
check_eq "switching the window off keeps the order" "$(order "$TMP/out")" "$(seq -s ' ' 0 19)"
before=$(window)
pass "window off" 2 udp4,dscp=56 udp4,dscp=1
check_eq "window off keeps the order of different priorities" "$(order "$TMP/out")" "0 1"
check_eq "window off holds no packet" "$(jq .window_packets <<<"$(window)")" "$(jq .window_packets <<<"$before")"
tc -n "$b" qdisc change dev v1 root pcrp window 1ms
send_frames -s "$a/v0" -x "tc -n $b qdisc del dev v1 root" udp4,n=20
pass "qdisc deleted with packets in the window" 1 udp4
finish

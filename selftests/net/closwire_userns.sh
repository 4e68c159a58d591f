#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A user without rights makes ports in a user namespace: they add no PTP clock
# to the host, and frames on their cables and in their rings take bounded memory,
# each port and all together. The host's root is not bounded.
# shellcheck disable=SC2317,SC2016 # functions are called through check; the user's shell expands
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
for tool in setpriv unshare; do
	command -v $tool >/dev/null || skip_all "no $tool"
done

# files that the user may read: a script, ip's plug-in, the tools
dir=$(mktemp -d /tmp/closwire.XXXXXX)
defer "rm -rf $dir"
cp -L "$IP_LIB_DIR/link_closwire.so" "$dir"
cp -L "$(command -v traffic)" "$(command -v closwire_raw)" "$dir"
chmod -R go+rX "$dir"

# user COMMAND...: in namespaces of its own, as root there and uid 65534 here
user() {
	(cd "$dir" && timeout 120 setpriv --reuid 65534 --regid 65534 --clear-groups \
		env IP_LIB_DIR="$dir" PATH="$dir:$PATH" unshare -Urnm bash -eu -c '. ./lib; '"$*")
}
cat >"$dir/lib" <<'END'
# pair NAME SETTING...: NAME and its peer NAME-p, up, with a neighbour behind
pair() {
	ip link add "$1" type closwire "${@:2}" peer name "$1-p"
	ip link set "$1-p" up
	ip link set "$1" up
	n=$((${n:-0} + 1))
	ip addr add 10.0.$n.1/24 dev "$1"
	ip neigh add 10.0.$n.2 lladdr 02:00:00:00:00:0b nud permanent dev "$1"
	until ip link show "$1" | grep -q LOWER_UP; do sleep 0.05; done
}
stat() { ethtool -S "$1" | awk -v name="$2:" '$1 == name { print $2 }'; }
sent() { ip -s link show "$1" | awk '/TX:/ { getline; print $2; exit }'; }
received() { ip -s link show "$1" | awk '/RX:/ { getline; print $2; exit }'; }
# on_cable DEV: frames that have left and not come, of a cable that is not over yet
on_cable() { echo $(($(sent "$1") - $(stat "$1" tx_dropped_limit))); }
# wait_received DEV COUNT: until DEV has received COUNT frames, but not longer than 20 s
wait_received() {
	local end=$((SECONDS + 20))
	until [ "$(received "$1")" -ge "$2" ] || [ "$SECONDS" -ge "$end" ]; do sleep 0.5; done
}
# flood N: on the Nth pair, more than a cable of 10 s may hold; all has left the ring then
flood() {
	traffic udp -d "10.0.$1.2" -p 9 -c 12000 -l 1400 >/dev/null
	sleep 0.1
}
END
chmod go+r "$dir/lib"
user true || skip_all "no user namespaces"

# ---- PTP clocks

clocks() { find /sys/class/ptp -name 'ptp*' 2>/dev/null | wc -l; }
before=$(clocks)
check_eq "18 ports of a user namespace add no PTP clock" "$(user 'for i in 1 2 3 4 5 6 7 8 9; do
	ip link add x$i type closwire; done; find /sys/class/ptp -name "ptp*" | wc -l')" "$before"
if ip link add w0 type closwire peer name w1 && [ "$(clocks)" -gt "$before" ]; then
	ok "ports of the host have PTP clocks"
else
	skip "PTP clocks of the host's ports" "no PTP in this kernel"
fi
ip link del w0

# ---- memory

# A datagram of 1400 bytes takes more than 1442 bytes of memory: at most 11635 fit into 16 MiB
long="rate 1tbit delay 10s"
read -r held more < <(user "pair w0 $long; flood 1; held=\$(on_cable w0); ip link set w0-p down; ip link set w0-p up; sleep 0.1
	flood 1; echo \$held \$((\$(on_cable w0) - held))")
note "$held frames on a cable"
check "the cable of one port holds 16 MiB at most" test "$held" -ge 1000 -a "$held" -le 11635
check "memory is given back when the receiver goes down" test "$more" -ge $((held - 16)) -a "$more" -le $((held + 16))
if exact; then
	read -r lost more < <(user "pair w0 $long; flood 1; held=\$(on_cable w0); wait_received w0-p \$held; lost=\$((held - \$(received w0-p)))
		flood 1; echo \$lost \$((\$(on_cable w0) - held))")
	check_eq "all frames on the cable arrive" "$lost" 0
	check "memory is given back when frames arrive" test "$more" -ge $((held - 16)) -a "$more" -le $((held + 16))
else
	skip "frames on the cable arrive" "time is real: it takes 11 s"
fi
read -r all seventh < <(user 'for i in 1 2 3 4 5 6; do pair w$i '"$long"'; done
	sum=0; for i in 1 2 3 4 5 6; do flood $i; sum=$((sum + $(on_cable w$i))); done
	pair w7 '"$long"'; flood 7; echo $sum $(on_cable w7)')
note "$all frames on six cables, $seventh on a seventh"
check "six ports hold 64 MiB and a port's own share at most" test "$all" -le $((4 * held + 400))
check "memory is given back when ports are deleted: six hold more than three" test "$all" -gt $((3 * held))
# 256 KiB, of which a datagram takes 1442 bytes at least
check "a port keeps a share that other ports cannot use up" test "$seventh" -ge 50 -a "$seventh" -le 182

# forwarded frames have no socket: they count in the ring as well
forward='pair w0 rate 10gbit; pair x0 rate 1kbit ring 16384
	tc qdisc replace dev x0 root pfifo limit 100
	mount -t sysfs none /sys
	limit=/sys/class/net/x0/queues/tx-0/byte_queue_limits/limit_min
	[ ! -e $limit ] || echo 100000000 >$limit
	ip link add br0 type bridge; ip link set br0 up
	ip link set w0-p master br0; ip link set x0 master br0
	for i in 1 2 3 4 5 6; do
		traffic udp -d 10.0.1.2 -p 9 -c 3000 -l 1400 >/dev/null; sleep 0.1
	done'
if user 'ip link add br0 type bridge; mount -t sysfs none /sys' 2>/dev/null; then
	check "a ring of forwarded frames holds 16 MiB at most" test \
		"$(user "$forward; stat x0 tx_dropped_limit")" -gt 1000
else
	skip "a ring of forwarded frames" "no bridge or no sysfs for the user"
fi

setup_ns a b
# shellcheck disable=SC2086 # long is words
wire_ab $long
traffic udp -n "$a" -d 10.0.0.2 -p 9 -c 12000 -l 1400 >/dev/null
check_eq "a port of the host drops none" "$(counter "$a/w0" tx_dropped_limit)" 0
check "the cable of a port of the host holds more" test "$(packets "$a/w0" tx_packets)" -ge $((held + 1000))

# ---- an endless loop once (closwire_pauses.sh): pauses that a user sends itself

check "random pauses in a user namespace" user 'pair w0 rate 10gbit ring 2
	mount -t tmpfs none /run; mkdir /run/netns; touch /run/netns/me; mount --bind /proc/self/ns/net /run/netns/me
	traffic udp -d 10.0.1.2 -p 9 -l 1400 & closwire_raw storm -s me/w0-p -c 300; kill $!'
finish

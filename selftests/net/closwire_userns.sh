#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Ports of an unprivileged user in a user namespace: they add no PTP clock to the host, and the memory of frames on
# their cables and in their rings is bounded, for each port and in total. Ports of the host's root are not bounded.
# shellcheck disable=SC2317,SC2016 # functions are called through check; the user's shell expands
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
for tool in setpriv unshare; do
	command -v $tool >/dev/null || skip_all "no $tool"
done

# files that the user may read: a script, ip's plug-in, and tools
dir=$(mktemp -d /tmp/closwire.XXXXXX)
defer "rm -rf $dir"
cp -L "$IP_LIB_DIR/link_closwire.so" "$dir"
cp -L "$(command -v traffic)" "$(command -v closwire_raw)" "$dir"
chmod -R go+rX "$dir"

# user COMMAND...: run COMMAND in new namespaces, as root there and as UID 65534 of the host
user() {
	(cd "$dir" && timeout 120 setpriv --reuid 65534 --regid 65534 --clear-groups \
		env IP_LIB_DIR="$dir" PATH="$dir:$PATH" unshare -Urnm bash -eu -c '. ./lib; '"$*")
}
cat >"$dir/lib" <<'END'
# pair NAME SETTING...: make NAME and its peer NAME-p, set them up, and add a neighbour behind NAME
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
# on_cable DEV: frames accepted by the cable of DEV; correct before the first one arrives
on_cable() { echo $(($(sent "$1") - $(stat "$1" tx_dropped_limit))); }
# wait_received DEV COUNT: wait until DEV has received COUNT frames, for at most 20 s
wait_received() {
	local end=$((SECONDS + 20))
	until [ "$(received "$1")" -ge "$2" ] || [ "$SECONDS" -ge "$end" ]; do sleep 0.5; done
}
# flood N: send more frames than the cable of the Nth pair may hold, and wait until they have left the ring
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
	skip "ports of the host have PTP clocks" "no PTP in this kernel"
fi
ip link del w0

# ---- memory

# A datagram of 1400 bytes takes more than 1442 bytes of memory, so at most 11635 fit into 16 MiB
long="rate 1tbit delay 10s"
read -r held more < <(user "pair w0 $long; flood 1; held=\$(on_cable w0); ip link set w0-p down; ip link set w0-p up; sleep 0.1
	flood 1; echo \$held \$((\$(on_cable w0) - held))")
note "$held frames on a cable"
check "a port's cable holds at most 16 MiB" test "$held" -ge 1000 -a "$held" -le 11635
check "memory is released when the receiver goes down" test "$more" -ge $((held - 16)) -a "$more" -le $((held + 16))
if exact; then
	read -r lost more < <(user "pair w0 $long; flood 1; held=\$(on_cable w0); wait_received w0-p \$held; lost=\$((held - \$(received w0-p)))
		flood 1; echo \$lost \$((\$(on_cable w0) - held))")
	check_eq "all frames on the cable arrive" "$lost" 0
	check "memory is released when frames arrive" test "$more" -ge $((held - 16)) -a "$more" -le $((held + 16))
else
	skip "all frames on the cable arrive" "takes 11 s of real time"
fi
read -r all seventh < <(user 'for i in 1 2 3 4 5 6; do pair w$i '"$long"'; done
	sum=0; for i in 1 2 3 4 5 6; do flood $i; sum=$((sum + $(on_cable w$i))); done
	pair w7 '"$long"'; flood 7; echo $sum $(on_cable w7)')
note "$all frames on six cables, $seventh on a seventh"
check "six ports hold at most 64 MiB and each port's share" test "$all" -le $((4 * held + 400))
check "deleting ports releases memory: six ports hold more than three" test "$all" -gt $((3 * held))
# the share is 256 KiB, and a datagram takes at least 1442 bytes
check "a port keeps its share when other ports use up the total" test "$seventh" -ge 50 -a "$seventh" -le 182

# forwarded frames have no socket, so the ring charges them
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
	check "a ring of forwarded frames holds at most 16 MiB" test \
		"$(user "$forward; stat x0 tx_dropped_limit")" -gt 1000
else
	skip "a ring of forwarded frames holds at most 16 MiB" "no bridge or no sysfs for the user"
fi

setup_ns a b
# shellcheck disable=SC2086 # long is words
wire_ab $long
traffic udp -n "$a" -d 10.0.0.2 -p 9 -c 12000 -l 1400 >/dev/null
check_eq "a port of the host's root drops no frame" "$(counter "$a/w0" tx_dropped_limit)" 0
check "the cable of a port of the host's root holds more than 16 MiB" \
	test "$(packets "$a/w0" tx_packets)" -ge $((held + 1000))

# ---- a user's own pauses, which once caused an endless loop (closwire_pauses.sh)

check "port survives random pauses in a user namespace" user 'pair w0 rate 10gbit ring 2
	mount -t tmpfs none /run; mkdir /run/netns; touch /run/netns/me; mount --bind /proc/self/ns/net /run/netns/me
	traffic udp -d 10.0.1.2 -p 9 -l 1400 & closwire_raw storm -s me/w0-p -c 300; kill $!'
finish

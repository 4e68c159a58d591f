#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# ICMP errors of a router with act_lb: each hop of a path answers, and senders learn the MTU of the path.
# shellcheck disable=SC2154,SC2317 # lb_net sets the namespaces; functions are called through check
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/lb.sh"
. "$(dirname "$0")/../lib/trace.sh"
need_lb
lb_net
for i in "$r" "$t"; do
	in_ns "$i" tee /proc/sys/net/ipv4/icmp_ratelimit /proc/sys/net/ipv6/icmp/ratelimit >/dev/null <<<0
done

# hop ADDRESS TTL: print the address that answers an echo request with this TTL
hop() {
	{ in_ns "$h" ping -n -c 1 -W 1 -t "$2" "$1" || true; } |
		sed -n 's/^From \([^ ]*\):\{0,1\} icmp_seq=.*exceeded.*/\1/p; s/.* bytes from \([^ ]*\): .*/\1/p'
}
# path ADDRESS: print the addresses of all hops, as traceroute(8) does
path() { for i in 1 2 3; do hop "$1" $i; done | paste -s -d ' '; }
# path_mtu ADDRESS: print the MTU of the path, as the sender knows it
path_mtu() { ip -n "$h" route get "$1" | sed -n 's/.* mtu \([0-9]*\).*/\1/p'; }
# echo_df ADDRESS LENGTH: send an echo request that routers must not fragment
echo_df() { in_ns "$h" ping -n -c 1 -W 1 -M "do" -s "$2" "$1"; }

for granularity in packet flowlet; do
	lb granularity $granularity select rr
	check_eq "IPv4, $granularity: each hop of the path answers" "$(path 10.0.2.2)" "10.0.1.9 10.1.0.2 10.0.2.2"
	check_eq "IPv6, $granularity: each hop of the path answers" "$(path fd00:2::2)" "fd00:1::9 fd01::2 fd00:2::2"
	check_eq "$granularity: the stack gets the packets whose TTL ends, and no others" \
		"$(lb_stat passed.ttl sent_packets)" "2 4"
done

# events EVENT TEXT: number of traced events of the action that contain TEXT
events() { traced "$1" | grep -F " index=$lb_index " | grep -cF -- "$2"; }
if trace_events act_lb; then
	lb granularity packet select rr
	path 10.0.2.2 >"$TMP/path"
	check_eq "trace events have each packet that is sent, and the reason for each other one" \
		"$(events lb_send "ifindex=") $(events lb_pass reason=ttl)" "2 1"
else
	skip "trace events" "no tracefs"
fi

for to in 10.0.2.2 fd00:2::2; do
	before=$(snmp "$r" IpForwDatagrams Ip6OutForwDatagrams)
	in_ns "$h" ping -q -c 10 -i 0.01 $to >/dev/null
	# the requests by the action, and the replies by the stack
	check_eq "$to: the router's counter of forwarded packets has those of the action" \
		$(($(snmp "$r" IpForwDatagrams Ip6OutForwDatagrams) - before)) 20
done

for i in 0 1 2 3; do
	ip -n "$r" link set "u$i" mtu 1400
	ip -n "$t" link set "t$i" mtu 1400
done
lb granularity packet select rr
for family in 4 6; do
	to=10.0.2.2 header=28 error="Frag needed"
	[ $family = 4 ] || to=fd00:2::2 header=48 error="Packet too big"
	check_refused "IPv$family: packet that is too long for the next hop causes an ICMP error" "$error" \
		echo_df $to $((1500 - header))
	check_eq "IPv$family: the sender learns the MTU" "$(path_mtu $to)" 1400
	check "IPv$family: packet of the MTU arrives" echo_df $to $((1400 - header))
	check_refused "IPv$family: the sender refuses a longer packet" "message too long, mtu" echo_df $to $((1401 - header))
done
check_eq "action sends packets of the MTU, and passes longer ones" \
	"$(lb_stat passed.mtu sent_packets)" "2 2"

# the sender forgets the MTU, so that the router fragments
ip -n "$h" route flush cache
before=$(snmp "$d" IpReasmOKs)
check "IPv4: long packet that may be fragmented arrives" \
	in_ns "$h" ping -n -c 1 -W 1 -M dont -s 1472 10.0.2.2
check_eq "IPv4: the stack fragments it" "$(passed mtu) $(($(snmp "$d" IpReasmOKs) - before))" "3 1"

for family in 4 6; do
	ip -n "$h" -$family route flush cache
	to=10.0.2.2 six=''
	[ $family = 4 ] || to=fd00:2::2 six=-6
	traffic tcp-receive -n "$d" -p 5000 $six >"$TMP/tcp" &
	wait_for 5 in_ns "$d" sh -c 'ss -Hlnt sport = 5000 | grep -q .'
	traffic tcp-send -n "$h" -d $to -p 5000 -c 200000
	wait
	check_eq "IPv$family: TCP finds the MTU of the path" "$(<"$TMP/tcp")" "received 200000"
done
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# closfab divides packets among two links by the weights of their next hops, 1 and 3: in each mode and with each way to
# select, IPv4 and IPv6 underlay.
# shellcheck disable=SC2154,SC2034,SC2119,SC2317 # lb_net sets the namespaces, and uses rate; wait_for calls functions
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/fab.sh"
need_fab
rate=1gbit
fab_net
ip -n "$r" -batch - <<-END
	route replace 10.9.0.2/32 src 10.9.0.1 nexthop via 10.1.0.2 dev u0 nexthop via 10.1.3.2 dev u3 weight 3
	route del fd09::2/128
	route add fd09::2/128 src fd09::1 nexthop via fd01:0::2 dev u0 nexthop via fd01:3::2 dev u3 weight 3
END
sent() { packets "$r/u$1" tx_packets; }

all_sent() { [ $(($(sent 0) + $(sent 3) - before0 - before3)) -ge 2000 ]; }

# divided NAME LEAST MOST SETTING...: u3 carries LEAST to MOST of 2000 packets of a flow
divided() {
	local before0 before3 share
	fab_del
	fab_add "${@:4}"
	wait_for 5 in_ns "$h" ping -q -c 1 -W 1 10.0.2.2
	before0=$(sent 0) before3=$(sent 3)
	traffic udp -n "$h" -d 10.0.2.2 -p 9 -l 100 -i 100 -c 2000 >/dev/null
	wait_for 5 all_sent
	share=$((2000 * ($(sent 3) - before3) / ($(sent 0) + $(sent 3) - before0 - before3)))
	check "$1: the link with weight 3 carries three quarters" test $share -ge "$2" -a $share -le "$3"
	note "$share of 2000"
}

for outer in 4 6; do
	divided "IPv$outer, in turn" 1490 1510 mode reorder select rr
	# five standard deviations
	divided "IPv$outer, at random" 1403 1597 mode reorder select random
	divided "IPv$outer, by quality" 1403 1597 mode reorder select quality
	divided "IPv$outer, cells in turn" 1490 1510 mode cell cell_size 1400 select rr
	# each packet begins an epoch and samples paths
	divided "IPv$outer, conweave" 1403 1597 mode conweave theta_inactive 10us
done
finish

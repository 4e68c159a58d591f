#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The repair of trimmed packets exists only on devices by which NDP sockets receive: a router with the module, and with
# sockets that are bound elsewhere, forwards by act_lb, which leaves packets to the stack if their device has a hook.
# The network is lb_net's.
# shellcheck disable=SC2154,SC2317 # lb_net sets the namespaces; functions are called through wait_for
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/lb.sh"
need_lb
. "$(dirname "$0")/../lib/ndp.sh"
lb_net

# sent NAME: 40 packets from h are sent by the action
sent() {
	lb granularity packet select rr
	udp 4 40
	check_eq "$1" "$(lb_stat sent_packets passed.policy)" "40 0"
}
# is_sent, is_left: are packets from h sent by the action; are they left to the stack, because of a hook?
is_sent() { lb granularity packet select rr && udp 4 1 && [ "$(lb_stat sent_packets passed.policy)" = "1 0" ]; }
is_left() {
	lb granularity packet select rr
	udp 4 1
	[ "$(lb_stat sent_packets)" -eq 0 ] && [ "$(passed policy)" -ge 1 ]
}
# listen OPTION...: open a socket in r
listen() {
	job ndp_msg receive -n "$r" -p 9 -l 10 -t 1000 "$@"
	wait_for 10 listens_in_r
}
listens_in_r() { [ "$(in_ns "$r" closnet ndp sockets -j | jq '.sockets | length')" -ge 1 ]; }
sent "a loaded module has no hook"
listen -a 10.1.3.1
sent "a socket that is bound to the address of another device has no hook"
messages "messages arrive at the bound socket's device" \
	receive -n "$r" -p 10 -a 10.1.3.1 -c 3 -l 1,100k -- send -n "$t" -d 10.1.3.1 -p 10 -c 3 -l 1,100k
sent "a flow by another device has no hook"
stop_jobs
listen
check "a socket that is bound to no address has a hook" is_left
stop_jobs
check "there is no hook 10 s after the last socket was closed" wait_for 20 is_sent
listen
check "the next socket has a hook at once" is_left
finish

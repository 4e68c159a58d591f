#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The module is loaded and unloaded under traffic.
# shellcheck disable=SC2154 # lb_net sets the namespaces
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/sch_reload.sh"
. "$(dirname "$0")/../lib/lb.sh"
need_lb
lb_net
rounds=6
defer "load_module act_lb"

# reload: load the module, use the action, and unload it
reload() {
	load_module act_lb || return
	lb granularity "$1" select "$2" rate u1 1gbit || return
	sleep 0.01
	sent=$((sent + $(lb_stat sent_packets)))
	if [ "$1" = packet ]; then
		no_lb
	else
		tc -n "$r" qdisc del dev rh clsact
	fi
	wait_for 5 rmmod act_lb
}

for to in 10.0.2.2 fd00:2::2; do
	job traffic udp -n "$h" -d $to -p 9 -l 200 -i 500 >/dev/null
done
rmmod act_lb
sent=0
for ((i = 0; i < rounds; i++)); do
	case $((i % 3)) in
	0) reload packet drill || break ;;
	1) reload flowlet quality || break ;;
	2) reload flow random || break ;;
	esac
done
check_eq "module is loaded and unloaded $rounds times under traffic" "$i" $rounds
check "it sends packets meanwhile" [ "$sent" -gt $rounds ]
finish

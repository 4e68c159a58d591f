# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Several CPUs overload, change, read, replace and unload a qdisc. A test sources this file after lib.sh, defines
# `changes`, which prints changes one a line, and calls sch_stress.
#
#	+--------- a ---------+     +--------- b ---------+
#	| traffic -> v0: KIND |=====| v1                  |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2154,SC2317,SC2034 # setup_ns sets a and b; functions are called through loop; link_ab reads VETH
. "$(dirname "${BASH_SOURCE[0]}")/smp.sh"

# new_qdiscs: put a new qdisc at the root and change it, then one below each TX queue
new_qdiscs() {
	local i
	new_root "$SCH" || return
	tc -n "$a" -batch <(changes | sed "s/^/qdisc change dev v0 root $SCH /") || return
	tc -n "$a" qdisc replace dev v0 root handle 1: mq || return
	for i in 1 2 3 4; do
		tc -n "$a" qdisc replace dev v0 parent 1:$i handle 1$i: "$SCH" rate 20mbit || return
	done
	tc -n "$a" -batch <(changes | sed "s/^/qdisc change dev v0 parent 1:1 $SCH /") || return
	tc -n "$a" qdisc del dev v0 root
}

replace() { new_root "$SCH" rate 50mbit; }
statistics() { tc -n "$a" -s qdisc show && tc -n "$a" -s -j qdisc show dev v0 && tc -n "$a" -s class show dev v0; }

down_up() {
	ip -n "$a" link set v0 down && ip -n "$a" link set v0 up mtu 3000 && ip -n "$a" link set v0 mtu 9000 &&
		ip -n "$a" neigh replace 10.0.0.2 lladdr "$MAC_B" nud permanent dev v0 && sleep 0.3
}

# namespace: make a namespace with the qdisc in it and delete it while the qdisc holds packets
namespace() {
	ip netns add "$a-x" && ip -n "$a-x" link add x0 type dummy && ip -n "$a-x" link set x0 up &&
		ip -n "$a-x" addr add 10.0.1.1/24 dev x0 && tc -n "$a-x" qdisc add dev x0 root "$SCH" rate 100kbit &&
		traffic udp -n "$a-x" -d 10.0.1.2 -p 9 -c 50
	ip netns del "$a-x"
}

# reload: unload and load the module; no other qdisc of the kind exists
reload() {
	tc -n "$a" qdisc replace dev v0 root pfifo && rmmod "sch_$SCH" && load_module "sch_$SCH" &&
		new_root "$SCH" rate 50mbit
}

# sch_stress KIND: test the qdisc KIND and finish
sch_stress() {
	local i port
	need_sch "$1"
	setup_ns a b
	VETH=(numtxqueues 4 numrxqueues 4)
	link_ab
	defer "ip netns del $a-x 2>/dev/null"
	for i in 1 2 3 4; do
		port=(-p "$i")
		[ $((i % 2)) -eq 0 ] || port=("${SCH_UDP[@]}")
		job traffic udp -n "$a" -d 10.0.0.2 "${port[@]}" -t $((i * 40)) -l $((700 * i)) >/dev/null 2>&1
	done
	loop "reads statistics" statistics
	loop "changes and replaces the qdisc" new_qdiscs
	loop "takes the device down" down_up
	stress "$SCH"
	loop "reads statistics" statistics
	loop "replaces the qdisc" replace
	loop "replaces the qdisc concurrently" replace
	loop "deletes a namespace" namespace
	stress "$SCH"
	loop "reads statistics" statistics
	loop "reloads the module" reload
	stress "$SCH"
	finish
}

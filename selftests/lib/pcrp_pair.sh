# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for tests of sch_pcrp on two or more devices. A test sources this file after setup_ns a b.
# shellcheck disable=SC2317,SC2154 # functions are called through check and wait_for; setup_ns sets a and b

# pcrp_stats NS/DEV: the qdisc's options and statistics as JSON
pcrp_stats() { tc -n "${1%/*}" -s -j qdisc show dev "${1#*/}" root | unwrap; }

# pcrp_new NS/DEV ARGUMENT...: put a new qdisc, without any state, at the root
pcrp_new() {
	tc -n "${1%/*}" qdisc replace dev "${1#*/}" root \
		handle "$(printf %x $((${EPOCHREALTIME/./} % 60000 + 16))):" pcrp "${@:2}"
}

# pcrp_count NS/DEV NAME: counter NAME of the qdisc
pcrp_count() { value_of "$2" "$(pcrp_stats "$1")"; }

# value_of NAME JSON: number NAME in the output of pcrp_stats
value_of() { [[ $2 =~ \"$1\":([0-9]+) ]] && echo "${BASH_REMATCH[1]}"; }

# reaches NS/DEV NAME COUNT: true once the counter is at least COUNT
reaches() { [ "$(pcrp_count "$1" "$2")" -ge "$3" ]; }

# settled NS/DEV...: true if all flows have finished, and no packet is queued or expected
settled() {
	local at json
	for at; do
		json=$(pcrp_stats "$at")
		idle "$json" || { echo "$json" && return 1; }
	done
}
idle() {
	all_zero "$1" && [ "$(value_of flows_started "$1")" = "$(value_of flows_finished "$1")" ] &&
		[[ $1 =~ \"flows_waiting\":0, && $1 =~ \"flows_ready\":0, && $1 =~ \"rx_flows\":0, ]]
}

# transfer ADDRESS BYTES...: send BYTES... over one connection from a to b. The receiver checks each
# byte, and has received one number of bytes before the next is sent.
transfer() {
	local bytes=("${@:2}")
	tcp_flow -s "$a" -r "$b" -d "$1" connect "${bytes[@]/#/send=}" close eof
}

# check_job NAME PID...: pass if all processes exit with status 0
check_job() {
	local name=$1 pid status=0
	shift
	for pid; do
		wait "$pid" || status=$?
	done
	check_eq "$name" "$status" 0
}

# ---- DSCP marks

# count_dscp NS/DEV PROTOCOL DSCP...: count received packets by DSCP, with one filter for each DSCP, in that order.
# PROTOCOL is the frame's: ip, ipv6, or 802.1q or 802.1ad for one or two VLAN tags. IPv6's neighbour discovery, which
# has DSCP 0, does not count.
count_dscp() {
	local ns=${1%/*} dev=${1#*/} proto=$2 match=() only=() dscp n=0
	shift 2
	case $proto in
	802.1q) match=(vlan_ethtype ipv4) ;;
	802.1ad) match=(vlan_ethtype 802.1q cvlan_ethtype ipv4) ;;
	esac
	tc -n "$ns" qdisc replace dev "$dev" clsact
	tc -n "$ns" filter del dev "$dev" ingress
	for dscp; do
		n=$((n + 1))
		only=()
		[ "$proto $dscp" != "ipv6 0" ] || only=(ip_proto tcp)
		tc -n "$ns" filter add dev "$dev" ingress pref $n protocol "$proto" flower \
			${match[@]+"${match[@]}"} ${only[@]+"${only[@]}"} ip_tos $((dscp << 2))/0xfc action pass
	done
}

# counted_dscp NS/DEV: the packet counts of count_dscp's filters as a JSON list
counted_dscp() {
	tc -n "${1%/*}" -s -j filter show dev "${1#*/}" ingress |
		jq -c '[.[] | select(.options.actions) | .options.actions[0].stats.packets]'
}

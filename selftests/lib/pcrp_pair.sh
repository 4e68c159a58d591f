# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What tests of sch_pcrp at two devices or more share. A test sources this after setup_ns a b.
# shellcheck disable=SC2317,SC2154 # functions are called through check and wait_for; setup_ns sets a and b

# pcrp_stats NS/DEV: what the qdisc shows, as JSON
pcrp_stats() { tc -n "${1%/*}" -s -j qdisc show dev "${1#*/}" root | unwrap; }

# pcrp_new NS/DEV ARGUMENT...: a new qdisc, which knows nothing
pcrp_new() {
	tc -n "${1%/*}" qdisc replace dev "${1#*/}" root \
		handle "$(printf %x $((${EPOCHREALTIME/./} % 60000 + 16))):" pcrp "${@:2}"
}

# pcrp_count NS/DEV NAME: one of its counters
pcrp_count() { value_of "$2" "$(pcrp_stats "$1")"; }

# value_of NAME JSON: a number in what pcrp_stats has shown
value_of() { [[ $2 =~ \"$1\":([0-9]+) ]] && echo "${BASH_REMATCH[1]}"; }

# reaches NS/DEV NAME COUNT: has the counter come to COUNT?
reaches() { [ "$(pcrp_count "$1" "$2")" -ge "$3" ]; }

# settled NS/DEV...: has each flow that began ended, does none wait, and is nothing queued or awaited?
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

# transfer ADDRESS BYTES...: a to b, by one connection; each byte is checked, and those of one number before the next
transfer() {
	local bytes=("${@:2}")
	tcp_flow -s "$a" -r "$b" -d "$1" connect "${bytes[@]/#/send=}" close eof
}

# check_job WHAT PID...: the processes end well
check_job() {
	local what=$1 pid status=0
	shift
	for pid; do
		wait "$pid" || status=$?
	done
	check_eq "$what" "$status" 0
}

# ---- marks

# count_dscp NS/DEV PROTOCOL DSCP...: counts what comes in with each, in filters by that order; the protocol is the
# frame's, and that of a VLAN tag may be followed by that of the one inside
count_dscp() {
	local ns=${1%/*} dev=${1#*/} proto=$2 match=() dscp n=0
	shift 2
	case $proto in
	802.1q) match=(vlan_ethtype ipv4) ;;
	802.1ad) match=(vlan_ethtype 802.1q cvlan_ethtype ipv4) ;;
	esac
	tc -n "$ns" qdisc replace dev "$dev" clsact
	tc -n "$ns" filter del dev "$dev" ingress
	for dscp; do
		n=$((n + 1))
		tc -n "$ns" filter add dev "$dev" ingress pref $n protocol "$proto" flower \
			${match[@]+"${match[@]}"} ip_tos $((dscp << 2))/0xfc action pass
	done
}

# counted_dscp NS/DEV: what count_dscp has counted, as a list
counted_dscp() {
	tc -n "${1%/*}" -s -j filter show dev "${1#*/}" ingress |
		jq -c '[.[] | select(.options.actions) | .options.actions[0].stats.packets]'
}

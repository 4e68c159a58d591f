#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# EXAMPLES of ip-link-closwire(8): ip, with closwire in the kernel, accepts each command, and reads its own output of a
# port back.
# shellcheck disable=SC2317,SC2154 # functions are called through check; node, h1, h2: set by setup_ns
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/page.sh"

page=$LIB_TOP/Documentation/man/ip-link-closwire.8

in_node() { ip netns exec "$node" bash -c "$1"; }

# test_example COMMAND: run COMMAND in existing namespaces; each pair of the page is a new w0
test_example() {
	local command
	command=$(sed "s/\bh1\b/$h1/g; s/\bh2\b/$h2/g" <<<"$1")
	case $command in
	"ip netns add"*) return ;;
	"ip link add w0 "*) ip -n "$node" link del w0 2>"$TMP/log" || true ;;
	esac
	check "ip accepts: $1" in_node "$command"
}

# settings: w0's settings as ip prints them
settings() { ip -n "$node" -d link show w0 | sed -n 's/^ *closwire \(.*\) addrgenmode.*/\1/p'; }

# test_round WORD...: make a port with these settings, and another port with ip's output for the first one
test_round() {
	local printed words
	ip -n "$node" link del w0
	ip -n "$node" link add w0 type closwire "$@"
	printed=$(settings)
	check_eq "ip prints the settings of a port: $*" "$printed" "$*"
	ip -n "$node" link del w0
	read -ra words <<<"$printed"
	check "ip makes a port with printed settings: $*" ip -n "$node" link add w0 type closwire "${words[@]}"
	check_eq "port made with printed settings has the same settings: $*" "$(settings)" "$printed"
	check "ip changes a port to printed settings: $*" ip -n "$node" link set w0 type closwire "${words[@]}"
}

need_closwire
setup_ns node h1 h2
while read -r line; do
	test_example "${line#\# }"
done < <(examples "$page")
check "hosts of the first example have carrier" wait_for 5 has_carrier "$h1" w0
test_round rate 10Gbit delay 5us ring 256 loss 0% clock_offset 0s clock_drift 0ppm cpu_packet 0s cpu_frame 0s cpu_kb 0s
test_round rate 1008bit delay 1ns ring 2 loss 0.00000002% clock_offset -5us clock_drift -250ppb \
	cpu_packet 1us cpu_frame 150ns cpu_kb 32ns
test_round rate 1Tbit delay 10s ring 16384 loss 100% clock_offset 37s clock_drift 500ppm \
	cpu_packet 1ms cpu_frame 1ms cpu_kb 1ms
finish

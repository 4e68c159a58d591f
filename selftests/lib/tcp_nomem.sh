# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Memory allocation failures in a congestion control. A test sources this file after lib/failslab.sh and lib/tcp_cc.sh.
# shellcheck disable=SC2154 # setup_ns sets a

# let GFP_KERNEL allocations fail as well
set_failslab ignore-gfp-wait=N

# test_params_nomem NAME=VALUE...: writes to sysctls fail without memory and leave them unchanged
test_params_nomem() {
	local word
	fail_only "tcp_$CC"
	set_failslab probability=100
	for word in "$@"; do
		check_refused "write of sysctl $word fails without memory" "Cannot allocate memory" \
			write_params "$word"
	done
	set_failslab probability=0
	check_eq "failed writes leave all sysctls unchanged" "$(current_params)" "$DEFAULTS"
}

# namespaces: try to make ten network namespaces and print how many were made
namespaces() {
	local i made=0
	for ((i = 0; i < 10; i++)); do
		if ip netns add "$a-new" 2>/dev/null; then
			made=$((made + 1))
			ip netns exec "$a-new" cat "/proc/net/closnet/$CC" /proc/net/closnet/nicclock >/dev/null ||
				echo "a namespace without its files"
		fi
		ip netns del "$a-new" 2>/dev/null
	done
	echo $made
}

# test_namespaces_nomem MODULE...: creating a network namespace fails while a module cannot allocate memory
test_namespaces_nomem() {
	local module
	for module in "$@"; do
		fail_only "$module"
		set_failslab probability=100
		check_eq "$module: network namespaces are not created without memory" "$(namespaces)" 0
		set_failslab probability=10
		note "$module: $(namespaces) of 10 namespaces made with 10 % of failures"
		set_failslab probability=0
		check_eq "$module: network namespaces are created once there is memory" "$(namespaces)" 10
	done
}

# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A congestion control without memory. A test sources this after lib/failslab.sh
# and lib/tcp_cc.sh.
# shellcheck disable=SC2154 # setup_ns sets a

# GFP_KERNEL, too
set_failslab ignore-gfp-wait=N

# test_params_nomem NAME=VALUE...: they cannot be set, and stay
test_params_nomem() {
	local word
	fail_only "tcp_$CC"
	set_failslab probability=100
	for word in "$@"; do
		check_refused "no memory: a sysctl stays, $word" "Cannot allocate memory" write_params "$word"
	done
	set_failslab probability=0
	check_eq "it is what it was" "$(current_params)" "$DEFAULTS"
}

# namespaces: tries to make ten; prints how many there are
namespaces() {
	local i made=0
	for ((i = 0; i < 10; i++)); do
		if ip netns add "$a-new" 2>/dev/null; then
			made=$((made + 1))
			ip netns exec "$a-new" cat "/proc/net/closnet/$CC" /proc/net/closnet/nicclock >/dev/null || echo "half a namespace"
		fi
		ip netns del "$a-new" 2>/dev/null
	done
	echo $made
}

# test_namespaces_nomem MODULE...: none is made while a module cannot have what it wants
test_namespaces_nomem() {
	local module
	for module in "$@"; do
		fail_only "$module"
		set_failslab probability=100
		check_eq "$module: no memory: no namespace" "$(namespaces)" 0
		set_failslab probability=10
		note "$module: $(namespaces) of 10 namespaces made with 10 % of failures"
		set_failslab probability=0
		check_eq "$module: with memory: all" "$(namespaces)" 10
	done
}

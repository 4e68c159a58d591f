#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Failing allocations leave parameters unchanged, never leave a namespace half
# set up, and do not end connections. No memory leaks. Needs a kernel with
# failslab.
#
#	+--------- a ---------+     +--------- b ---------+
#	| sender -> netem, w0 |=====| w1 -> receiver      |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
need_cc dcqcn
. "$(dirname "$0")/../lib/failslab.sh"
setup_ns a b
. "$(dirname "$0")/../lib/tcp_dcqcn.sh"
. "$(dirname "$0")/../lib/tcp_nomem.sh"

test_params_nomem rpg_ai_rate=7 profile=nic
test_namespaces_nomem tcp_dcqcn

# a CNP is an ACK, which needs memory
wire_ab rate 500mbit delay 20us
tc -n "$a" qdisc add dev w0 root netem limit 10000 || skip_all "no netem"
fail_only tcp_dcqcn
set_failslab ignore-gfp-wait=Y probability=50
check "all data arrives although half of the CNPs cannot be allocated" flow cc=dcqcn connect \
	"$MARK" send=1000000 "$MARK_NOT" send=300000 close eof
set_failslab probability=0
check "the other CNPs cut the rate" test "$(cc_counter cnp_handled)" -ge 3
finish

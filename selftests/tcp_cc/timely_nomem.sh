#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Failing allocations leave parameters unchanged and never leave a namespace half
# set up; connections work without the NIC's clock or the link's rate. No memory leaks. Needs a
# kernel with failslab.
#
#	+--------- a ---------+     +--------- b ---------+
#	| sender -> w0 stamps |=====| w1 -> receiver      |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
need_cc timely
. "$(dirname "$0")/../lib/failslab.sh"
setup_ns a b
. "$(dirname "$0")/../lib/timely.sh"
. "$(dirname "$0")/../lib/tcp_nomem.sh"

test_params_nomem t_high=600 mode=patched
test_namespaces_nomem tcp_timely nicclock closnet_cc

# ---- nicclock

fail_only nicclock
set_failslab probability=100
wire_ab rate 500mbit delay 20us
set_failslab probability=0
stamps "$a/w0" 1
high_thresholds
fail_only tcp_timely
set_failslab probability=100
check "all data arrives over a NIC that nicclock has no memory for" flow cc=timely connect send=2000000 close eof
set_failslab probability=0
check_eq "without nicclock, RTTs use software timestamps" \
	"$(cc_counter samples_hw) $(($(cc_counter samples_sw) >= 10))" "0 1"

# ---- the link's rate

ip -n "$a" link del w0
fail_only closnet_cc
set_failslab probability=100
wire_ab rate 500mbit delay 20us
set_failslab probability=0
check_eq "without memory for the link, its rate is the default of 10 Gbit/s" \
	"$(flow -p 5002 cc=timely connect send=300000 "${INFO/5001/5002}" close eof | ss_number bw)" "$(line_rate 10000)"
ip -n "$a" link del w0
wire_ab rate 500mbit delay 20us
check_eq "with memory, a connection has the link's rate" \
	"$(flow -p 5003 cc=timely connect send=300000 "${INFO/5001/5003}" close eof | ss_number bw)" "$(line_rate 500)"
finish

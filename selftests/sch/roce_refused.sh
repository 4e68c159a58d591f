#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# roce: a qdisc that the kernel refuses leaves the options of its device as they were
# shellcheck disable=SC2154 # setup_ns sets a
. "$(dirname "$0")/../lib/lib.sh"
need_roce
setup_ns a
. "$(dirname "$0")/../lib/sch_refused.sh"
ip -n "$a" link add d0 numtxqueues 4 type dummy
ip -n "$a" addr add 192.0.2.1/24 dev d0
refused_case np_cnp_dscp 12 34 18
refused_case np_cnp_prio 1 2 19
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# pcrp: a qdisc that the kernel refuses leaves the options of its device as they were
# shellcheck disable=SC2154 # setup_ns sets a
. "$(dirname "$0")/../lib/lib.sh"
need_sch pcrp
setup_ns a
. "$(dirname "$0")/../lib/sch_refused.sh"
ip -n "$a" link add d0 numtxqueues 4 type dummy
ip -n "$a" addr add 192.0.2.1/24 dev d0
refused_case grants 16 7 6
finish

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# tcp_dcqcn(7) agrees with tcp_dcqcn, and its examples work; one of them uses sch_dcqcn.
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
need_dcqcn
need_cc dcqcn
setup_ns b
. "$(dirname "$0")/../lib/tcp_cc.sh"
. "$(dirname "$0")/../lib/tcp_man.sh"
test_page
finish

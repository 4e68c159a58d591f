#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# tcp_timely(7) agrees with tcp_timely and nicclock.
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
need_cc timely
setup_ns b
. "$(dirname "$0")/../lib/timely.sh"
. "$(dirname "$0")/../lib/tcp_man.sh"
test_page
# shellcheck disable=SC2154 # set by tcp_man.sh
check_eq "tcp_timely(7) lists the columns of nicclock" "${text[.SS/proc/net/closnet/nicclock]-}" \
	"$(head -n 1 /proc/net/closnet/nicclock) "
finish

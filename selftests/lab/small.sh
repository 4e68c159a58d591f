#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Every experiment with its smallest settings in the debug kernel: the kernel reports no bug, and the experiment's
# claims for these settings hold. Runs on the host, one guest at a time, because selftests/check runs another job beside
# this one.
# Usage: small.sh [EXPERIMENT...]     default: all
. "$(dirname "$0")/../lib/lib.sh"

lab=$LIB_TOP/tools/lab/lab
[ $# -gt 0 ] || mapfile -t experiments < <("$lab" list | cut -d ' ' -f 1)
[ $# -eq 0 ] || experiments=("$@")
for experiment in "${experiments[@]}"; do
	check "$experiment runs in the debug kernel with smallest settings" \
		"$lab" run "$experiment" --small --kernel uml-debug -j 1 --stall 90 --out "$TMP/$experiment"
done
finish

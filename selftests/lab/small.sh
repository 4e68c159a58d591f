#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Every experiment in its smallest setting, in the kernel that looks for bugs:
# the kernel has nothing to complain about, and what the experiment claims of
# that setting holds. Runs on the host.
# One guest at a time, since selftests/check runs another job beside this one.
# Usage: small.sh [EXPERIMENT...]     default: all
. "$(dirname "$0")/../lib/lib.sh"

lab=$LIB_TOP/tools/lab/lab
[ $# -gt 0 ] || mapfile -t experiments < <("$lab" list | cut -d ' ' -f 1)
[ $# -eq 0 ] || experiments=("$@")
for experiment in "${experiments[@]}"; do
	check "$experiment" "$lab" run "$experiment" --small --kernel uml-debug -j 1 --stall 90 --out "$TMP/$experiment"
done
finish

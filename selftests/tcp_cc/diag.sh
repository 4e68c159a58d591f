#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tools/diag prints the sysctls and counters of both congestion controls.
. "$(dirname "$0")/../lib/lib.sh"
need_cc timely
need_cc dcqcn
"$CLOSNET_TOP/tools/diag" >"$TMP/diag" 2>&1
for cc in timely dcqcn; do
	directory=/proc/sys/net/ipv4/tcp_$cc
	line=$(grep "^net.ipv4.tcp_$cc: " "$TMP/diag")
	check_eq "diag prints all sysctls of tcp_$cc" "$(wc -w <<<"${line#*: }")" "$(find "$directory" -type f | wc -l)"
	check "diag prints the profile of tcp_$cc" grep -q "profile=$(<"$directory/profile") " <<<"$line "
done
finish

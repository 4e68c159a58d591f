#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The tutorials: each command works and prints the page's output, apart from numbers. Runs on the host; the commands
# start guests of the lab.
# Usage: tutorials.sh [PAGE...]     default: all in Documentation/tutorials
# tutorials.py --show prints the output for the pages.
. "$(dirname "$0")/../lib/lib.sh"
. "$LIB_TOP/tools/common.sh"

"$LIB_TOP/tools/deps.sh" build lab vm
mkdir -p "$CLOSNET_CACHE"
# not in /tmp, which is the guests' own
home=$(mktemp -d "$CLOSNET_CACHE/tutorial.XXXXXX")
defer "rm -rf '$home'"
[ $# -gt 0 ] || set -- "$LIB_TOP"/Documentation/tutorials/[!i]*.rst
"$LIB_TOP/selftests/docs/tutorials.py" "$home" "$@" >"$TMP/results" || not_ok "tutorials.py runs to its end"
while IFS= read -r line; do
	case $line in
	"ok "*) ok "${line#* - }" ;;
	"not ok "*) not_ok "${line#* - }" ;;
	*) printf '%s\n' "$line" ;;
	esac
done <"$TMP/results"
finish

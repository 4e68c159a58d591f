#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The first tutorial and `make demo` on a newcomer's machine: a minbase Debian 12 with a clone of this commit. Each
# command of the tutorial works and prints the page's output. The root file system is made in the cache and removed.
# Cached kernels are used, so that their build is not repeated. Runs on the host, as root.
# Usage: minbase.sh [PAGE...]     default: first-experiment.rst
. "$(dirname "$0")/../lib/lib.sh"
. "$LIB_TOP/tools/common.sh"
. "$(dirname "$0")/../lib/chroot.sh"

[ $# -gt 0 ] || set -- Documentation/tutorials/first-experiment.rst
# the packages that the tutorial installs before the clone
mapfile -t words < <(sed -n 's/^   sudo apt install //p' "$LIB_TOP/Documentation/tutorials/first-experiment.rst" | tr ' ' '\n')
chroot_make bookworm "${words[@]}"
cache=/root/.cache/closnet # as the root sees it
for page; do
	inside "mkdir -p $cache/home.$$ && CLOSNET_CACHE=$cache selftests/docs/tutorials.py $cache/home.$$ $page" >"$TMP/results" ||
		not_ok "tutorials.py runs to its end on $page"
	rm -rf "$CLOSNET_CACHE/home.$$"
	while IFS= read -r line; do
		case $line in
		"ok "*) ok "${line#* - }" ;;
		"not ok "*) not_ok "${line#* - }" ;;
		*) printf '%s\n' "$line" ;;
		esac
	done <"$TMP/results"
done
check_to "$TMP/demo" "make demo works" inside "make demo"
note "$(tail -n 4 "$TMP/demo")"
finish

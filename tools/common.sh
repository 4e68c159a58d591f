# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What every script of tools/ and selftests/ shares. Source it:
#   . "$(dirname "$0")/../common.sh"

CLOSNET_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# Kernels, headers, module builds and guests' initramfs are kept here between runs.
CLOSNET_CACHE=${CLOSNET_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/closnet}
export CLOSNET_TOP CLOSNET_CACHE

# say TEXT...: progress, on stderr; stdout is for results
say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

# die TEXT...: an error that ends the script with status 2
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 2; }

# locked FILE COMMAND...: run COMMAND while holding the lock FILE.lock. The lock is named after the file or directory
# that COMMAND makes: two builds wait for each other only if they make the same thing.
locked() {
	local file=$1
	shift
	mkdir -p "${file%/*}"
	(
		flock 9
		"$@" 9>&-
	) 9>"$file.lock"
}

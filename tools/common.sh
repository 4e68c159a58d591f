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

# locked NAME COMMAND...: run COMMAND while holding the cache's lock NAME
locked() {
	local name=$1
	shift
	mkdir -p "$CLOSNET_CACHE"
	(
		flock 9
		"$@" 9>&-
	) 9>"$CLOSNET_CACHE/.lock-$name"
}

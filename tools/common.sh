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

# seconds to wait for another apt
APT_TIMEOUT=600

# apt_update: get the package lists, as root or by sudo. Unlike apt-get install with DPkg::Lock::Timeout,
# apt-get update does not wait for a lock.
apt_update() {
	local sudo=() message deadline=$((SECONDS + APT_TIMEOUT))
	[ "$(id -u)" -eq 0 ] || sudo=(sudo)
	until message=$("${sudo[@]}" env LC_ALL=C apt-get -qq update 2>&1); do
		case $message in *"Could not get lock"*) ;; *) die "apt-get update: $message" ;; esac
		[ $SECONDS -lt $deadline ] || die "apt-get update: $message"
		sleep 2
	done
}

# debian_uri LABEL: print the address from which this machine gets Debian's packages. LABEL: Debian, Debian-Security
debian_uri() {
	local uri
	# shellcheck disable=SC2016 # apt's variables
	uri=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' "Label: $1" | head -n 1)
	[ -n "$uri" ] || uri=http://deb.debian.org/${1,,}
	echo "${uri%/}"
}

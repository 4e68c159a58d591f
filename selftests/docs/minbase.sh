#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The first tutorial on a newcomer's machine: a minbase Debian 12 with a clone of this commit. Each command works and
# prints the page's output. The root file system is made in the cache and removed. Cached kernels are used, so that their
# build is not repeated. Runs on the host, as root.
# Usage: minbase.sh [PAGE...]     default: first-experiment.rst
. "$(dirname "$0")/../lib/lib.sh"
. "$LIB_TOP/tools/common.sh"

[ "$(id -u)" -eq 0 ] || skip_all "needs root"
commit=$(git -C "$LIB_TOP" rev-parse -q --verify HEAD) || skip_all "needs a git checkout"
"$LIB_TOP/tools/deps.sh" trixie
[ $# -gt 0 ] || set -- Documentation/tutorials/first-experiment.rst
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
mkdir -p "$CLOSNET_CACHE"
root=$(mktemp -d "$CLOSNET_CACHE/minbase.XXXXXX")
defer "rm -rf --one-file-system '$root'"

# uri LABEL: where this machine gets Debian's packages from
uri() {
	# shellcheck disable=SC2016 # apt's variable
	apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' "Label: $1" | head -n 1
}

# the packages that the tutorial installs before the clone
mapfile -t words < <(sed -n 's/^   sudo apt install //p' "$LIB_TOP/Documentation/tutorials/first-experiment.rst" | tr ' ' '\n')
debian=$(uri Debian) security=$(uri Debian-Security)
check "a minbase root with the packages that the tutorial names" \
	mmdebstrap --quiet --mode=root --variant=minbase --keyring="$keyring" --include="$(IFS=,; echo "${words[*]}")" \
	--aptopt='APT::Install-Recommends "false"' bookworm "$root" \
	"deb [signed-by=$keyring] ${debian:-http://deb.debian.org/debian} bookworm main" \
	"deb [signed-by=$keyring] ${debian:-http://deb.debian.org/debian} bookworm-updates main" \
	"deb [signed-by=$keyring] ${security:-http://deb.debian.org/debian-security} bookworm-security main"
[ "$TEST_FAILED" -eq 0 ] || finish
cp -L /etc/resolv.conf "$root/etc/resolv.conf"

# inside COMMAND: run it as root of the file system, in the clone
inside() {
	# shellcheck disable=SC2016 # for the inner shell
	unshare --mount bash -euc '
		root=$1 cache=$2
		mkdir -p "$root/root/.cache/closnet"
		mount --bind "$cache" "$root/root/.cache/closnet"
		mount -t proc proc "$root/proc"
		mount -t sysfs sys "$root/sys"
		mount --rbind /dev "$root/dev"
		exec chroot "$root" env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin LC_ALL=C.UTF-8 \
			bash -c "cd /root/closnet 2>/dev/null || cd /root; $3"' inside "$root" "$CLOSNET_CACHE" "$1"
}

check "the clone" git clone -q --no-local "$LIB_TOP" "$root/root/closnet"
check "of this commit" git -C "$root/root/closnet" checkout -q --detach "$commit"
for page; do
	inside "mkdir -p /root/.cache/closnet/home.$$ && selftests/docs/tutorials.py /root/.cache/closnet/home.$$ $page" >"$TMP/results" ||
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
finish

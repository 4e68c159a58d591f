# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A minimal Debian with a clone of this commit, for tests of a newcomer's steps. Sourced after lib.sh and common.sh.

[ "$(id -u)" -eq 0 ] || skip_all "needs root"
CHROOT_COMMIT=$(git -C "$LIB_TOP" rev-parse -q --verify HEAD) || skip_all "needs a git checkout"
CHROOT_ROOT=''
CHROOT_CACHE='' # directory that the root sees as its cache

# chroot_make SUITE PACKAGE...: make a minbase root of Debian's SUITE with the packages and the clone. It is in the
# cache, and is removed at the end.
chroot_make() {
	local suite=$1 debian security key="signed-by=/usr/share/keyrings/debian-archive-keyring.gpg"
	shift
	"$LIB_TOP/tools/deps.sh" trixie
	debian=$(debian_uri Debian)
	security=$(debian_uri Debian-Security)
	mkdir -p "$CLOSNET_CACHE"
	CHROOT_ROOT=$(mktemp -d "$CLOSNET_CACHE/chroot.XXXXXX")
	CHROOT_CACHE=${CHROOT_CACHE:-$CLOSNET_CACHE}
	defer "rm -rf --one-file-system '$CHROOT_ROOT'"
	check "a minbase root of Debian $suite with the packages $*" \
		mmdebstrap --quiet --mode=root --variant=minbase --keyring="${key#*=}" --include="$(IFS=,; echo "$*")" \
		--aptopt='APT::Install-Recommends "false"' "$suite" "$CHROOT_ROOT" \
		"deb [$key] $debian $suite main" "deb [$key] $debian $suite-updates main" \
		"deb [$key] $security $suite-security main"
	[ "$TEST_FAILED" -eq 0 ] || finish
	cp -L /etc/resolv.conf "$CHROOT_ROOT/etc/resolv.conf"
	check "a clone of this commit" git clone -q --no-local --no-checkout "$LIB_TOP" "$CHROOT_ROOT/root/closnet"
	check "its checkout" git -C "$CHROOT_ROOT/root/closnet" checkout -q --detach "$CHROOT_COMMIT"
	[ "$TEST_FAILED" -eq 0 ] || finish
}

# inside COMMAND: run COMMAND as root in the clone, with the root file system as its own. After chroot() alone, it could
# not make user namespaces.
inside() {
	mkdir -p "$CHROOT_CACHE" "$CHROOT_ROOT/root/.cache/closnet"
	# shellcheck disable=SC2016 # for the inner shell
	unshare --mount bash -euc '
		root=$1 cache=$2
		mount --bind "$root" "$root"
		mount --bind "$cache" "$root/root/.cache/closnet"
		mount -t proc proc "$root/proc"
		mount -t sysfs sys "$root/sys"
		mount --rbind /dev "$root/dev"
		cd "$root"
		pivot_root . .
		umount -l .
		exec env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin LC_ALL=C.UTF-8 \
			bash -c "cd /root/closnet; $3"' inside "$CHROOT_ROOT" "$CHROOT_CACHE" "$1"
}

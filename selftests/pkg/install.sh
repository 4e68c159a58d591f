#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Do `make install` and `make uninstall` put and remove exactly the files that they should?
# Runs on the host, in a copy of the tree, with DESTDIR; installs nothing there.
# CLOSNET_KERNEL: for which kernel (default 6.12).
# shellcheck disable=SC2317 # functions are called through check
. "$(dirname "$0")/../../tools/common.sh"
. "$(dirname "$0")/../lib/lib.sh"

git -C "$CLOSNET_TOP" rev-parse -q --verify HEAD >/dev/null || skip_all "needs a git checkout"
"$CLOSNET_TOP/tools/deps.sh" build
kver='' kdir=''
where=$("$CLOSNET_TOP/tools/vm/kernel" "${CLOSNET_KERNEL:-6.12}")
eval "$where"
tree=$TMP/tree
dest=$TMP/dest
mkdir "$tree" "$dest"
(cd "$CLOSNET_TOP" && git ls-files -z Kbuild Makefile VERSION compat include net sch tcp_cc tools Documentation/man |
	xargs -0 cp --parents -t "$tree")

make_() { make -s -C "$tree" KDIR="$kdir" DESTDIR="$dest" "$@"; }

# present: the files in DESTDIR, without what depmod makes
present() { (cd "$dest" && find . -type f ! -name 'modules.*' | cut -c 2- | sort); }

# expected: what has to be there, by the sources
expected() {
	local f tc
	tc=/usr/lib/$(gcc -print-multiarch)/tc
	cd "$tree"
	sed -n 's/^obj-[^+]*+= *//p' Kbuild | tr ' ' '\n' | while read -r f; do
		f=${f##*/}
		echo "/lib/modules/$kver/updates/${f%.o}.ko"
	done
	for f in tools/tc/q_*.c; do
		f=${f##*/}
		echo "$tc/${f%.c}.so"
	done
	for f in Documentation/man/*.[1-9]; do
		[ ! -e "$f" ] || echo "/usr/share/man/man${f##*.}/${f##*/}"
	done
}

# what a user has there already
mkdir -p "$dest/lib/modules/$kver/updates"
other=/lib/modules/$kver/updates/other.ko
: >"$dest$other"

check "make" make_
check "make install" make_ install
check_eq "exactly the files that should be there" "$(present)" "$( (expected; echo "$other") | sort)"
check_eq "depmod knows the module" \
	"$(modprobe -d "$dest" -S "$kver" --show-depends sch_ndp 2>&1 | tail -n 1 | xargs)" \
	"insmod $dest/lib/modules/$kver/updates/sch_ndp.ko"
check "make install once more" make_ install
check "make uninstall" make_ uninstall
check_eq "only what is not closnet's is left" "$(present)" "$other"
check "depmod has forgotten the module" test -z "$(modprobe -d "$dest" -S "$kver" --show-depends sch_ndp 2>/dev/null)"
check "make uninstall where nothing is installed" make_ uninstall
finish

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# An experiment has the same results on a new machine: a minbase Debian 12 with a clone of this commit, which installs the
# packages by tools/deps.sh and builds kernel, modules, programs and initramfs itself. It shares only the kernel's source
# package with this host. Runs on the host, as root, for about 15 minutes.
# Usage: minbase.sh [EXPERIMENT [OPTION...]]     default: dctcp-known, schemes dctcp and bbr
. "$(dirname "$0")/../lib/lib.sh"
. "$LIB_TOP/tools/common.sh"
. "$(dirname "$0")/../lib/chroot.sh"

[ $# -gt 0 ] || set -- dctcp-known --scheme dctcp,bbr
out=out/lab-minbase
# claims may fail at this size
run="status=0; tools/lab/lab run $* --small --out $out || status=\$?; [ \$status -le 1 ]"

rm -rf "${LIB_TOP:?}/$out"
check "$1 runs on this host" bash -c "cd '$LIB_TOP'; $run"

mkdir -p "$CLOSNET_CACHE"
CHROOT_CACHE=$(mktemp -d "$CLOSNET_CACHE/minbase.XXXXXX")
defer "rm -rf '$CHROOT_CACHE'"
mkdir "$CHROOT_CACHE/uml"
cp "$CLOSNET_CACHE"/uml/linux-source-*_all.deb "$CHROOT_CACHE/uml/"
chroot_make bookworm git python3 # as in the first tutorial
check "$1 runs in the minbase root" inside "$run"

here=$LIB_TOP/$out there=$CHROOT_ROOT/root/closnet/$out
check "results have digests to compare" test -s "$here/SHA256SUMS"
check "the results have the same digests" diff "$here/SHA256SUMS" "$there/SHA256SUMS"
note "inputs that differ:" "$(diff "$here/inputs.json" "$there/inputs.json" | grep '^[<>]' || true)"
finish

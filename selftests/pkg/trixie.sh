#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# README's two commands on a newcomer's Debian 13: `make demo`, and of `make check` the jobs in JOBS, in a minbase root
# with a clone of this commit. The root is removed; its kernels stay in the cache. Runs on the host, as root.
# Usage: trixie.sh [JOB...]     default: see below; names as in selftests/check
. "$(dirname "$0")/../lib/lib.sh"
. "$LIB_TOP/tools/common.sh"
. "$(dirname "$0")/../lib/chroot.sh"

# Compilers, libraries and kernels differ from Debian 12; what runs in a guest does not depend on the host.
JOBS=(lint unit build-6.1 build-6.12 build-7.x tc-plugin ip-plugin tc-symbols tools closnet pcrpd wireshark
	wireshark-fab docs lab-library)
# guests with the kernels and programs of Debian 13, in QEMU with virtiofsd and as User-Mode Linux
GUESTS="--kernel 6.12 ndp_basic timely_basic"
UML="--kernel uml-debug --virtual-time 1 ndp_basic ndp_messages"

[ $# -eq 0 ] || JOBS=("$@")
CHROOT_CACHE=$CLOSNET_CACHE/debian13
chroot_make trixie ca-certificates git make
check_to "$TMP/demo" "make demo works" inside "make demo"
note "$(tail -n 4 "$TMP/demo")"
check_to "$TMP/check" "jobs of make check pass" inside "selftests/check ${JOBS[*]}"
note "$(<"$TMP/check")"
check "tests pass in guests of QEMU" inside "selftests/run $GUESTS"
check "tests pass in User-Mode Linux" inside "selftests/run $UML"
finish

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The guests of User-Mode Linux: results come back from the release kernel, and
# the debug kernel finds what it is there to find. Runs on the host.
. "$(dirname "$0")/../lib/lib.sh"
. "$LIB_TOP/selftests/vm/guests.sh"

check_status "success passes through" 0 uml \
	"echo to stdout; echo to stderr >&2; seq 100000 >\$CLOSNET_OUT/file"
check_eq "standard output comes back" "$(<"$TMP/out")" "to stdout"
check "standard error comes back" grep -qx "to stderr" "$TMP/err"
check_eq "files come back" "$(sha256sum <"$TMP/files/file")" "$(seq 100000 | sha256sum)"
check_status "a failure passes through" 7 uml "exit 7"
check_status "the host's files are safe" 1 uml "touch $LIB_TOP/Kbuild"
limit=8 check_status "a guest that hangs is broken" 125 uml "while :; do :; done"
check "a guest that hangs has its console shown" grep -q "COMMAND starts" "$TMP/err"

build_buggy uml-debug
check_status "a sound guest is not accused" 0 uml-debug \
	"insmod $buggy bug=none && rmmod buggy && ls /sys/kernel/debug/failslab"
check "failures can be injected" grep -q stacktrace-depth "$TMP/out"
check_bug uml-debug free "KASAN: slab-use-after-free in use_after_free"
check_bug uml-debug order "possible circular locking dependency"
check_bug uml-debug sleep "sleeping function called from invalid context"
check_bug uml-debug shift "UBSAN: shift-out-of-bounds"
check_bug uml-debug leak "unreferenced object"
check_status "nobody looks for leaks: broken" 125 uml-debug "echo off >/sys/kernel/debug/kmemleak"
check "that is said" grep -q "kmemleak has given up" "$TMP/err"
finish

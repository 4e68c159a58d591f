#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# tools/vm/run with User-Mode Linux: it returns the guest's output, files and status, and the debug kernel finds each
# kind of bug that it is configured for. Runs on the host.
. "$(dirname "$0")/../lib/lib.sh"
. "$LIB_TOP/selftests/vm/guests.sh"

check_status "run exits with status 0 if COMMAND succeeds" 0 uml \
	"echo to stdout; echo to stderr >&2; seq 100000 >\$CLOSNET_OUT/file"
check_eq "run prints the guest's standard output" "$(<"$TMP/out")" "to stdout"
check "run prints the guest's standard error" grep -qx "to stderr" "$TMP/err"
check_eq "run copies the guest's files" "$(sha256sum <"$TMP/files/file")" "$(seq 100000 | sha256sum)"
check_status "run exits with the status of COMMAND" 7 uml "exit 7"
check_status "the host's files are read-only in the guest" 1 uml "touch $LIB_TOP/Kbuild"
limit=8 check_status "a guest that hangs is broken" 125 uml "while :; do :; done"
check "the console of a guest that hangs is shown" grep -q "COMMAND starts" "$TMP/err"

build_buggy uml-debug
check_status "a guest without a bug passes" 0 uml-debug \
	"insmod $buggy bug=none && rmmod buggy && ls /sys/kernel/debug/failslab"
check "the debug kernel can inject allocation failures" grep -q stacktrace-depth "$TMP/out"
check_bug uml-debug free "KASAN: slab-use-after-free in use_after_free"
check_bug uml-debug order "possible circular locking dependency"
check_bug uml-debug sleep "sleeping function called from invalid context"
check_bug uml-debug shift "UBSAN: shift-out-of-bounds"
check_bug uml-debug leak "unreferenced object"
check_status "a guest whose leak detector is off is broken" 125 uml-debug "echo off >/sys/kernel/debug/kmemleak"
check "a leak detector that is off is reported" grep -q "kmemleak has disabled itself" "$TMP/err"
finish

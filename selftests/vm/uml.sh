#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The guests of User-Mode Linux: results come back from the release kernel, and
# the debug kernel finds what it is there to find. Runs on the host.
. "$(dirname "$0")/../lib/lib.sh"
. "$LIB_TOP/tools/common.sh"

# guest KERNEL COMMAND: output and errors go to $TMP/out and $TMP/err, files to $TMP/files
guest() {
	"$LIB_TOP/tools/vm/run" --kernel "$1" --timeout "${limit:-120}" --out "$TMP/files" \
		"$2" >"$TMP/out" 2>"$TMP/err"
}

# check_status WHAT WANT KERNEL COMMAND: COMMAND in the guest gives status WANT
check_status() {
	local status=0
	guest "$3" "$4" || status=$?
	if [ "$status" -eq "$2" ]; then
		ok "$1"
	else
		not_ok "$1" "status $status, not $2: $(tail -n 60 "$TMP/err")"
	fi
}

# build_buggy: builds the module of planted bugs where the guests can see it
build_buggy() {
	local kdir
	cp -r "$LIB_TOP/selftests/vm/buggy" "$dir"
	kdir=$("$LIB_TOP/tools/lab/kernel" debug)
	make -s -C "$kdir" M="$dir/buggy" ARCH=um SUBARCH=x86_64 W=1 modules >"$TMP/build" 2>&1 ||
		not_ok "the module of planted bugs builds" "$(<"$TMP/build")"
}

# check_bug NAME REPORT: the planted bug NAME breaks the guest, and the console has the REPORT
check_bug() {
	check_status "$1 is noticed" 125 uml-debug "insmod $dir/buggy/buggy.ko bug=$1"
	check "$1 is reported as what it is" grep -q "$2" "$TMP/err"
}

mkdir -p "$CLOSNET_CACHE"
dir=$(mktemp -d "$CLOSNET_CACHE/buggy.XXXXXX")
defer "rm -rf '$dir'"

check_status "success passes through" 0 uml \
	"echo to stdout; echo to stderr >&2; seq 100000 >\$CLOSNET_OUT/file"
check_eq "standard output comes back" "$(<"$TMP/out")" "to stdout"
check "standard error comes back" grep -qx "to stderr" "$TMP/err"
check_eq "files come back" "$(sha256sum <"$TMP/files/file")" "$(seq 100000 | sha256sum)"
check_status "a failure passes through" 7 uml "exit 7"
check_status "the host's files are safe" 1 uml "touch $LIB_TOP/Kbuild"
limit=8 check_status "a guest that hangs is broken" 125 uml "while :; do :; done"
check "a guest that hangs has its console shown" grep -q "COMMAND starts" "$TMP/err"

build_buggy
check_status "a sound guest is not accused" 0 uml-debug \
	"insmod $dir/buggy/buggy.ko bug=none && rmmod buggy && ls /sys/kernel/debug/failslab"
check "failures can be injected" grep -q stacktrace-depth "$TMP/out"
check_bug free "KASAN: slab-use-after-free in use_after_free"
check_bug order "possible circular locking dependency"
check_bug sleep "sleeping function called from invalid context"
check_bug shift "UBSAN: shift-out-of-bounds"
check_bug leak "unreferenced object"
check_status "nobody looks for leaks: broken" 125 uml-debug "echo off >/sys/kernel/debug/kmemleak"
check "that is said" grep -q "kmemleak has given up" "$TMP/err"
finish

# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Helpers for tests that start guests; sourced after lib.sh.
. "$LIB_TOP/tools/common.sh"

# guest KERNEL COMMAND: run COMMAND in a guest; its output, errors and files go to $TMP/out, $TMP/err and $TMP/files
guest() {
	"$LIB_TOP/tools/vm/run" --kernel "$1" --timeout "${limit:-120}" --out "$TMP/files" \
		"$2" >"$TMP/out" 2>"$TMP/err"
}

# check_status WHAT STATUS KERNEL COMMAND: COMMAND in a guest exits with STATUS
check_status() {
	local status=0
	guest "$3" "$4" || status=$?
	if [ "$status" -eq "$2" ]; then
		ok "$1"
	else
		not_ok "$1" "status $status, not $2: $(tail -n 60 "$TMP/err")"
	fi
}

# build_buggy KERNEL: build the module of planted bugs, $buggy, in a directory that guests can read
buggy=''
build_buggy() {
	local dir settings kdir='' makeargs=''
	mkdir -p "$CLOSNET_CACHE"
	dir=$(mktemp -d "$CLOSNET_CACHE/buggy.XXXXXX")
	defer "rm -rf '$dir'"
	cp "$LIB_TOP"/selftests/vm/buggy/* "$dir"
	settings=$("$LIB_TOP/tools/vm/kernel" "$1")
	eval "$settings"
	# shellcheck disable=SC2086 # makeargs are words
	make -s -C "$kdir" M="$dir" $makeargs W=1 modules >"$TMP/build" 2>&1 ||
		not_ok "the module of planted bugs builds" "$(<"$TMP/build")"
	buggy=$dir/buggy.ko
}

# check_bug KERNEL NAME REPORT: the planted bug NAME breaks the guest, and the console shows REPORT
check_bug() {
	check_status "planted bug \"$2\" breaks the guest" 125 "$1" "insmod $buggy bug=$2"
	check "planted bug \"$2\" is reported correctly" grep -q "$3" "$TMP/err"
}

# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the tests of guests share; sourced after lib.sh.
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

# build_buggy KERNEL: builds the module of planted bugs where the guests see it, $buggy
buggy=''
build_buggy() {
	local dir where kdir='' makeargs=''
	mkdir -p "$CLOSNET_CACHE"
	dir=$(mktemp -d "$CLOSNET_CACHE/buggy.XXXXXX")
	defer "rm -rf '$dir'"
	cp "$LIB_TOP"/selftests/vm/buggy/* "$dir"
	where=$("$LIB_TOP/tools/vm/kernel" "$1")
	eval "$where"
	# shellcheck disable=SC2086 # makeargs are words
	make -s -C "$kdir" M="$dir" $makeargs W=1 modules >"$TMP/build" 2>&1 ||
		not_ok "the module of planted bugs builds" "$(<"$TMP/build")"
	buggy=$dir/buggy.ko
}

# check_bug KERNEL NAME REPORT: the planted bug NAME breaks the guest, and the console has the REPORT
check_bug() {
	check_status "$2 is noticed" 125 "$1" "insmod $buggy bug=$2"
	check "$2 is reported as what it is" grep -q "$3" "$TMP/err"
}

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# selftests/run: a test that hangs or breaks the guest affects no other test, and a second try gets a fresh guest.
# Runs on the host.
. "$(dirname "$0")/../lib/lib.sh"
. "$LIB_TOP/tools/common.sh"

mkdir -p "$CLOSNET_CACHE"
dir=$(mktemp -d "$CLOSNET_CACHE/tests.XXXXXX") # guests can read it
defer "rm -rf '$dir'"

# make_test NAME BODY
make_test() {
	printf '#!/bin/bash\n%s\n' "$2" >"$dir/$1.sh"
	chmod +x "$dir/$1.sh"
}
make_test good true
make_test bad 'echo "not ok 1 - it fails"; exit 1'
make_test hang 'while :; do :; done'
make_test leave 'touch /tmp/left'
make_test flaky 'test ! -e /tmp/left'
make_test complain 'echo "<4>WARNING: possible recursive locking detected" >/dev/kmsg'
make_test skipped 'echo "1..0 # SKIP no reason"; exit 4'

# run_tests [OPTION...] TEST...: run selftests/run; its verdicts, without times, go to $TMP/verdicts
status=0
run_tests() {
	local words=() word
	for word; do
		[ ! -e "$dir/$word.sh" ] || word=$dir/$word.sh
		words+=("$word")
	done
	status=0
	TEST_TIMEOUT=20 "$LIB_TOP/selftests/run" --kernel uml-debug "${words[@]}" >"$TMP/out" 2>"$TMP/err" || status=$?
	sed -nE "s|^(ok\|skip\|retry\|not ok) +($dir/)?(.*) \\([0-9.]+ s\\)\$|\\1 \\3|p" "$TMP/out" >"$TMP/verdicts"
}

# check_verdicts WHAT VERDICT...
check_verdicts() { check_eq "$1" "$(<"$TMP/verdicts")" "$(printf '%s\n' "${@:2}")"; }

run_tests --virtual-time 1 good bad skipped good
check_verdicts "each test has its verdict; in virtual time there is no second try" \
	"ok good.sh" "not ok bad.sh" "skip skipped.sh" "ok good.sh"
check_eq "status 1 after a failed test" $status 1
check "a failed test's output is shown" grep -q "^  | not ok 1 - it fails" "$TMP/out"

run_tests --virtual-time 1 good hang leave good
check_verdicts "tests after one that hangs run in a fresh guest" \
	"ok good.sh" "not ok hang.sh broke the guest, or hung it" "ok leave.sh" "ok good.sh"
check "a test that hangs is ended after TEST_TIMEOUT" grep -q "COMMAND wrote no output for 20 s" "$TMP/err"
check_eq "status 125 after a guest that hung" $status 125

run_tests --virtual-time 1 good complain
check_verdicts "a kernel that logs a complaint is a failure" \
	"ok good.sh" "ok complain.sh" "not ok the guest's kernel, after the last test"

run_tests leave flaky bad
check_verdicts "in real time, a failed test is retried in a fresh guest" \
	"ok leave.sh" "retry flaky.sh" "retry bad.sh" "ok flaky.sh" "not ok bad.sh"
finish

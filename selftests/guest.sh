#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs kselftests one after another in this machine, which selftests/run has
# booted. Prints one line a test; a failed test's output follows its line.
# Usage: guest.sh TEST...
# Environment: CLOSNET_OUT (directory for each test's full output),
# TEST_TIMEOUT (seconds a test, default 300).
set -eu
out=${CLOSNET_OUT:-$(mktemp -d)}
passed=0 failed=0 skipped=0

# run_test TEST: sets verdict
run_test() {
	local log=$out/${1//\//_}.log status=0
	timeout -k 5 "${TEST_TIMEOUT:-300}" "$1" >"$log" 2>&1 || status=$?
	case $status in
	0) verdict=ok && passed=$((passed + 1)) ;;
	4) verdict=skip && skipped=$((skipped + 1)) ;;
	124 | 137) verdict='not ok (timed out)' && failed=$((failed + 1)) ;;
	*) verdict='not ok' && failed=$((failed + 1)) ;;
	esac
	case $verdict in
	not*) detail=$(sed 's/^/  | /' "$log") ;;
	skip) detail=$(sed -n 's/.*# SKIP/  | skipped:/p' "$log") ;;
	*) detail=$(sed -n 's/^ok .*# SKIP/  | part skipped:/p' "$log" | sort -u) ;;
	esac
}

for test in "$@"; do
	start=${EPOCHREALTIME/./}
	run_test "$test"
	ms=$(((${EPOCHREALTIME/./} - start) / 1000))
	printf '%-8s %s (%d.%01d s)\n' "$verdict" "$test" $((ms / 1000)) $((ms % 1000 / 100))
	[ -z "$detail" ] || printf '%s\n' "$detail"
done
printf '# %d passed, %d failed, %d skipped\n' $passed $failed $skipped
[ $failed -eq 0 ]

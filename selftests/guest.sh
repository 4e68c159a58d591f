#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Runs kselftests one after another in this machine, which selftests/run has
# booted. Prints one line a test; a failed test's output follows its line.
# Usage: guest.sh TEST...
# Environment: CLOSNET_OUT (directory for each test's full output),
# TEST_TIMEOUT (seconds a test, default 300), KSFT_MACHINE_SLOW (time is real, and late: what
# fails is run once more, as in the kernel's own CI; both results are told. What the kernel
# complains about fails the whole run, in tools/vm/run, whichever try it was).
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

# try_again TEST: it failed
try_again() {
	local first
	first=$(grep '^  | not ok' <<<"$detail") || first='  | timed out'
	failed=$((failed - 1))
	run_test "$1"
	case $verdict in
	not*) detail+=$'\n'"  | twice; the first time:" ;;
	*) detail+=${detail:+$'\n'}"  | in the second try; the first:" ;;
	esac
	detail+=$'\n'$first
}

for test in "$@"; do
	start=${EPOCHREALTIME/./}
	run_test "$test"
	case ${KSFT_MACHINE_SLOW:-}$verdict in 1not*) try_again "$test" ;; esac
	ms=$(((${EPOCHREALTIME/./} - start) / 1000))
	printf '%-8s %s (%d.%01d s)\n' "$verdict" "$test" $((ms / 1000)) $((ms % 1000 / 100))
	[ -z "$detail" ] || printf '%s\n' "$detail"
done
printf '# %d passed, %d failed, %d skipped\n' $passed $failed $skipped
[ $failed -eq 0 ]

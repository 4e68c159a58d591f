#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run kselftests one after another in the guest that selftests/run has booted. Prints a line at the start and one per
# test: "pass", "skip", "fail" or "hung", and the test. Lines that begin with "  | " belong to the test before them:
# the output of a failed test, or the reasons for skipping.
# Usage: guest.sh TEST...
# Environment: CLOSNET_OUT (directory for each test's output), TEST_LIMIT (seconds per test, in the guest's time)
set -u
out=${CLOSNET_OUT:-$(mktemp -d)}

echo "# the guest runs"
for test in "$@"; do
	log=$out/${test//\//_}.log
	timeout -k 5 "$TEST_LIMIT" "$test" >"$log" 2>&1
	case $? in
	0)
		echo "pass $test"
		sed -n 's/^ok .*# SKIP/  | part skipped:/p' "$log" | sort -u
		;;
	4)
		echo "skip $test"
		sed -n 's/.*# SKIP/  | skipped:/p' "$log"
		;;
	124 | 137)
		echo "hung $test"
		sed 's/^/  | /' "$log"
		;;
	*)
		echo "fail $test"
		sed 's/^/  | /' "$log"
		;;
	esac
done

# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Runs whole test programs as jobs, a log each, and adds up their TAP results.
# A caller sets JOBS_DIR, an empty directory for the logs and results.

# job NAME COMMAND...: runs it; its TAP lines count, and without any its exit status.
# One line tells the result; of a failure, the lines that matter.
job() {
	local name=$1 log=$JOBS_DIR/$1.log began=$SECONDS rc=0 passed failed skipped
	shift
	"$@" >"$log" 2>&1 </dev/null || rc=$?
	skipped=$(grep -cE '^(ok .*# SKIP|1\.\.0 # SKIP|skip )' "$log") || true
	passed=$(grep -cE '^ok ' "$log") || true
	passed=$((passed - $(grep -cE '^ok .*# SKIP' "$log" || true)))
	failed=$(grep -cE '^not ok ' "$log") || true
	if [ "$rc" -ne 0 ] && [ "$rc" -ne 4 ] && [ "$failed" -eq 0 ]; then
		failed=1
	elif [ "$rc" -eq 0 ] && [ $((passed + failed + skipped)) -eq 0 ]; then
		passed=1
	fi
	printf '%s %s %s\n' "$passed" "$failed" "$skipped" >"$JOBS_DIR/$name.result"
	printf '%-6s %-18s %4d passed, %d failed, %d skipped, %d s\n' \
		"$([ "$failed" -eq 0 ] && echo ok || echo FAILED)" "$name" \
		"$passed" "$failed" "$skipped" $((SECONDS - began))
	# selftests/guest.sh says that of tests on slow machines
	grep -B1 -A3 '^  | in the second try' "$log" | sed 's/^/    /' || true
	[ "$failed" -eq 0 ] || show_failure "$name" "$log"
}

# show_failure NAME LOG
show_failure() {
	{
		grep -E '^(  \| )?not ok |Kernel panic|Oops|BUG:|WARNING:|^run: ' "$2" | head -n 20
		echo "--- last lines of $2 ---"
		tail -n 60 "$2"
		echo "--- end of $1 ---"
	} | sed 's/^/    /'
}

# jobs_total: "N passed, N failed" over all jobs; status 1 if one failed
jobs_total() {
	cat "$JOBS_DIR"/*.result | awk '
		{ passed += $1; failed += $2; skipped += $3 }
		END {
			printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
			exit failed > 0 || passed == 0
		}'
}

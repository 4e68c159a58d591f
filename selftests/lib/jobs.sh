# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Runs whole test programs as jobs, a log each, and adds up their TAP results.
# A caller sets JOBS_DIR, an empty directory for the logs and results, and JOBS_COUNT, the number of jobs.

# process id of the running job
JOB_PID=''

# job NAME LIMIT COMMAND...: run COMMAND for at most LIMIT seconds (0: no limit). Count its TAP lines; without any, its
# exit status counts. Print a line with the result, and the relevant output of a failure.
job() {
	local name=$1 limit=$2 log=$JOBS_DIR/$1.log began=$SECONDS rc=0 passed failed skipped
	shift 2
	# timeout also makes a process group, which it ends as a whole
	timeout -k 10 "$limit" "$@" >"$log" 2>&1 </dev/null &
	JOB_PID=$!
	wait $JOB_PID || rc=$?
	JOB_PID=''
	case $rc in 124 | 137) echo "$name: ended after $limit s" >>"$log" ;; esac
	skipped=$(grep -cE '^(ok .*# SKIP|1\.\.0 # SKIP|skip )' "$log") || true
	passed=$(grep -cE '^ok ' "$log") || true
	passed=$((passed - $(grep -cE '^ok .*# SKIP' "$log" || true)))
	failed=$(grep -cE '^not ok ' "$log") || true
	if [ "$rc" -ne 0 ] && [ "$rc" -ne 4 ] && [ "$failed" -eq 0 ]; then
		failed=1
	elif [ "$rc" -eq 0 ] && [ $((passed + failed + skipped)) -eq 0 ]; then
		passed=1
	fi
	job_result "$name" "$passed" "$failed" "$skipped" $((SECONDS - began))
	# tests that selftests/run has tried twice
	grep -A5 '^retry ' "$log" | grep -E '^retry |^  \| not ok ' | sed 's/^/    /' || true
	[ "$failed" -eq 0 ] || show_failure "$name" "$log"
}

# job_result NAME PASSED FAILED SKIPPED SECONDS
job_result() {
	echo "$2 $3 $4 $5" >"$JOBS_DIR/$1.result"
	printf '[%d/%d] %-6s %-18s %4d passed, %d failed, %d skipped, %d s\n' \
		"$(find "$JOBS_DIR" -name '*.result' | wc -l)" "$JOBS_COUNT" \
		"$([ "$3" -eq 0 ] && echo ok || echo FAILED)" "$@"
}

# job_without_time NAME SECONDS: count a job that was not run, since it would take SECONDS
job_without_time() {
	echo 0 0 1 0 >"$JOBS_DIR/$1.result"
	printf '[%d/%d] NO TIME %-17s takes about %d s here, and was not run\n' \
		"$(find "$JOBS_DIR" -name '*.result' | wc -l)" "$JOBS_COUNT" "$1" "$2"
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

# jobs_total: the sum over all jobs; its last line is "N passed, N failed". Status 1 if one failed.
jobs_total() {
	cat "$JOBS_DIR"/*.result | awk '
		{ passed += $1; failed += $2; skipped += $3 }
		END {
			printf "%d skipped\n%d passed, %d failed\n", skipped, passed, failed
			exit failed > 0 || passed == 0
		}'
}

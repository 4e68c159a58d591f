# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Stress from several CPUs: loops change objects while traffic uses them. Kernel warnings are the verdict: the test
# itself fails only if a loop never succeeds or does not end. A test sources this file after lib.sh, starts loops, and
# calls stress.
# Environment: STRESS_SECONDS, the duration of each stress call, default 10

! exact || skip_all "needs several CPUs and real time"
[ "$(nproc)" -gt 1 ] || skip_all "needs several CPUs"
LOOPS=()

# loop NAME COMMAND...: repeat COMMAND while `stress` runs; NAME completes the test name, as in "replaces the qdisc"
loop() {
	local name=$1
	shift
	LOOPS+=("$name")
	loop_body "$name" "$@" &
	JOBS+=($!)
}

# loop_body NAME COMMAND...: count the successes and keep the output of the last failure
loop_body() {
	local name=$1 n=0
	shift
	while [ ! -e "$TMP/begin" ]; do sleep 0.1; done
	while [ ! -e "$TMP/end" ]; do
		if "$@" >"$TMP/$name.last" 2>&1; then
			n=$((n + 1))
		else
			cp "$TMP/$name.last" "$TMP/$name.failed"
		fi
	done
	echo $n >"$TMP/$name.count"
}

# loops_ended: true once each loop has written its count
loops_ended() {
	local name
	for name in "${LOOPS[@]}"; do
		[ -s "$TMP/$name.count" ] || return
	done
}

# stress NAME: let all loops run, and check that each succeeded at least once
stress() {
	local name n
	: >"$TMP/begin"
	sleep "${STRESS_SECONDS:-10}"
	: >"$TMP/end"
	wait_for 60 loops_ended || true
	for name in "${LOOPS[@]}"; do
		n=$(cat "$TMP/$name.count" 2>/dev/null) || n=unfinished
		if [ "$n" = unfinished ]; then
			not_ok "$1: $name" "it did not end; its last output: $(tail -n 5 "$TMP/$name.last")"
		elif [ "$n" -eq 0 ]; then
			not_ok "$1: $name" "$(tail -n 5 "$TMP/$name.failed")"
		else
			ok "$1: $name"
			note "$name: $n times"
		fi
	done
	rm -f "$TMP/begin" "$TMP/end" "$TMP"/*.count
	LOOPS=()
	stop_jobs
}

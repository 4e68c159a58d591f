#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# A run with the same seed writes identical files, even with another environment and number of parallel guests; another
# seed gives other results. Another machine or --memory may change results. Runs on the host.
# Usage: determinism.sh [EXPERIMENT [OPTION...]]     default: calibrate, two of its schemes
. "$(dirname "$0")/../lib/lib.sh"
. "$LIB_TOP/tools/common.sh"

[ $# -gt 0 ] || set -- calibrate --scheme 1gbit,100gbit
experiment=$1
options=("${@:2}")

# run NAME SEED OPTION...: write results to $TMP/NAME; claims may fail at this size
# shellcheck disable=SC2317 # called by check
run() {
	local name=$1 seed=$2 status=0
	shift 2
	"$LIB_TOP/tools/lab/lab" run "$experiment" --small --seed "$seed" --out "$TMP/$name" \
		"${options[@]}" "$@" >"$TMP/$name.table" 2>"$TMP/$name.err" || status=$?
	[ "$status" -le 1 ] || cat "$TMP/$name.err"
	[ "$status" -le 1 ]
}

# shellcheck disable=SC2317 # called by check
differ() { ! diff -rq -x params.json "$TMP/$1" "$TMP/$2" >/dev/null; }

check "$experiment runs" run first 1
SOMETHING=else TMPDIR=/var/tmp check "$experiment runs with one guest at a time and another environment" \
	run second 1 -j 1
check "the same seed gives identical files" diff -r "$TMP/first" "$TMP/second"
check "results have CSV files to compare" test "$(find "$TMP/first" -name '*.csv' -size +0 | wc -l)" -gt 0
check "$experiment runs with another seed" run third 2
check "another seed gives other results" differ first third
finish

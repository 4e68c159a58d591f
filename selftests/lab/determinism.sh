#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# A run with the same seed writes identical files, whatever the environment, the number of parallel guests, Python's
# bytecode caches, the set-up, the guest's memory and the build of its kernel; another seed gives other results. Runs on
# the host.
# Usage: determinism.sh [EXPERIMENT [OPTION...]]     default: calibrate, two of its schemes
. "$(dirname "$0")/../lib/lib.sh"
. "$LIB_TOP/tools/common.sh"

[ $# -gt 0 ] || set -- calibrate --scheme 1gbit,100gbit
experiment=$1
file=$experiment
options=("${@:2}")

# run NAME SEED OPTION...: write results to $TMP/NAME; claims may fail at this size
# shellcheck disable=SC2317 # called by check
run() {
	local name=$1 seed=$2 status=0
	shift 2
	"$LIB_TOP/tools/lab/lab" run "$file" --small --seed "$seed" --out "$TMP/$name" \
		"${options[@]}" "$@" >"$TMP/$name.table" 2>"$TMP/$name.err" || status=$?
	[ "$status" -le 1 ] || cat "$TMP/$name.err"
	[ "$status" -le 1 ]
}

# shellcheck disable=SC2317 # called by check
differ() { ! diff -rq -x params.json "$TMP/$1" "$TMP/$2" >/dev/null; }

# repeat NAME WHAT OPTION...: run seed 1 again as NAME, under the conditions WHAT, and compare the results. params.json
# and inputs.json describe the kernel.
repeat() {
	local name=$1 what=$2
	shift 2
	check "$experiment runs $what" run "$name" 1 "$@"
	check "the same seed gives identical files $what" \
		diff -r -x params.json -x inputs.json "$TMP/first" "$TMP/$name"
}

check "$experiment runs" run first 1
check "results have CSV files to compare" test "$(find "$TMP/first" -name '*.csv' -size +0 | wc -l)" -gt 0
SOMETHING=else TMPDIR=/var/tmp repeat environment "with one guest at a time and another environment" -j 1
# the first run has left caches
find "$LIB_TOP/tools/lab" -name __pycache__ -prune -exec rm -rf {} +
PYTHONDONTWRITEBYTECODE=1 repeat uncached "without bytecode caches"

# the experiment with draws of random numbers and system calls that fail before the set-up, each of which takes 1 µs
dir=$(mktemp -d "$CLOSNET_CACHE/trial.XXXXXX")
defer "rm -rf '$dir'"
file=$dir/${experiment//-/_}.py
cp "$LIB_TOP/tools/lab/experiments/${file##*/}" "$file"
printf '%s\n' 'import os' 'for number in range(2345):' '    os.path.exists("/missing")' '    os.urandom(32)' >>"$file"
repeat setup "with another set-up"
file=$experiment

repeat memory "with more memory" --memory 3
repeat debug "in the debug kernel" --kernel uml-debug
check "$experiment runs with another seed" run other 2
check "another seed gives other results" differ first other
finish

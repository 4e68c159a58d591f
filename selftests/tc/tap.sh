# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Test Anything Protocol for the tests of the tc plug-ins; and which tc's they run with.

tap_count=0
tap_failures=0

# tap_result OK-OR-NOT NAME: one result
tap_result() {
	tap_count=$((tap_count + 1))
	echo "$1 $tap_count - $2"
	[ "$1" = ok ] || tap_failures=$((tap_failures + 1))
}

# tap_equal NAME GOT WANTED: do the strings equal?
tap_equal() {
	if [ "$2" = "$3" ]; then
		tap_result ok "$1"
		return
	fi
	tap_result "not ok" "$1"
	printf '%s\n' "got:" "$2" "wanted:" "$3" | sed 's/^/# /'
}

# tap_run NAME COMMAND...: does it succeed? If not, its output is shown.
tap_run() {
	local name=$1 out
	shift
	if out=$("$@" 2>&1); then
		tap_result ok "$name"
		return
	fi
	tap_result "not ok" "$name"
	printf '%s\n' "$*:" "$out" | sed 's/^/# /'
}

# tap_skip NAME REASON
tap_skip() {
	tap_result ok "$1 # SKIP $2"
}

# tap_skip_all REASON: ends the script, nothing can be tested
tap_skip_all() {
	echo "TAP version 13"
	echo "1..0 # SKIP $1"
	exit 4
}

# tap_end: ends the script
tap_end() {
	echo "1..$tap_count"
	[ "$tap_failures" -eq 0 ] || exit 1
	exit 0
}

# tc_suites: Debian suites whose tc's are not the installed one: iproute2 6.15 and 7.x
tc_suites() {
	printf '%s\n' bookworm-backports sid
}

# tc_of SUITE: path of its tc; nothing if the suite cannot be reached
tc_of() {
	"$CLOSNET_TOP/tools/tc/debian-tc" "$1" || true
}

# tc_version TC
tc_version() {
	"$1" -V | grep -o 'iproute2-[0-9.]*'
}

# complains TEXT COMMAND...: does it fail, and say this?
complains() {
	local text=$1 out
	shift
	if out=$("$@" 2>&1); then
		echo "it succeeded: $out"
		return 1
	fi
	[[ $out == *"$text"* ]] || { echo "it said: $out"; return 1; }
}

# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Tests of a plug-in of tc or ip that a shim loads. A test sources this file after lib.sh, sets NAME, the beginning of
# test names, and KIND, which attrs.py knows, and defines
#	set_options WORD...	run the program under test with a user's WORDs; the shim writes the attributes to $attrs
#	shown			print the options in $attrs as the plug-in does
#	json			print them as JSON

here=$(cd "$(dirname "$0")" && pwd)
attrs=$TMP/attrs

# test_sent ATTRIBUTES WORD...: check that exactly ATTRIBUTES are sent for WORDs
test_sent() {
	local expected=$1
	shift
	set_options "$@" || true
	check_eq "$NAME: $* sends $expected" "$("$here/attrs.py" dump "$KIND" "$attrs" || true)" "$expected"
}

# test_refused MESSAGE WORD...: check that the program fails with MESSAGE and sends no attributes
test_refused() {
	local message=$1
	shift
	check_refused "$NAME: refuses $*" "$message" set_options "$@"
	check "$NAME: sends nothing for $*" test ! -e "$attrs"
}

# test_round TEXT [WORD...]: check that WORDs (default: TEXT) are printed as TEXT, and TEXT sends the same attributes
test_round() {
	local text=$1 words
	shift
	[ $# -gt 0 ] || read -ra words <<<"$text"
	set_options "${@:-${words[@]}}" || true
	check_eq "$NAME: prints $text" "$(shown)" "$text"
	cp "$attrs" "$TMP/before"
	read -ra words < <(shown)
	set_options "${words[@]}" || true
	check "$NAME: reads $text back without loss" cmp "$TMP/before" "$attrs"
}

# test_made TEXT ATTRIBUTE...: check the output for attributes that a kernel might send
test_made() {
	local text=$1
	shift
	"$here/attrs.py" make "$KIND" "$@" >"$attrs"
	check_eq "$NAME: prints attributes [$*]" "$(shown)" "$text"
	check "$NAME: prints attributes [$*] as JSON" jq -e 'type == "object"' <<<"$(json)"
}

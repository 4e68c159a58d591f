#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The tc plug-ins of qdiscs and actions, without the modules: parsing, attributes sent, output. shim.c loads each of them into
# each available version of tc. Runs in its own network namespace. Tests of a single plug-in are in plugin_KIND.sh.
# Usage: plugin.sh [TC...]    default: the installed tc and the versions in versions.sh
# shellcheck disable=SC2317 # functions are called through check
if [ "${1:-}" != --inside ]; then
	. "$(dirname "$0")/../../tools/common.sh"
	. "$(dirname "$0")/versions.sh"
	if [ $# -eq 0 ]; then
		set -- "$(command -v tc)"
		for suite in $(tc_suites); do
			tc=$(tc_of "$suite")
			[ -z "$tc" ] || set -- "$@" "$tc"
		done
	fi
	if ! unshare --map-root-user --net true; then
		printf 'TAP version 13\n1..0 # SKIP no network namespace of its own\n'
		exit 4
	fi
	exec unshare --map-root-user --net "$0" --inside "$@"
fi
shift

. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/plugin.sh"

# build_shim KIND
build_shim() {
	local sources=("-DPLUGIN=$1_qdisc_util" "$here/shim.c" "$LIB_TOP/tools/tc/q_$1.c")
	[ ! -e "$LIB_TOP/tools/tc/m_$1.c" ] ||
		sources=("-DPLUGIN=$1_action_util" "$here/shim_action.c" "$LIB_TOP/tools/tc/m_$1.c")
	mkdir "$TMP/$1"
	${CC:-cc} -Wall -Wextra -Wno-unused-parameter -Werror -O1 -fPIC -shared -fvisibility=hidden \
		-I"$LIB_TOP/include/uapi" "${sources[@]}" "$LIB_TOP"/tools/tc/{tc_options,options}.c -o "$TMP/$1/q_pfifo.so"
}

# run_tc ARGUMENT...: run the tc under test with the shim
run_tc() { SHIM_ATTRS=$attrs TC_LIB_DIR=$TMP/$KIND "$TC" "$@"; }

# set_options OPTION...: run tc with a user's OPTIONs; the attributes are written to $attrs
set_options() {
	rm -f "$attrs"
	run_tc qdisc replace dev lo root handle 1: pfifo "$@"
}

# shown: the options as the plug-in prints them, without tc's own output
shown() { run_tc qdisc show dev lo | sed 's/.* refcnt [0-9]* //; s/ *$//'; }

# shown_xstats ATTRIBUTE...: the plug-in's output for these statistics, attributes of TCA_STATS_APP
shown_xstats() {
	"$here/attrs.py" make "$KIND stats" "$@" >"$TMP/xstats"
	SHIM_XSTATS=$TMP/xstats run_tc qdisc show dev lo | sed '1s/.* refcnt [0-9]* //; s/ *$//'
}

json() { run_tc -j qdisc show dev lo | jq -cS '.[0].options'; }

json_xstats() { SHIM_XSTATS=$TMP/xstats json; }

test_no_options() {
	rm -f "$attrs"
	check "$NAME: shows a qdisc without options" run_tc qdisc show dev lo
}

# described: true if the manual page has each word of the help and each JSON key of the statistics
described() {
	local word text missing=0
	text=$(sed 's/\\f[BIPR]//g' "$LIB_TOP/Documentation/man/tc-$KIND.8")
	for word in $(set_options help 2>&1 | grep -oE '\b[a-z_]{3,}\b' | sort -u) \
		$(json_xstats | jq -r '.. | objects | keys[]' | sort -u); do
		grep -qwF "$word" <<<"$text" && continue
		echo "it lacks $word"
		missing=1
	done
	[ "$missing" -eq 0 ]
}

for KIND in ndp dcqcn pcrp roce voq lb; do
	# shellcheck source=/dev/null
	. "$here/plugin_$KIND.sh"
	build_shim "$KIND" >"$TMP/log" 2>&1 || { cat "$TMP/log" >&2; exit 1; }
	for TC in "$@"; do
		NAME="$KIND, $("$TC" -V | grep -o 'iproute2-[0-9.]*')"
		set_options || skip_all "the kernel has no pfifo for a namespace"
		test_reading
		test_errors
		test_printing
		test_json
		test_foreign_attributes
		test_no_options
		test_xstats
	done
	check "tc-$KIND(8) describes all options and counters" described
done
finish

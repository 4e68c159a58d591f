#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The plug-ins use only functions and variables that every supported tc and ip has. These print no error for a plug-in
# that they cannot load, so users would not notice.
# shellcheck disable=SC2317 # functions are called through check
. "$(dirname "$0")/../../tools/common.sh"
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/versions.sh"

lists=$CLOSNET_TOP/tools/tc

# plugins DIR MAKE-ARGUMENT...: build the plug-ins in DIR
plugins() {
	local out=$1
	shift
	make -s -C "$CLOSNET_TOP/tools/tc" "O=$out" "$@"
}

# exported PROGRAM: print the functions and variables that it exports to plug-ins
exported() {
	local elf=$1
	[ ! -e "$1.elf" ] || elf=$1.elf
	nm -D --defined-only "$elf" | awk '$2 ~ /^[BDT]$/ { sub("@.*", "", $3); print $3 }' | sort
}

# allowed PROGRAM LIST: true if PROGRAM exports all of LIST
allowed() {
	local lacks
	lacks=$(exported "$1" | comm -13 - "$lists/$2" | tr '\n' ' ')
	[ -z "$lacks" ] || { echo "it lacks: $lacks"; return 1; }
}

# test_tools NAME TC IP
test_tools() {
	local kind
	check "$1: tc has all of tc-symbols.allow" allowed "$2" tc-symbols.allow
	check "$1: ip has all of ip-symbols.allow" allowed "$3" ip-symbols.allow
	# help is an error to tc; the text is the plug-in's
	for kind in ndp dcqcn pcrp roce voq; do
		check_refused "$1: tc loads q_$kind.so" "Usage: ... $kind" \
			env LD_BIND_NOW=1 "TC_LIB_DIR=$TMP/good" "$2" qdisc add dev lo root $kind help
	done
	check_refused "$1: tc loads m_lb.so" "Usage: ... action lb" \
		env LD_BIND_NOW=1 "TC_LIB_DIR=$TMP/good" "$2" actions add action lb help
	check_refused "$1: ip loads link_closwire.so" "SETTINGS := [ rate RATE ]" \
		env LD_BIND_NOW=1 "IP_LIB_DIR=$TMP/good" "$3" link add type closwire help
}

check "plug-ins build" plugins "$TMP/good"
check "plug-ins call only functions in the lists" plugins "$TMP/good" check-symbols
check_refused "check-symbols finds a function of q_ndp.so that is not in the list" \
	"q_ndp.so: not in tc-symbols.allow: get_float_min_max" \
	plugins "$TMP/foreign" CPPFLAGS=-Dget_u8=get_float_min_max check-symbols
check_refused "check-symbols finds a function of link_closwire.so that is not in the list" \
	"link_closwire.so: not in ip-symbols.allow: tc_print_rate" \
	plugins "$TMP/foreign-ip" CPPFLAGS=-Daddraw_l=tc_print_rate check-symbols
check "hardening flags do not add bindnow" \
	plugins "$TMP/hardened" LDFLAGS=-Wl,-z,now check-symbols
check_refused "check-symbols finds bindnow" "linked with -z now" \
	plugins "$TMP/now" BINDING=-Wl,-z,now check-symbols
check "tc-symbols.allow is sorted" sort -c "$lists/tc-symbols.allow"
check "ip-symbols.allow is sorted" sort -c "$lists/ip-symbols.allow"

test_tools "installed $(tc_version tc)" "$(command -v tc)" "$(command -v ip)"
for suite in $(tc_suites); do
	tc=$(tc_of "$suite")
	if [ -n "$tc" ]; then
		test_tools "$suite $(tc_version "$tc")" "$tc" "${tc%/*}/ip"
	else
		skip "plug-ins load in $suite" "Debian $suite cannot be reached"
	fi
done
finish

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Do the tc plug-ins call only functions that every supported tc has? tc says nothing but
# "Unknown qdisc" about a plug-in that it cannot load, so this must not be left to the users.
# shellcheck disable=SC2317 # functions are called through check
. "$(dirname "$0")/../../tools/common.sh"
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/versions.sh"

allow=$CLOSNET_TOP/tools/tc/tc-symbols.allow

# plugins DIR MAKE-ARGUMENT...
plugins() {
	local out=$1
	shift
	make -s -C "$CLOSNET_TOP/tools/tc" "O=$out" "$@"
}

# exported TC: the functions that it offers to plug-ins
exported() {
	local elf=$1
	[ ! -e "$1.elf" ] || elf=$1.elf
	nm -D --defined-only "$elf" | awk '$2 == "T" { print $3 }' | sort
}

# allowed TC: does it have all that the list allows?
allowed() {
	local lacks
	lacks=$(exported "$1" | comm -13 - "$allow" | tr '\n' ' ')
	[ -z "$lacks" ] || { echo "it lacks: $lacks"; return 1; }
}

# test_tc NAME TC
test_tc() {
	check "$1: has all of tc-symbols.allow" allowed "$2"
	# help is an error to tc; the text is the plug-in's
	check_refused "$1: loads q_ndp.so" "Usage: ... ndp" \
		env LD_BIND_NOW=1 "TC_LIB_DIR=$TMP/good" "$2" qdisc add dev lo root ndp help
}

check "the plug-ins build" plugins "$TMP/good"
check "the plug-ins call nothing that is not in tc-symbols.allow" \
	plugins "$TMP/good" check-symbols
check_refused "a call of something else is found" "tc-symbols.allow: get_float_min_max" \
	plugins "$TMP/foreign" CPPFLAGS=-Dget_u8=get_float_min_max check-symbols
check "hardening flags do not bring bindnow" \
	plugins "$TMP/hardened" LDFLAGS=-Wl,-z,now check-symbols
check_refused "bindnow is found" "linked with -z now" \
	plugins "$TMP/now" BINDING=-Wl,-z,now check-symbols
check "tc-symbols.allow is sorted" sort -c "$allow"

test_tc "installed $(tc_version tc)" "$(command -v tc)"
for suite in $(tc_suites); do
	tc=$(tc_of "$suite")
	if [ -n "$tc" ]; then
		test_tc "$suite $(tc_version "$tc")" "$tc"
	else
		skip "$suite" "Debian $suite cannot be reached"
	fi
done
finish

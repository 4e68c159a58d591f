#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Do the tc plug-ins call only functions that every supported tc has? tc says nothing but
# "Unknown qdisc" about a plug-in that it cannot load, so this must not be left to the users.
# shellcheck disable=SC2317 # functions are called through tap_run
set -eu
export LC_ALL=C
dir=$(cd "$(dirname "$0")" && pwd)
. "$dir/../../tools/common.sh"
. "$dir/tap.sh"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
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

# loads TC: does it find and bind every function of the plug-in?
loads() {
	LD_BIND_NOW=1 TC_LIB_DIR=$tmp/good "$1" qdisc add dev lo root ndp help 2>&1 |
		grep -q '^Usage: ... ndp'
}

# test_tc NAME TC
test_tc() {
	tap_run "$1: has all of tc-symbols.allow" allowed "$2"
	tap_run "$1: loads q_ndp.so" loads "$2"
}

echo "TAP version 13"
tap_run "the plug-ins build" plugins "$tmp/good"
tap_run "the plug-ins call nothing that is not in tc-symbols.allow" \
	plugins "$tmp/good" check-symbols
tap_run "a call of something else is found" \
	complains "tc-symbols.allow: get_float_min_max" \
	plugins "$tmp/foreign" CPPFLAGS=-Dget_u8=get_float_min_max check-symbols
tap_run "hardening flags do not bring bindnow" \
	plugins "$tmp/hardened" LDFLAGS=-Wl,-z,now check-symbols
tap_run "bindnow is found" complains "linked with -z now" \
	plugins "$tmp/now" BINDING=-Wl,-z,now check-symbols
tap_run "tc-symbols.allow is sorted" sort -c "$allow"

test_tc "installed $(tc_version tc)" "$(command -v tc)"
for suite in $(tc_suites); do
	tc=$(tc_of "$suite")
	if [ -n "$tc" ]; then
		test_tc "$suite $(tc_version "$tc")" "$tc"
	else
		tap_skip "$suite" "Debian $suite cannot be reached"
	fi
done
tap_end

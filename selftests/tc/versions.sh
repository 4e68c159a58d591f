# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Versions of iproute2 with which the plug-ins are tested. Needs tools/common.sh.

# tc_suites: Debian suites with an iproute2 other than the installed one: 6.15 and 7.x
tc_suites() {
	printf '%s\n' bookworm-backports sid
}

# tc_of SUITE: print the path of its tc, with ip in the same directory; empty if the suite cannot be reached
tc_of() {
	"$CLOSNET_TOP/tools/tc/debian-tc" "$1" || true
}

# tc_version TC-OR-IP: print its iproute2 version
tc_version() {
	"$1" -V | grep -o 'iproute2-[0-9.]*'
}

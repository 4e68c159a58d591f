# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The iproute2's that the plug-ins are tested with. Needs tools/common.sh.

# tc_suites: Debian suites whose iproute2 is not the installed one: 6.15 and 7.x
tc_suites() {
	printf '%s\n' bookworm-backports sid
}

# tc_of SUITE: path of its tc, with its ip beside it; nothing if the suite cannot be reached
tc_of() {
	"$CLOSNET_TOP/tools/tc/debian-tc" "$1" || true
}

# tc_version TC-OR-IP
tc_version() {
	"$1" -V | grep -o 'iproute2-[0-9.]*'
}

# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The tc's that the plug-ins are tested with. Needs tools/common.sh.

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

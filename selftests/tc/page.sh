# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the tests of manual pages share.

# examples PAGE: its commands, "# COMMAND", each followed by the output that is shown for it
examples() {
	sed -e ':a' -e '/\\$/{N;s/\\\n//;ta' -e '}' "$1" |
		sed -n '/^\.SH EXAMPLES/,/^\.SH [^E]/{/^\.nf/,/^\.fi/p}' |
		sed "/^\.[nf]/d; s/\\\\-/-/g; s/\\\\(aq/'/g"
}

# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the tests of manual pages share.

# examples PAGE: its commands, "# COMMAND", each followed by the output that is shown for it
examples() {
	sed -e ':a' -e '/\\$/{N;s/\\\n//;ta' -e '}' "$1" |
		sed -n '/^\.SH EXAMPLES/,/^\.SH [^E]/{/^\.nf/,/^\.fi/p}' |
		sed "/^\.[nf]/d; s/\\\\-/-/g; s/\\\\(aq/'/g"
}

# paragraphs PAGE: a line each: the first word of its heading, a tab, and all words; and of each subsection,
# .SSNAME, all its headings. Without macros and punctuation; \(mcs is us.
paragraphs() {
	awk '
		function end() { if (key != "") print key "\t" text; key = text = "" }
		function words(line) {
			sub(/^\.[A-Z]+ /, "", line)
			gsub(/"/, "", line)
			gsub(/\\\(mc/, "u", line)
			gsub(/[.,:;]+( |$)/, " ", line)
			return line " "
		}
		/^\.(TP|P|SH|SS)/ { end() }
		/^\.S[HS]/ {
			if (section) print section "\t" headings
			section = /^\.SS/ ? $1 $2 : ""
			headings = ""
		}
		begins { key = $0; sub(/^\.[A-Z]+ /, "", key); sub(/ .*/, "", key); headings = headings words($0) }
		{ begins = $0 == ".TP"; if (key != "") text = text words($0) }' "$1" | tr -s ' '
}

# has TEXT WORD...: whether each of them is a word of TEXT
has() {
	local word text=$1
	shift
	for word; do
		[[ " $text " == *" $word "* ]] || { echo "no '$word' in: $text" && return 1; }
	done
}

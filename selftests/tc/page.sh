# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for tests of manual pages

# examples PAGE: print the page's examples: each "# COMMAND" is followed by its output
examples() {
	sed -e ':a' -e '/\\$/{N;s/\\\n//;ta' -e '}' "$1" |
		sed -n '/^\.SH EXAMPLES/,/^\.SH [^E]/{/^\.nf/,/^\.fi/p}' |
		sed "/^\.[nf]/d; s/\\\\-/-/g; s/\\\\(aq/'/g"
}

# paragraphs PAGE: print a line for each paragraph: the first word of its heading, a tab, and all its words; for each
# subsection, .SSNAME and all headings in it. Macros and punctuation are removed; \(mcs becomes us.
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

# has TEXT WORD...: true if TEXT contains each WORD
has() {
	local word text=$1
	shift
	for word; do
		[[ " $text " == *" $word "* ]] || { echo "no '$word' in: $text" && return 1; }
	done
}

# SPDX-License-Identifier: GPL-2.0-only
# Prints the kernel's complaints from its log (stdin), from the line MARKER on if the log still has that line.
# Set by the caller: marker; complaint, a regular expression; races, the file for the data races to be ignored.
#
# The kernels that look for data races have everything built in but closnet and the modules of tests. KCSAN's report
# has two stacks. It counts if one of them has a module's function among the innermost frames, and is then printed in
# full, once a pair of functions. Helpers like memcpy() or list_del() are why it need not be the innermost itself.
# Other races are the kernel's own: each title goes to the file, with the number of reports.
BEGIN { innermost = 3 }
index($0, marker) { delete line; delete seen; delete others; n = 0; race = ""; next }
/BUG: KCSAN: / { race = $0; sub(/.*BUG/, "BUG", race); text = race; depth = ours = 0; next }
race != "" {
	text = text "\n" $0
	if (/ by (task|interrupt)/)
		depth = 0
	else if (/\+0x[0-9a-f]+\/0x[0-9a-f]+/ && ++depth <= innermost && / \[[a-z0-9_]+\]$/)
		ours = 1
	else if (/Reported by Kernel Concurrency Sanitizer/)
		end_of_race()
	next
}
$0 ~ complaint { line[n++] = $0 }
END {
	for (i = 0; i < n; i++)
		print line[i]
	for (title in others)
		print others[title], title >races
}

function end_of_race()
{
	if (!ours)
		others[race]++
	else if (!seen[race]++)
		line[n++] = text
	race = ""
}

# SPDX-License-Identifier: GPL-2.0-only
# Print the errors in a kernel log (stdin) after the line MARKER, or in the whole log if it lacks that line.
# Variables: marker; complaint, a regular expression; races, the file for ignored data races.
#
# In kernels with KCSAN, only closnet and the tests' modules are modules. A report of KCSAN has two stacks. It counts if
# a function of a module is among the innermost frames of one stack; the innermost frame may be a helper like memcpy()
# or list_del(). Each title (a pair of functions) is printed once, with its full report. Other races are the kernel's
# own: their titles go to the file, with the number of reports.
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

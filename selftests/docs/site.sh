#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The documentation: the site builds without a warning, its links lead somewhere, it has all modules, manual pages,
# attributes and trace events, and commands that pages show exist. Runs on the host.
# Usage: site.sh
# shellcheck disable=SC2317 # functions are called through check
. "$(dirname "$0")/../lib/lib.sh"

site=$TMP/site
cd "$LIB_TOP"
tools/deps.sh docs || skip_all "no Sphinx"

# tree: print name and time of each file below Documentation
tree() { find Documentation -type f -printf '%p %T@\n' | sort; }

before=$(tree)
check "the site builds without a warning" Documentation/sphinx/build "$site"
check_eq "a build leaves the source tree as it was" "$(tree)" "$before"
for page in Documentation/man/*.[1-9]; do
	check "${page##*/} is in the site" grep -q 'class="manual-text"' "$site/reference/man/${page##*/}.html"
done
check "all links of the site lead to a page and a place in it" selftests/docs/site.py links "$site"
check "links of README.md and its like lead to files" selftests/docs/site.py markdown
check "no paragraph begins like a list by accident" selftests/docs/site.py lists "$site"
check "all trace events are in the site" selftests/docs/site.py events "$site"
check "recipes for bpftrace use events and fields that exist" selftests/docs/site.py recipes
check "all attributes of the netlink specifications are in the site" selftests/docs/site.py netlink "$site"
check "the README and the install page name all modules" selftests/docs/site.py modules
check "targets of make that pages name exist" selftests/docs/site.py targets
check "experiments that pages name exist" selftests/docs/site.py experiments
check "files that pages name exist" selftests/docs/site.py files
check "each table of claims is in the page of all claims and in its family's" selftests/docs/site.py claims
finish

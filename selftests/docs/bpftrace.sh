#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The recipes of Documentation/howto/bpftrace.rst: bpftrace accepts all of them, as one program, and attaches their
# probes to the modules' trace events.
. "$(dirname "$0")/../lib/lib.sh"

type -P bpftrace >/dev/null || skip_all "needs bpftrace"
need_modules nicclock tcp_timely tcp_dcqcn ndp act_lb

# as site.py finds them
python3 -c 'import re, sys
for recipe in re.findall("bpftrace -e \x27([^\x27]*)\x27", open(sys.argv[1], encoding="utf-8").read()):
    print(recipe)' "$LIB_TOP/Documentation/howto/bpftrace.rst" >"$TMP/recipes.bt"
probes=$(grep -oE 'tracepoint:|interval:' "$TMP/recipes.bt" | wc -l)
echo 'interval:ms:100 { exit(); }' >>"$TMP/recipes.bt"
check "the page has recipes" test "$probes" -gt 5
check_to "$TMP/out" "bpftrace runs all recipes" bpftrace "$TMP/recipes.bt"
check "it attaches to each of their probes" grep -q "^Attaching $((probes + 1)) probes" "$TMP/out"
finish

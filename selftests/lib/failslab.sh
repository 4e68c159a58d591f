# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Memory allocation failures by failslab. A test sources this file, which skips it on a kernel without failslab.

FAILSLAB=/sys/kernel/debug/failslab
[ -d $FAILSLAB ] || skip_all "no failslab in this kernel"
[ -f $FAILSLAB/require-start ] || skip_all "failslab without a stack filter"

# set_failslab NAME=VALUE...
set_failslab() {
	local word
	for word in "$@"; do
		echo "${word#*=}" >"$FAILSLAB/${word%%=*}"
	done
}

# fail_only MODULE: let only allocations fail that have MODULE's code in their call chain
fail_only() {
	local text
	text=$(</sys/module/"$1"/sections/.text)
	[ "$text" != 0x0000000000000000 ] || skip_all "the module's address is hidden"
	set_failslab "require-start=$text" "require-end=$(printf '0x%x' $((text + 0x8000)))"
}

# failing COMMAND...: run COMMAND as a task whose allocations may fail; with task-filter=Y, other tasks' allocations
# succeed
failing() { (echo 1 >/proc/self/make-it-fail && exec "$@"); }

defer "set_failslab probability=0"
set_failslab task-filter=N ignore-gfp-wait=Y verbose=0 times=-1 interval=1 stacktrace-depth=32

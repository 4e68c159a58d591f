# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Memory allocation failures by failslab. A test sources this file, which skips it on a kernel without failslab.
# shellcheck disable=SC2154 # setup_ns sets a

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

# created OPTION...: try ten times to create the qdisc under test at v0, and print the number of successes
created() {
	local i count=0
	tc -n "$a" qdisc del dev v0 root 2>/dev/null || true
	for ((i = 0; i < 10; i++)); do
		if failing tc -n "$a" qdisc add dev v0 root "$SCH" "$@" 2>/dev/null; then
			count=$((count + 1))
			complete "$(sch_stats)" || echo "incomplete $SCH"
			tc -n "$a" qdisc del dev v0 root
		fi
	done
	echo $count
}

# complete JSON: true if a created qdisc is complete; a test may redefine this
complete() { true; }

# test_created NAME OPTION...: without memory, the qdisc under test is created completely or not at all
test_created() {
	local name=$1
	shift
	# GFP_KERNEL allocations fail as well
	set_failslab ignore-gfp-wait=N probability=100
	check_eq "without memory no $name is created" "$(created "$@")" 0
	set_failslab probability=30
	note "$name: $(created "$@") of 10 created with 30 % of failures"
	set_failslab probability=0
	check_eq "with memory each $name is created" "$(created "$@")" 10
}

defer "set_failslab probability=0"
set_failslab task-filter=N ignore-gfp-wait=Y verbose=0 times=-1 interval=1 stacktrace-depth=32

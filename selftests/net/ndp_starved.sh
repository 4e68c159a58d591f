#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Memory allocation failures: packets are lost, but no message, and no memory leaks. A flow's first packet needs ten
# successful allocations. With 20 % failures it may not get them for 5 s: then the message fails, and its sender gets an
# error. Needs a kernel with failslab.
# shellcheck disable=SC2154 # setup_ns sets a
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/ndp.sh"
. "$(dirname "$0")/../lib/failslab.sh"
setup_ns a
ip -n "$a" link set lo up
fail_only ndp
# the module is larger than the range that fail_only assumes
text=$(</sys/module/ndp/sections/.text)
set_failslab "require-end=$(printf '0x%x' $((text + 0x40000)))"

# check_failing PERCENT ARGUMENT...: run ndp_many while PERCENT of the allocations fail
check_failing() {
	set_failslab "probability=$1"
	check "short messages arrive while $1 % of allocations fail" in_ns "$a" ndp_many "${@:2}" 20 10 100 60
	check "messages of 60 kB arrive while $1 % of allocations fail" in_ns "$a" ndp_many "${@:2}" -r 100000 5 2 60000 60
	set_failslab probability=0
}
check_failing 3
check_eq "no message fails while 3 % of allocations fail" "$(snmp "$a" SndMsgsFailed)" 0
check_failing 20 -t
check "packets lost to allocation failures are counted" test "$(snmp "$a" InNoMemory OutNoMemory)" -gt 0
check "messages arrive after allocation failures" in_ns "$a" ndp_many 20 10 100 60
check "all flows are freed" wait_for 30 unused
finish

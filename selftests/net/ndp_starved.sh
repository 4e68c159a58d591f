#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# When memory cannot be had, packets are lost, but no message, and nothing leaks. Of a flow's first packet ten
# allocations must succeed, and with 20 % failures that may not be so for 5 s: then the message fails, and its sender
# is told. Needs a kernel with failslab.
# shellcheck disable=SC2154 # setup_ns sets a
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/ndp.sh"
. "$(dirname "$0")/../lib/failslab.sh"
setup_ns a
ip -n "$a" link set lo up
fail_only ndp
# the module is larger than others
text=$(</sys/module/ndp/sections/.text)
set_failslab "require-end=$(printf '0x%x' $((text + 0x40000)))"

# starved PERCENT ARGUMENT...: ndp_many, while so many allocations fail
starved() {
	set_failslab "probability=$1"
	check "$1 % fail: 20 peers, 10 messages each" in_ns "$a" ndp_many "${@:2}" 20 10 100 60
	check "$1 % fail: of 60 kB, and little memory" in_ns "$a" ndp_many "${@:2}" -r 100000 5 2 60000 60
	set_failslab probability=0
}
starved 3
check_eq "no message has failed" "$(snmp "$a" SndMsgsFailed)" 0
starved 20 -t
check "packets were lost" test "$(snmp "$a" InNoMemory OutNoMemory)" -gt 0
check "with memory, all is well" in_ns "$a" ndp_many 20 10 100 60
check "nothing is left" wait_for 30 unused
finish

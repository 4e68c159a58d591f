#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A sender queues more messages than its receiver, which is slow, has room for. Refused ones begin again.
#
#	+-- a --+          +-- b --+
#	|  w0   |==========|  w1   |
#	+-------+ 50 Mbit/s +------+
# shellcheck disable=SC2154 # setup_ns sets a and b
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
. "$(dirname "$0")/../lib/ndp.sh"
setup_ns a b
wire_ab rate 50mbit delay 20us

# a slow machine answers later than an RTO
exact || for ns in "$a" "$b"; do
	in_ns "$ns" tee /proc/sys/net/ndp/rto_us >/dev/null <<<100000
done
count=2000 limit=12
exact || count=100 limit=100
# 3.4 s at the rate of the link, 4 s at the reader's
messages "$count messages of 10 KB arrive within $limit s" \
	receive -n "$b" -p 9 -w 2 -r 20000 -c $count -l 10k -t $limit -- send -n "$a" -d 10.0.0.2 -p 9 -c $count -l 10k -t $limit
check "receiver has refused messages" test "$(snmp "$a" SndRefusedMsgs)" -gt 0
check "all flows are freed" wait_for 90 unused
finish

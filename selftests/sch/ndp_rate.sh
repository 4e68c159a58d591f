#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The built-in shaper never exceeds its rate, frame by frame, including overhead.
# Unless the machine is slow, it also reaches its rate.
#
#	+--------- a ---------+     +--------- b ---------+
#	| frames -> v0: ndp   |=====| v1                  |
#	|  capture <-'        |     |                     |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_ndp
setup_ns a b
link_ab
. "$(dirname "$0")/../lib/sch_rate.sh"

ndp limit 300 rate 10mbit
test_rate "10 Mbit/s, 1000 bytes" 10000000 1000 udp4,len=1000
ndp limit 300 rate 10mbit overhead 256
test_rate "10 Mbit/s, 200 + 256 bytes" 10000000 456 udp4,len=200
ndp limit 300 rate 40mbit
test_rate "40 Mbit/s, other traffic" 40000000 2000 tcp4,len=2000

test_rate_changes limit 300
finish

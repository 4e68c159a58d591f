#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The qdisc is the default one of a device with several TX queues, below mq.
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
need_sch ndp
setup_ns a b
. "$(dirname "$0")/../lib/sch_default.sh"

test_default
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# voq as the default qdisc, below mq on a device with several TX queues
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/sch_default.sh"
test_default voq

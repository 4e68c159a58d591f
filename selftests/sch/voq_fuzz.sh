#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Random changes of the options while traffic runs
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/sch_fuzz.sh"
fuzz_options voq

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Load, use and unload the module 100 times while traffic runs
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/sch_reload.sh"
test_reload voq

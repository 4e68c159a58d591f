#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The module is loaded, used and unloaded 100 times while traffic runs.
#
#	+--------- a ---------+     +--------- b ---------+
#	| traffic -> v0: pcrp |=====| v1                  |
#	+---------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
need_sch pcrp
setup_ns a b
link_ab
. "$(dirname "$0")/../lib/sch_reload.sh"

test_reload
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# sch_roce on several CPUs, see lib/smp_sch.sh
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/smp_sch.sh"

# shellcheck disable=SC2317 # called by sch_stress
changes() {
	cat <<-END
		limit 64 rate 1mbit
		rpg_max_rate 1mbit rpg_min_rate 1mbit
		profile nic idle 1ms
		qp_limit 1 other_limit 1
		ce clear cnp pass nonp
		ce keep np noect
		rpg_max_rate 0 rate 50mbit
	END
}
sch_stress roce

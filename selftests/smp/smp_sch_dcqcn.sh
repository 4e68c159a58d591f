#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# sch_dcqcn on several CPUs, see lib/smp_sch.sh
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/smp_sch.sh"

# shellcheck disable=SC2317 # called by sch_stress
changes() {
	cat <<-END
		limit 10000 rate 1mbit
		kmin 0 kmax 0
		kmin 5kb kmax 200kb
		rate 50mbit
	END
}
sch_stress dcqcn

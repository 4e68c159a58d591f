#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# sch_voq on several CPUs, see lib/smp_sch.sh. smp_voq.sh has the credit.
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/smp_sch.sh"

# shellcheck disable=SC2317 # called by sch_stress
changes() {
	cat <<-END
		limit 64 rate 1mbit
		voq_limit 1 quantum 256
		voq_rate 100kbit
		voq_rate 0 overhead 0
		credit_size 256 rtt 1us retry 10us
		limit 10000 voq_limit 1000 quantum 3028 rate 50mbit
	END
}
sch_stress voq

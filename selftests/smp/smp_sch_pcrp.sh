#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# sch_pcrp on several CPUs, see lib/smp_sch.sh
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/smp_sch.sh"

# shellcheck disable=SC2317 # called by sch_stress
changes() {
	cat <<-END
		limit 64 rate 1mbit
		chain 20000 first 20000
		grants 1
		window 20us hold 1ms
		window off nosrpt
		map 0:1,7:63
		map off srpt rate 50mbit
	END
}
sch_stress pcrp

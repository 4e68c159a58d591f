#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# sch_ndp on several CPUs, see lib/smp_sch.sh
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/smp_sch.sh"

# shellcheck disable=SC2317 # called by sch_stress
changes() {
	cat <<-END
		limit 1 rate 1mbit
		limit 8 mode cp
		mode droptail
		mode ndp match all ratio 1
		hlimit 64
		hlimit 100000 match udp_port 61199
		rate 50mbit
	END
}
sch_stress ndp

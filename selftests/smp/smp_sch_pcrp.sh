#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# sch_pcrp on several CPUs, see lib/smp_sch.sh
#
#	+---------- a ----------+     +--------- b ---------+
#	| traffic -> v0: pcrp   |=====| v1                  |
#	+-----------------------+     +---------------------+
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/smp.sh"
need_sch pcrp
setup_ns a b
VETH=(numtxqueues 4 numrxqueues 4)
link_ab
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
sch_stress
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A port keeps granting credit after the kernel refused a replacement of its qdisc, and after the newest of several was
# deleted.
# shellcheck disable=SC2154,SC2034,SC2119,SC2317 # fab_net sets the namespaces, and uses rate; check calls functions
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/voq.sh"
need_voq_fab
rate=1gbit
fab_net

# grants WHEN: check that t grants credit to a new qdisc of r
grants() {
	voq_on "$r" fab0 credit
	check "$1: a ping is answered" wait_for 5 in_ns "$h" ping -q -c 1 -W 1 10.0.2.2
	check "$1: the port grants credit" wait_for 5 at_least 1 ingress granted_bytes
	check_eq "$1: the egress leaf refuses no VOQ" "$(ingress refused)" 0
}

voq_on "$t" td grant
check "the kernel refuses a replacement after its init()" \
	in_ns "$t" python3 "$(dirname "$0")/../lib/sch_refused.py" td root voq 2=1
grants "after a refused replacement"
tc -n "$t" -batch - <<-END
	qdisc replace dev td root handle 1: prio
	qdisc add dev td parent 1:1 handle 11: voq grant
	qdisc add dev td parent 1:2 handle 12: voq grant
	qdisc add dev td parent 1:3 handle 13: voq grant
	qdisc del dev td parent 1:2
END
grants "two of three qdiscs of the port are left"
tc -n "$t" qdisc del dev td parent 1:3
grants "the oldest qdisc of the port is left"
tc -n "$t" qdisc del dev td parent 1:1
voq_on "$r" fab0 credit
check "without a qdisc of the port, a ping is answered" wait_for 5 in_ns "$h" ping -q -c 1 -W 1 10.0.2.2
check_eq "without a qdisc of the port, no credit is granted" "$(ingress granted_bytes)" 0
finish

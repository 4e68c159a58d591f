#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# closnet check-nic reports why timely cannot use a device's timestamps, and the
# command that fixes it.
#
#	+---------- a ----------+     +- b -+
#	| w0.5 on w0, veth, bond|=====| w1  |
#	+-----------------------+     +-----+
# shellcheck disable=SC2317 # functions are called through check and wait_for
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
need_cc timely
setup_ns a b
. "$(dirname "$0")/../lib/timely.sh"
wire_ab rate 1gbit delay 10us

# finds STATUS TEXT DEVICE: check-nic exits with STATUS, and a line of its output contains TEXT
finds() {
	local out status=0
	out=$(in_ns "$a" closnet check-nic "$3" 2>&1) || status=$?
	echo "status $status: $out"
	[ "$status" -eq "$1" ] && grep -qF -- "$2" <<<"$out"
}

check "check-nic prints the command that enables timestamping" finds 1 "# hwstamp_ctl -i w0 -t 0 -r 1" w0
stamps "$a/w0" 1
check "a NIC that timestamps all packets is good" finds 0 "good     rx_filter: the NIC stamps all received packets" w0
check "check-nic knows the driver" finds 0 "good     driver: driver closwire stamps all packets" w0
check "check-nic prints the link's rate" finds 0 "line_rate: the line rate is 1000 Mbit/s" w0
check "nicclock without timestamps is noted" finds 0 "note     nicclock: nicclock has received no stamps" w0
high_thresholds
flow cc=timely connect send=3000000 close eof
check "the state of nicclock is printed after a connection" finds 0 "nicclock: nicclock " w0
check_json "$(in_ns "$a" closnet check-nic --json w0)" "JSON of a good NIC has .good true" '.good' \
	"each finding in JSON has check, verdict and text" '[.findings[] | .check, .verdict, .text | type == "string"] | all'

ip -n "$a" link add w0.5 link w0 type vlan id 5
check "check-nic names the device below a VLAN" finds 0 "# closnet check-nic w0" w0.5
ip -n "$a" link add v0 type veth peer name v1
check "veth is reported as a device without a clock" finds 1 "problem  driver: driver veth is a virtual device" v0
if ip -n "$a" link add bond0 type bond 2>/dev/null; then
	ip -n "$a" link set v0 master bond0
	check "a bond is reported as a problem" finds 1 "problem  kind: bond0 is a bond of 1 devices" bond0
else
	skip "a bond is reported as a problem" "no bonding"
fi
if tc -n "$a" qdisc replace dev w0 root fq 2>/dev/null; then
	check "fq is noted with the command that replaces it" finds 0 "# tc qdisc replace dev w0 root pfifo_fast" w0
else
	skip "fq is noted with the command that replaces it" "no fq"
fi
check "an unknown device is refused" finds 1 "no such device: w9" w9
check_refused "a missing device argument is refused" "missing argument DEVICE" closnet check-nic
finish

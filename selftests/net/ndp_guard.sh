#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Programs of a host cannot forge NDP packets by UDP or raw sockets, with or without NDP sockets on the host.
#
#	+--------- a ---------+     +--------- b ---------+
#	| ndp_guard.py -> v0  |=====| v1                  |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2154,SC2317 # setup_ns sets a and b; functions are called through job
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/ndp.sh"
[ -x /usr/bin/python3 ] || skip_all "needs python3"
setup_ns a b
link_ab
ip -n "$a" link set lo up
ndp_v6 "$a" v0 2001:db8::1 2001:db8::2 $MAC_B
ndp_v6 "$b" v1 2001:db8::2 2001:db8::1 $MAC_A
job ndp_msg receive -n "$b" -p 1000 -f -l 10 -t 1000
wait_for 10 in_use

# forge ARGUMENT...: run ndp_guard.py and report each line of its output as a check
forge() {
	local forged before
	before=$(snmp "$a" OutForged)
	"${as[@]}" "$(dirname "$0")/ndp_guard.py" "$@" >"$TMP/forged" 2>&1 || not_ok "ndp_guard.py $*" "$(<"$TMP/forged")"
	report_lines "$TMP/forged"
	forged=$(grep -c refused "$TMP/forged" || true)
	check_eq "OutForged counts each refused packet of mode $1" $(($(snmp "$a" OutForged) - before)) "$forged"
}
as=(ip netns exec "$a" setpriv --reuid 65534 --regid 65534 --clear-groups)
forge user 10.0.0.2 2001:db8::2
as=(ip netns exec "$a")
forge raw 10.0.0.2
check_eq "no forged packet arrives" "$(snmp "$b" InPackets)" 0
stop_jobs

for to in 10.0.0.2 2001:db8::2; do
	messages "messages of NDP sockets to $to arrive" receive -n "$b" -p 9 -c 3 -l 1,100k -- \
		send -n "$a" -d $to -p 9 -c 3 -l 1,100k
done
check_eq "packets of NDP sockets are not counted as forged" "$(snmp "$b" OutForged)" 0
check "all flows are freed" wait_for 20 unused
finish

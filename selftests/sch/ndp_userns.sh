#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Root of a user namespace can configure sch_ndp on its own devices, whose returned
# packets stay in its network namespace, but not on devices of other namespaces.
#
#	+--------- a ---------+     +--------- b ---------+
#	| v0: ndp             |=====| v1                  |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2317 # functions are called through check_refused
. "$(dirname "$0")/../lib/lib.sh"
need_ndp
setup_ns a b
link_ab
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
"${nobody[@]}" unshare --map-root-user --net true 2>/dev/null || skip_all "no user namespaces"

# user nobody can read neither the test's directory nor the directory of the plug-ins
mkdir "$TMP/bin"
cp -L "${TC_LIB_DIR:?}/q_ndp.so" "$(command -v traffic)" "$TMP/bin"
cat >"$TMP/bin/own" <<-'END'
	set -e
	export TC_LIB_DIR=${0%/*}
	ip link add p0 mtu 9000 type veth peer name p1 mtu 9000
	ip addr add 10.9.0.1/24 dev p0
	ip link set p0 up
	ip link set p1 up
	ip neigh add 10.9.0.2 lladdr 02:00:00:00:00:0b nud permanent dev p0
	tc qdisc add dev p0 root ndp limit 1 hlimit 1280 rts rate 1kbit
	"${0%/*}/traffic" udp -d 10.9.0.2 -p 61199 -l 8000 -c 100 >/dev/null
	tc -s -j qdisc show dev p0
END
chmod -R a+rX "$TMP"

check_to "$TMP/own.json" "root of a user namespace configures ndp on its own device" \
	"${nobody[@]}" unshare --map-root-user --net bash "$TMP/bin/own"
check_json "$(unwrap <"$TMP/own.json")" \
	"packets on a device of a user namespace are trimmed" '.header.qlen_packets == 10' \
	"packets on a device of a user namespace are returned" '.returned_packets == 88'

# in_a COMMAND...: run COMMAND in network namespace a, as root of a user namespace that does not own a
in_a() { in_ns "$a" env TC_LIB_DIR="$TMP/bin" "${nobody[@]}" unshare --map-root-user "$@"; }

ndp limit 20
check_refused "root of a user namespace cannot change a foreign qdisc" "Operation not permitted" \
	in_a tc qdisc change dev v0 root ndp limit 1
check_refused "root of a user namespace cannot replace a foreign qdisc" "Operation not permitted" \
	in_a tc qdisc replace dev v0 root handle 7: ndp limit 1
check_refused "root of a user namespace cannot delete a foreign qdisc" "Operation not permitted" \
	in_a tc qdisc del dev v0 root
check_json "$(sch_stats)" "a refused change leaves a foreign qdisc unchanged" '.options.limit == 20'
finish

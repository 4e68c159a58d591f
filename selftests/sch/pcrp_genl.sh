#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Generic netlink interface of PCRP's statistics unit: ranges, errors, permissions, and state per network namespace
. "$(dirname "$0")/../lib/lib.sh"
need_sch pcrp
setup_ns a b
MAX=1099511627776

# unit NS COMMAND...: send a command to the unit of a namespace
unit() {
	local ns=$1
	shift
	pcrp_netlink -n "$ns" "$@"
}

# thresholds NS: its thresholds
thresholds() { unit "$1" get | sed -n 's/^thresholds //p'; }

# ---- values

check_eq "a new namespace has no statistics and no thresholds" \
	"$(unit "$a" get)" "$(printf 'updates 0\nbytes 0\nsizes\nthresholds none')"
check "the smallest thresholds are accepted" unit "$a" set 1 1 1
check_eq "the smallest thresholds read back" "$(thresholds "$a")" "1 1 1"
check "the largest thresholds are accepted" unit "$a" set 1 $MAX $MAX
check_eq "the largest thresholds read back" "$(thresholds "$a")" "1 $MAX $MAX"
check_refused "a threshold below the range is refused" "thresholds must be 1 to $MAX bytes" unit "$a" set 0 1 2
check_refused "a threshold above the range is refused" "thresholds must be 1 to $MAX bytes" \
	unit "$a" set 1 2 $((MAX + 1))
check_refused "thresholds that do not ascend are refused" "thresholds must ascend" unit "$a" set 1 3 2
check_refused "missing thresholds are refused" "thresholds are missing" unit "$a" raw 2
nested=$((3 | 1 << 15))
check_refused "thresholds without NLA_F_NESTED are refused" "NLA_F_NESTED is missing" unit "$a" raw 2 3:24
check_refused "an empty nest is refused" "thresholds must be 1 to $MAX bytes" unit "$a" raw 2 $nested:0
check_refused "a nest without attributes is refused" "attribute" unit "$a" raw 2 $nested:23
check_refused "an attribute of replies is refused in set" "attribute" unit "$a" raw 2 1:336
check_refused "an attribute in reset is refused" "attribute" unit "$a" raw 3 3:24
check_refused "an unknown command is refused" "not supported" unit "$a" raw 4
check_eq "refused commands leave the thresholds unchanged" "$(thresholds "$a")" "1 $MAX $MAX"
check_eq "thresholds apply to their own namespace" "$(thresholds "$b")" none
check "reset succeeds" unit "$a" reset
check_eq "reset removes the thresholds" "$(thresholds "$a")" none
check_eq "two sets and a reset count as three updates" "$(unit "$a" get | sed -n 's/^updates //p')" 3
check "random requests are accepted or refused as specified" unit "$a" fuzz 3000 1

# ---- permissions

nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
inside=(ip netns exec "$b" "${nobody[@]}")
check "an unprivileged user may get" "${inside[@]}" pcrp_netlink get
check_refused "an unprivileged user may not set" "Operation not permitted" "${inside[@]}" pcrp_netlink set 1 2 3
check_refused "an unprivileged user may not reset" "Operation not permitted" "${inside[@]}" pcrp_netlink reset
if "${nobody[@]}" unshare --map-root-user --net true 2>/dev/null; then
	# the user may lack access to the directories above the tree
	chmod 711 "$TMP"
	cp "$(command -v pcrp_netlink)" "$TMP"
	check "root of a user namespace may set in its own network namespace" \
		"${nobody[@]}" unshare --map-root-user --net "$TMP/pcrp_netlink" set 1 2 3
	check_refused "root of a user namespace may not set in a foreign network namespace" "Operation not permitted" \
		"${inside[@]}" unshare --map-root-user "$TMP/pcrp_netlink" set 1 2 3
else
	skip "root of a user namespace may set in its own network namespace" "no user namespaces"
fi
check_eq "unprivileged commands set no thresholds" "$(thresholds "$b")" none
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# PCRP's statistics unit in the kernel, by generic netlink: ranges, errors, who may set, and a namespace's own.
. "$(dirname "$0")/../lib/lib.sh"
need_sch pcrp
setup_ns a b
MAX=1099511627776

# unit NS COMMAND...: asks the unit of a namespace
unit() {
	local ns=$1
	shift
	pcrp_netlink -n "$ns" "$@"
}

# thresholds NS: those that it has
thresholds() { unit "$1" get | sed -n 's/^thresholds //p'; }

# ---- what may be set

check_eq "a namespace begins with nothing" "$(unit "$a" get)" "$(printf 'updates 0\nbytes 0\nsizes\nthresholds none')"
check "the least" unit "$a" set 1 1 1
check_eq "reads back" "$(thresholds "$a")" "1 1 1"
check "the most" unit "$a" set 1 $MAX $MAX
check_eq "reads back" "$(thresholds "$a")" "1 $MAX $MAX"
check_refused "below the range" "thresholds must be 1 to $MAX bytes" unit "$a" set 0 1 2
check_refused "above the range" "thresholds must be 1 to $MAX bytes" unit "$a" set 1 2 $((MAX + 1))
check_refused "out of order" "thresholds must ascend" unit "$a" set 1 3 2
check_refused "absent" "thresholds are missing" unit "$a" raw 2
nested=$((3 | 1 << 15))
check_refused "no nest" "NLA_F_NESTED is missing" unit "$a" raw 2 3:24
check_refused "an empty nest" "thresholds must be 1 to $MAX bytes" unit "$a" raw 2 $nested:0
check_refused "a nest that does not hold attributes" "attribute" unit "$a" raw 2 $nested:23
check_refused "an attribute that only answers have" "attribute" unit "$a" raw 2 1:336
check_refused "an attribute to reset" "attribute" unit "$a" raw 3 3:24
check_refused "an unknown command" "not supported" unit "$a" raw 4
check_eq "what is refused changes nothing" "$(thresholds "$a")" "1 $MAX $MAX"
check_eq "each namespace has its own" "$(thresholds "$b")" none
check "reset" unit "$a" reset
check_eq "no thresholds" "$(thresholds "$a")" none
check_eq "three updates" "$(unit "$a" get | sed -n 's/^updates //p')" 3
check "random requests" unit "$a" fuzz 3000 1

# ---- who may

nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
inside=(ip netns exec "$b" "${nobody[@]}")
check "anybody may look" "${inside[@]}" pcrp_netlink get
check_refused "not set" "Operation not permitted" "${inside[@]}" pcrp_netlink set 1 2 3
check_refused "not reset" "Operation not permitted" "${inside[@]}" pcrp_netlink reset
if "${nobody[@]}" unshare --map-root-user --net true 2>/dev/null; then
	# it shall be found by who may not look into each directory above the tree
	chmod 711 "$TMP"
	cp "$(command -v pcrp_netlink)" "$TMP"
	check "in a namespace of one's own, one may set" \
		"${nobody[@]}" unshare --map-root-user --net "$TMP/pcrp_netlink" set 1 2 3
	check_refused "root of a user namespace may not in another's network" "Operation not permitted" \
		"${inside[@]}" unshare --map-root-user "$TMP/pcrp_netlink" set 1 2 3
else
	skip "in a namespace of one's own, one may set" "no user namespaces"
fi
check_eq "nothing was set" "$(thresholds "$b")" none
finish

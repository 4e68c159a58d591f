# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Permission to choose a restricted congestion control. A test sources this file after lib/tcp_cc.sh, with the module
# just loaded.
# shellcheck disable=SC2154 # setup_ns sets a and b

# test_permission RECEIVER: test root, unprivileged users, namespace defaults and routes; RECEIVER: connections that the
# receiver counts for each
test_permission() {
	local old
	check "root may choose $CC" flow "cc=$CC" "is=$CC" connect "is=$CC" send=1000000 close eof
	check_eq "connection is counted in its namespace" "$(cc_counter connections) $(cc_counter connections "$b")" "1 $1"
	check_refused "unprivileged user may not choose $CC" "cc=$CC: Operation not permitted" flow unprivileged "cc=$CC"
	# tcp_set_default_congestion_control() of 6.1 keeps a reference to a module that it refuses, so that later tests
	# could not reload it.
	case $(uname -r) in
	6.1.*) skip "new namespace may not make $CC its default" "this kernel would leak a module reference" ;;
	*)
		check_refused "new namespace may not make $CC its default" "Operation not permitted" \
			ip netns exec "$a" sysctl -w net.ipv4.tcp_congestion_control="$CC"
		;;
	esac
	old=$(sysctl -n net.ipv4.tcp_congestion_control)
	check "initial namespace may make $CC its default" sysctl -qw net.ipv4.tcp_congestion_control="$CC"
	ip netns add "$a-new"
	NAMESPACES+=("$a-new")
	sysctl -qw "net.ipv4.tcp_congestion_control=$old"
	check_eq "new namespace inherits default $CC" \
		"$(ip netns exec "$a-new" sysctl -n net.ipv4.tcp_congestion_control)" "$CC"
	ip -n "$a-new" link set lo up
	check "unprivileged user gets $CC as the namespace's default" tcp_flow -s "$a-new" -r "$a-new" -d 127.0.0.1 \
		unprivileged "is=$CC" connect "is=$CC" send=100000 close eof
	check_eq "both ends of the connection are counted in the new namespace" \
		"$(cc_counter connections "$a-new") $(cc_counter connections)" "2 1"
	check "route may have congctl $CC" ip -n "$a" route replace 10.0.0.2/32 dev w0 congctl "$CC"
	check "connection uses $CC from its route" flow connect "is=$CC" send=100000 close eof
	ip -n "$a" route del 10.0.0.2/32
}

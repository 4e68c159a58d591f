# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Who may choose a congestion control that is restricted. A test sources this
# after lib/tcp_cc.sh, with the module as it is when it has been loaded.
# shellcheck disable=SC2154 # setup_ns sets a and b

# test_who RECEIVER: root, a namespace, others, a route; RECEIVER: how many connections the receiver has
test_who() {
	local old
	check "root may choose it" flow "cc=$CC" "is=$CC" connect "is=$CC" send=1000000 close eof
	check_eq "it is a connection of its namespace" "$(cc_counter connections) $(cc_counter connections "$b")" "1 $1"
	check_refused "others may not" "cc=$CC: Operation not permitted" flow unprivileged "cc=$CC"
	# There, tcp_set_default_congestion_control() keeps a reference to a module that it refuses: it could not be
	# loaded anew by the tests that follow.
	case $(uname -r) in
	6.1.*) skip "nor may a namespace have it as its default" "this kernel would not let go of the module" ;;
	*)
		check_refused "nor may a namespace have it as its default" "Operation not permitted" \
			ip netns exec "$a" sysctl -w net.ipv4.tcp_congestion_control="$CC"
		;;
	esac
	old=$(sysctl -n net.ipv4.tcp_congestion_control)
	check "but the first one may" sysctl -qw net.ipv4.tcp_congestion_control="$CC"
	ip netns add "$a-new"
	NAMESPACES+=("$a-new")
	sysctl -qw "net.ipv4.tcp_congestion_control=$old"
	check_eq "from which new ones have it" \
		"$(ip netns exec "$a-new" sysctl -n net.ipv4.tcp_congestion_control)" "$CC"
	ip -n "$a-new" link set lo up
	check "then anybody uses it" tcp_flow -s "$a-new" -r "$a-new" -d 127.0.0.1 \
		unprivileged "is=$CC" connect "is=$CC" send=100000 close eof
	check_eq "there" "$(cc_counter connections "$a-new") $(cc_counter connections)" "2 1"
	check "a route may ask for it" ip -n "$a" route replace 10.0.0.2/32 dev w0 congctl "$CC"
	check "and gets it" flow connect "is=$CC" send=100000 close eof
	ip -n "$a" route del 10.0.0.2/32
}

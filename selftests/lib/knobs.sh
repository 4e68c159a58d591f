# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Sysctls with ranges: what they take and what they say, and whose they are. A
# test of a congestion control sources this after lib/tcp_cc.sh. Ranges are tried
# in the namespace of the test itself.
# shellcheck disable=SC2317,SC2154 # setup_ns sets a and b; functions are called through check and wait_for

# logs COUNT TEXT COMMAND...: the command fails, and the kernel's log says so as often
logs() {
	local count=$1 text=$2 tag=tag$RANDOM$RANDOM log
	shift 2
	echo "$tag" >/dev/kmsg
	if "$@" 2>/dev/null; then
		echo "it succeeded"
		return 1
	fi
	log=$(dmesg | sed "1,/$tag/d")
	[ "$(grep -cF "tcp_$CC: $text" <<<"$log")" -eq "$count" ] || { echo "$log" && return 1; }
}

# none_of NAME VALUE...: none is accepted
none_of() {
	local name=$1 value
	shift
	for value in "$@"; do
		! write_params "$name=$value" || { echo "$value is accepted" >&3 && return 0; }
	done
	return 1
}

# takes NAME VALUE...: each is accepted, and read as it was written
takes() {
	local name=$1 value
	shift
	for value in "$@"; do
		write_params "$name=$value" || return
		[ "$(<"$PARAMETERS/$name")" = "$value" ] || { cat "$PARAMETERS/$name" && return 1; }
	done
}

# range NAME LEAST MOST BAD...: these two and the present one are taken; BAD and others that are none are not. The log
# has the range, or RANGE.
range() {
	local name=$1 low=$2 high=$3 was bad
	shift 3
	was=$(<"$PARAMETERS/$name")
	bad=("$@" '' ' ' x 4294967296 -1)
	check "$name: $low, $high, $was" takes "$name" "$low" "$high" "$was"
	check "$name: not $*" logs ${#bad[@]} "$name must be ${RANGE:-$low to $high}" none_of "$name" "${bad[@]}"
	check_eq "$name: it stays" "$(<"$PARAMETERS/$name")" "$was"
}
exec 3>&1
# what is no fraction
# shellcheck disable=SC2034 # for the tests
FRACTIONS=(1.001 2 1000 . 1.0000 0.0005 0.12345 "0,5" .5 .x 0.5x 1e-1 0x1 1.2.3 99999999999.5)

# as_nobody_root COMMAND...: as root of a new user namespace and a new network namespace, which user nobody has made
as_nobody_root() { setpriv --reuid 65534 --regid 65534 --clear-groups unshare -Urn "$@"; }

# test_namespaces NAME VALUE OTHER WRONG: whose values sysctl NAME has. It is left as it was.
test_namespaces() {
	local name=$1 value=$2 other=$3 wrong=$4 was tag=tag$RANDOM$RANDOM
	was=$(<"$PARAMETERS/$name")
	params "$name=$value"
	check_eq "$name: a write is for its own namespace" "$(<"$PARAMETERS/$name")" "$was"
	write_params "$name=$other"
	check_eq "$name: it leaves the others alone" "$(params_of "$a" "$name")" "$value"
	ip netns add "$a-new"
	check_eq "$name: a new namespace has the initial one's" "$(params_of "$a-new" "$name")" "$other"
	ip netns del "$a-new"
	if as_nobody_root true 2>/dev/null; then
		check_eq "$name: root of a user namespace sets its own" "$(as_nobody_root sh -c \
			"cat $PARAMETERS/$name; echo $value >$PARAMETERS/$name; cat $PARAMETERS/$name" | xargs)" "$other $value"
		check_eq "$name: the initial namespace keeps its value" "$(<"$PARAMETERS/$name")" "$other"
		echo "$tag" >/dev/kmsg
		check_refused "$name: root of a user namespace sets no bad value" "write error" as_nobody_root bash -c "echo $wrong >$PARAMETERS/$name"
		check_eq "$name: the log has nothing of it" "$(dmesg | sed "1,/$tag/d" | grep -c "$name must be")" 0
	else
		skip "$name: root of a user namespace" "no user namespaces"
	fi
	write_params "$name=$was"
	params "$name=$was"
}

# unload_cc: when no connection waits for the answer to its FIN any more
unload_cc() {
	wait_for 60 gone && return
	ip netns exec "$a" ss -taneoi
	ip netns exec "$b" ss -taneoi
	return 1
}
gone() { ! module_loaded "tcp_$CC" || rmmod "tcp_$CC"; }

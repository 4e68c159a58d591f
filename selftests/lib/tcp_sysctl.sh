# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Sysctls of a congestion control: accepted values, error messages, and per-namespace values. A test sources this file
# after lib/tcp_cc.sh. Ranges are checked in the test's own network namespace.
# shellcheck disable=SC2317,SC2154 # setup_ns sets a and b; functions are called through check and wait_for

# logs COUNT TEXT COMMAND...: true if COMMAND fails and the module logs COUNT lines that begin with TEXT
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

# none_of NAME VALUE...: fail if sysctl NAME refuses every VALUE, because `logs` takes a command that fails
none_of() {
	local name=$1 value
	shift
	for value in "$@"; do
		! write_params "$name=$value" || { echo "$value is accepted" >&3 && return 0; }
	done
	return 1
}

# takes NAME VALUE...: true if sysctl NAME accepts each VALUE and reads back as written
takes() {
	local name=$1 value
	shift
	for value in "$@"; do
		write_params "$name=$value" || return
		[ "$(<"$PARAMETERS/$name")" = "$value" ] || { cat "$PARAMETERS/$name" && return 1; }
	done
}

# range NAME MIN MAX BAD...: check that sysctl NAME accepts MIN, MAX and its present value, and refuses each BAD and
# common malformed values. The log message names the range MIN to MAX, or $RANGE.
range() {
	local name=$1 low=$2 high=$3 was bad
	shift 3
	was=$(<"$PARAMETERS/$name")
	bad=("$@" '' ' ' x 4294967296 -1)
	check "$name accepts $low, $high and $was" takes "$name" "$low" "$high" "$was"
	check "$name refuses $* and malformed values, and logs its range" \
		logs ${#bad[@]} "$name must be ${RANGE:-$low to $high}" none_of "$name" "${bad[@]}"
	check_eq "$name keeps its value after refused writes" "$(<"$PARAMETERS/$name")" "$was"
}
exec 3>&1
# values that are not valid fractions
# shellcheck disable=SC2034 # for the tests
FRACTIONS=(1.001 2 1000 . 1.0000 0.0005 0.12345 "0,5" .5 .x 0.5x 1e-1 0x1 1.2.3 99999999999.5)

# bw_of PORT: the rate that ss shows for the connection to PORT
bw_of() { info "$1" | ss_number bw; }

# churn SYSCTL: open and close connections while SYSCTL, a maximum rate, and cap change and are freed
churn() {
	local i
	for ((i = 0; i < 5; i++)); do
		params "$1=$((40 + i))" cap=$((1000 + i)) || return
		flow -p 5002 "cc=$CC" connect send=50000 \
			"run=ip netns exec $a sh -c 'echo $((2000 + i)) >$PARAMETERS/cap'" send=50000 close eof || return
	done
}

# as_nobody_root COMMAND...: run COMMAND as root of a new user and network namespace created by UID 65534
as_nobody_root() { setpriv --reuid 65534 --regid 65534 --clear-groups unshare -Urn "$@"; }

# test_namespaces NAME VALUE OTHER WRONG: check that sysctl NAME is per network namespace, and restore it
test_namespaces() {
	local name=$1 value=$2 other=$3 wrong=$4 was tag=tag$RANDOM$RANDOM
	was=$(<"$PARAMETERS/$name")
	params "$name=$value"
	check_eq "$name: writes in other namespaces leave the initial one unchanged" "$(<"$PARAMETERS/$name")" "$was"
	write_params "$name=$other"
	check_eq "$name: a write leaves other namespaces unchanged" "$(params_of "$a" "$name")" "$value"
	ip netns add "$a-new"
	check_eq "$name: a new namespace inherits the initial one's value" "$(params_of "$a-new" "$name")" "$other"
	ip netns del "$a-new"
	if as_nobody_root true 2>/dev/null; then
		check_eq "$name: root of a user namespace can set its own value" "$(as_nobody_root sh -c \
			"cat $PARAMETERS/$name; echo $value >$PARAMETERS/$name; cat $PARAMETERS/$name" | xargs)" "$other $value"
		check_eq "$name: the initial namespace keeps its value" "$(<"$PARAMETERS/$name")" "$other"
		echo "$tag" >/dev/kmsg
		check_refused "$name: root of a user namespace cannot set bad values" "write error" \
			as_nobody_root bash -c "echo $wrong >$PARAMETERS/$name"
		check_eq "$name: a bad value written in a user namespace is not logged" \
			"$(dmesg | sed "1,/$tag/d" | grep -c "$name must be")" 0
	else
		skip "$name: root of a user namespace" "no user namespaces"
	fi
	write_params "$name=$was"
	params "$name=$was"
}

# unload_cc: unload the module once no connection waits for the ACK of its FIN
unload_cc() {
	wait_for 60 gone && return
	ip netns exec "$a" ss -taneoi
	ip netns exec "$b" ss -taneoi
	return 1
}
gone() { ! module_loaded "tcp_$CC" || rmmod "tcp_$CC"; }

# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Module parameters with ranges: what they take and what they say. A test of a
# congestion control sources this after lib/tcp_cc.sh.
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
		! params "$name=$value" || { echo "$value is accepted" >&3 && return 0; }
	done
	return 1
}

# takes NAME VALUE...: each is accepted, and read as it was written
takes() {
	local name=$1 value
	shift
	for value in "$@"; do
		params "$name=$value" || return
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

# reload WORD...: the module with these parameters
reload() {
	rmmod "tcp_$CC" || return
	if [ -n "${CLOSNET_MODDIR:-}" ]; then
		insmod "$CLOSNET_MODDIR/tcp_$CC.ko" "$@"
	else
		modprobe "tcp_$CC" "$@"
	fi
}

# unload_cc: when no connection waits for the answer to its FIN any more
unload_cc() {
	wait_for 60 gone && return
	ip netns exec "$a" ss -taneoi
	ip netns exec "$b" ss -taneoi
	return 1
}
gone() { ! module_loaded "tcp_$CC" || rmmod "tcp_$CC"; }

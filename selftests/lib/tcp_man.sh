# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The manual page of a congestion control: it has each parameter with the module's range and default, each counter, each
# column and each field of the trace events, and the commands of its EXAMPLES work. A test sources this file after
# need_closwire, setup_ns b, and lib/tcp_cc.sh.
# shellcheck disable=SC2317,SC2154 # functions are called through check; b: set by setup_ns
. "$(dirname "${BASH_SOURCE[0]}")/../tc/page.sh"

page=$LIB_TOP/Documentation/man/tcp_$CC.7
EVENTS=/sys/kernel/tracing/events/$CC

# numbers: remove trailing zeros of fractions from standard input
numbers() { sed -E 's/\.0+\b//g; s/(\.[0-9]*[1-9])0+\b/\1/g'; }

# ranges: print NAME=RANGE for each parameter, from the module's error messages
ranges() {
	local name
	for name in "$PARAMETERS"/*; do
		! echo no-such-value 2>/dev/null >"$name" || echo "${name##*/}=anything"
	done
	dmesg | sed -n 's/,.*//; s/.*tcp_'"$CC"': \([a-z_]*\) must be /\1=/p' | numbers
}

test_parameter() {
	local name=$1 alternatives min max unit
	check "$name: manual page has the default" has "${text[$name=]-}" "Default ${value[$name]}"
	if [[ ${range[$name]} == *" to "* ]]; then
		read -r min _ max unit <<<"${range[$name]}"
		check "$name: manual page has the range" has "${text[$name=]-}" "$min to $max"
		[ -z "$unit" ] || check "$name: manual page has the unit" has "${text[$name=],,}" "${unit,,}"
	else
		read -ra alternatives <<<"${range[$name]// or / }"
		check "$name: manual page has the possible values" has "${text[$name=]-}" "${alternatives[@]}"
	fi
}

# test_event NAME: check the keys of a trace event and the words that they may have as values
test_event() {
	local format keys values
	format=$(<"$EVENTS/$1/format")
	format=${format##*print fmt: }
	mapfile -t keys < <(grep -oE '\w+=%' <<<"$format" | tr -d '=%')
	mapfile -t values < <(grep -oE '"\w+" }' <<<"$format" | tr -d '" }')
	check "$1: manual page has the keys of the event" has "${text[$1]-}" "${keys[@]:?}"
	[ ${#values[@]} -eq 0 ] || check "$1: manual page has the words that keys may have" has "${text[$1]-}" "${values[@]}"
}

# test_example COMMAND: run COMMAND with a closwire port instead of eth0; modules are already loaded
test_example() {
	case $1 in
	modprobe*) ;;
	*) check "example succeeds: $1" bash -c "${1//eth0/w0}" ;;
	esac
}

# restore: reset the default congestion control, the sysctls and the trace events
# shellcheck disable=SC2086 # words
restore() {
	write_params $DEFAULTS
	echo "$default" >/proc/sys/net/ipv4/tcp_congestion_control
	echo 0 >"$EVENTS/enable"
}

[ -d "$EVENTS" ] || mount -t tracefs tracefs /sys/kernel/tracing
default=$(</proc/sys/net/ipv4/tcp_congestion_control)
defer restore

declare -A text value range
while IFS=$'\t' read -r name words; do
	text[$name]=$words
done < <(paragraphs "$page")
while IFS='=' read -r name word; do
	value[$name]=$word
done < <(current_params | numbers)
while IFS='=' read -r name words; do
	range[$name]=$words
done < <(ranges)

# test_page: check everything that the pages of all congestion controls have
test_page() {
	local name names lines line
	mapfile -t names < <(ls "$PARAMETERS")
	check_eq "manual page has all sysctls" \
		"$(sed -n 's/^\.BI \([a-z0-9_]*\)= .*/\1/p' "$page" | sort | xargs)" "${names[*]}"
	for name in "${names[@]}"; do
		test_parameter "$name"
	done
	check_eq "manual page has all counters" "${text[.SS/proc/net/closnet/$CC]-}" \
		"$(cut -d ' ' -f 1 "/proc/net/closnet/$CC" | xargs) "
	for name in "$EVENTS"/*/; do
		test_event "$(basename "$name")"
	done

	ip link add w0 type closwire peer name w1 netns "$b"
	defer 'ip link del w0'
	ip addr add 10.0.0.2/24 dev w0
	ip link set w0 up
	mapfile -t lines < <(examples "$page" | sed -n 's/^# //p')
	for line in "${lines[@]}"; do
		test_example "$line"
	done
}

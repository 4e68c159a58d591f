#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# tcp_timely(7) and the module: has the page each parameter with the range and the default that the module has, each
# counter, each column, each field of the trace events? Is each command of its EXAMPLES taken?
# shellcheck disable=SC2317,SC2154 # functions are called through check; b: set by setup_ns
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../tc/page.sh"

page=$LIB_TOP/Documentation/man/tcp_timely.7
EVENTS=/sys/kernel/tracing/events/timely

# words: a page's text as words on one line, without macros and punctuation
words() { sed -E 's/^\.[A-Z]+ //; s/"//g' | tr -s ' \n' ' ' | sed -E 's/[.,:;]+( |$)/\1/g; s/ +/ /g'; }

# paragraph HEADING: what the page has below this heading, from the line behind .TP on
paragraph() {
	awk -v heading="$1" '
		/^\.(TP|SH|SS|P)$|^\.S[HS] / { found = 0 }
		begins && index($0 " ", heading " ") == 1 { found = 1 }
		{ begins = $0 == ".TP" }
		found' "$page" | words
}

# headings SECTION: what the page explains in this subsection
headings() {
	awk -v section=".SS $1" '
		/^\.S[HS] / { found = $0 == section }
		found && begins
		{ begins = $0 == ".TP" }' "$page" | words
}

# has TEXT WORD...: whether each of them is a word of TEXT
has() {
	local word text=$1
	shift
	for word; do
		[[ " $text " == *" $word "* ]] || { echo "no '$word' in: $text" && return 1; }
	done
}

# number TEXT: without zeros at the end of fractions
number() { sed -E 's/\b([0-9]+)\.0+\b/\1/g; s/(\.[0-9]*[1-9])0+\b/\1/g' <<<"$1"; }

# range NAME: what the module says a parameter must be
range() {
	! echo no-such-value 2>/dev/null >"$PARAMETERS/$1" || return 1
	dmesg | sed -n "s/.*tcp_timely: $1 must be //p" | tail -n 1 | sed 's/,.*//'
}

test_parameter() {
	local name=$1 value text range alternatives min max unit
	value=$(number "$(<"$PARAMETERS/$name")")
	text=$(paragraph ".BI $name=")
	range=$(number "$(range "$name")")
	check "$name: the page has its default" has "$text" "Default $value"
	if [[ $range == *" to "* ]]; then
		read -r min _ max unit <<<"$range"
		check "$name: the page has its range" has "$text" "$min to $max"
		[ -z "$unit" ] || check "$name: the page has its unit" has "${text,,}" "${unit,,}"
	else
		read -ra alternatives <<<"${range// or / }"
		check "$name: the page has what it may be" has "$text" "${alternatives[@]}"
	fi
}

# test_event NAME: its keys, and what the keys that are words may be
test_event() {
	local text format keys values
	text=$(paragraph ".B $1")
	format=$(<"$EVENTS/$1/format")
	format=${format##*print fmt: }
	mapfile -t keys < <(grep -oE '\w+=%' <<<"$format" | tr -d '=%')
	mapfile -t values < <(grep -oE '"\w+" }' <<<"$format" | tr -d '" }')
	check "$1: the page has its keys" has "$text" "${keys[@]:?}"
	check "$1: the page has what its words may be" has "$text" "${values[@]:?}"
}

# first_line FILE: the names of the columns
first_line() { head -n 1 "$1"; }

# test_example COMMAND: on a port in place of eth0; the modules are loaded already
test_example() {
	case $1 in
	modprobe*) ;;
	*) check "taken: $1" bash -c "${1//eth0/w0}" ;;
	esac
}

# restore: parameters, the default and trace events as they were
restore() {
	default_params
	echo "$default" >/proc/sys/net/ipv4/tcp_congestion_control
	echo 0 >"$EVENTS/enable"
}

need_closwire
need_timely
. "$(dirname "$0")/../lib/timely.sh"
[ -d "$EVENTS" ] || mount -t tracefs tracefs /sys/kernel/tracing
save_params
default=$(</proc/sys/net/ipv4/tcp_congestion_control)
defer restore

mapfile -t names < <(ls "$PARAMETERS")
check_eq "the page has the module's parameters" \
	"$(sed -n 's/^\.BI \(.*\)= .*/\1/p' "$page" | sort | xargs)" "${names[*]}"
for name in "${names[@]}"; do
	test_parameter "$name"
done
check_eq "the page has the counters" "$(headings /proc/net/closnet/timely)" \
	"$(cut -d ' ' -f 1 /proc/net/closnet/timely | xargs) "
check_eq "the page has the columns of clocks" "$(headings /proc/net/closnet/nicclock)" \
	"$(first_line /proc/net/closnet/nicclock) "
for name in "$EVENTS"/*/; do
	test_event "$(basename "$name")"
done

setup_ns b
ip link add w0 type closwire peer name w1 netns "$b"
defer 'ip link del w0'
ip addr add 10.0.0.2/24 dev w0
ip link set w0 up
mapfile -t lines < <(examples "$page" | sed -n 's/^# //p')
for line in "${lines[@]}"; do
	test_example "$line"
done
finish

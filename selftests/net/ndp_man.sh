#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# ndp(7) against the module: has the page each sysctl with its range and default, each counter, each option? Are
# the commands of its EXAMPLES taken, and does its program do what it says?
#
#	+--------- a ---------+     +--------- b ---------+
#	| ndp_example -> w0   |=====| w1 -> ndp_example   |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2154 # setup_ns sets a and b
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
need_ndp
. "$(dirname "$0")/../lib/ndp.sh"
. "$(dirname "$0")/../tc/page.sh"
page=$LIB_TOP/Documentation/man/ndp.7
sysctls=/proc/sys/net/ndp
setup_ns a b
wire_ab rate 500mbit delay 5us

declare -A text
while IFS=$'\t' read -r name words; do
	text[$name]=$words
done < <(paragraphs "$page")

# shellcheck disable=SC2012 # plain names
check_eq "the page has the sysctls" "$(sed -n '/^\.SH SYSCTLS/,/^\.SH OUTPUT/s/^\.B \([a-z_M]*\)$/\1/p' "$page" |
	while read -r name; do [ ! -e "$sysctls/$name" ] || echo "$name"; done | sort -u | xargs)" \
	"$(in_ns "$a" ls $sysctls | sort | xargs)"
# a value that is just refused is out of the range that the page has
for name in $(in_ns "$a" ls $sysctls); do
	words=${text[$name]-}
	check "$name: the page has its default" has "$words" Default "$(in_ns "$a" cat "$sysctls/$name")"
	read -r min max < <(sed -nE 's/.* ([0-9]+) to ([0-9]+) .*/\1 \2/p' <<<"$words") || min='' max=''
	for value in "$min" "$max"; do
		check "$name: $value" in_ns "$a" bash -c "echo $value >$sysctls/$name"
	done
	for value in $((min - 1)) $((max + 1)); do
		check_refused "$name: not $value" "Invalid argument" in_ns "$a" bash -c "echo $value >$sysctls/$name"
	done
done
check_eq "the page has the counters" "${text[.SS/proc/net/ndp/snmp]-}" \
	"$(in_ns "$a" cut -d ' ' -f 1 /proc/net/ndp/snmp | xargs) "
while read -r name; do
	check "the page has $name" grep -qw "$name" "$page"
done < <(sed -n 's/^\t\(NDP_[A-Z_]*\)\( = 1\)\?,$/\1/p' "$LIB_TOP/include/uapi/linux/ndp.h")

ip link add eth0 netns "$a" type closwire peer name eth1 netns "$b"
mapfile -t lines < <(examples "$page" | sed -n 's/^# //p')
for line in "${lines[@]}"; do
	case $line in
	modprobe*) ;;
	*) check "taken: $line" in_ns "$a" bash -c "$line" ;;
	esac
done

# ---- the program

head -c 700000 /dev/urandom >"$TMP/sent"
in_ns "$b" ndp_example receive 1000 >"$TMP/came" &
receiver=$!
JOBS+=("$receiver")
wait_for 5 in_use
sleep 0.1
check "the program sends" in_ns "$a" ndp_example send 10.0.0.2 1000 <"$TMP/sent"
check "and receives" wait $receiver
check "what was sent" cmp "$TMP/sent" "$TMP/came"
check_refused "nobody receives" "message 1: Connection refused" in_ns "$a" ndp_example send 10.0.0.2 1000 <"$TMP/sent"
finish

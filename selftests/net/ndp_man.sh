#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# ndp(7) describes the module: each sysctl with its range and default, each counter and each option. The commands of its
# EXAMPLES succeed, and its program works.
#
#	+--------- a ---------+     +--------- b ---------+
#	| ndp_example -> w0   |=====| w1 -> ndp_example   |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2154,SC2016 # setup_ns sets a and b; the inner bash expands
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
check_eq "manual page has all sysctls" "$(sed -n '/^\.SH SYSCTLS/,/^\.SH OUTPUT/s/^\.B \([a-z_M]*\)$/\1/p' "$page" |
	while read -r name; do [ ! -e "$sysctls/$name" ] || echo "$name"; done | sort -u | xargs)" \
	"$(in_ns "$a" ls $sysctls | sort | xargs)"
# the ends of the documented range are accepted, values beyond them are refused; ndp_key.sh tests key
names=() values=() want=()
for name in $(in_ns "$a" ls $sysctls | grep -vx key); do
	words=${text[$name]-}
	check "$name: manual page has the default" has "$words" Default "$(in_ns "$a" cat "$sysctls/$name")"
	read -r min max < <(sed -nE 's/.* ([0-9]+) to ([0-9]+) .*/\1 \2/p' <<<"$words") || min='' max=''
	names+=("$name" "$name" "$name" "$name")
	values+=("$min" "$max" $((min - 1)) $((max + 1)))
	want+=(accepted accepted refused refused)
done
mapfile -t results < <(paste -d ' ' <(printf '%s\n' "${names[@]}") <(printf '%s\n' "${values[@]}") |
	in_ns "$a" bash -c 'cd $0 && while read -r name value; do
		(echo "$value" >"$name") 2>/dev/null && echo accepted || echo refused; done' $sysctls)
for i in "${!names[@]}"; do
	check_eq "${names[i]}: ${values[i]} is ${want[i]}" "${results[i]-}" "${want[i]}"
done
check_eq "manual page has all counters" "${text[.SS/proc/net/ndp/snmp]-}" \
	"$(in_ns "$a" cut -d ' ' -f 1 /proc/net/ndp/snmp | xargs) "
nstat="$(sed -n 's/^\.BR \(PROC_NET_SCTP_SNMP=[a-z/]*\) \..*/\1/p' "$page")"
check_eq "nstat reads the counters as the manual page describes" \
	"$(in_ns "$a" env "$nstat" nstat -asz 2>/dev/null | awk '{ print $1 }' |
	grep -cxFf <(cut -d ' ' -f 1 /proc/net/ndp/snmp))" "$(wc -l </proc/net/ndp/snmp)"
while read -r name; do
	check "manual page has $name" grep -qw "$name" "$page"
done < <(sed -n 's/^\t\(NDP_[A-Z_]*\)\( = 1\)\?,$/\1/p' "$LIB_TOP/include/uapi/linux/ndp.h")

ip link add eth0 netns "$a" type closwire peer name eth1 netns "$b"
mapfile -t lines < <(examples "$page" | sed -n 's/^# //p')
for line in "${lines[@]}"; do
	case $line in
	modprobe*) ;;
	*) check "example succeeds: $line" in_ns "$a" bash -c "$line" ;;
	esac
done

# ---- the program

head -c 700000 /dev/urandom >"$TMP/sent"
in_ns "$b" ndp_example receive 1000 >"$TMP/received" &
receiver=$!
JOBS+=("$receiver")
wait_for 5 in_use
sleep 0.1
check "the page's program sends a message" in_ns "$a" ndp_example send 10.0.0.2 1000 <"$TMP/sent"
received=0
wait $receiver || received=$?
check_eq "the page's program receives a message" $received 0
check "the page's program delivers the message intact" cmp "$TMP/sent" "$TMP/received"
check_refused "the page's program reports a missing receiver" "Connection refused" \
	in_ns "$a" ndp_example send 10.0.0.2 1000 <"$TMP/sent"
finish

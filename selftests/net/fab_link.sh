#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# closfab's options: both ends of each range are accepted, values outside are refused and change nothing, and what ip
# prints makes the same device again.
# shellcheck disable=SC2154 # setup_ns sets the namespace
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/fab.sh"
need_fab
setup_ns a

# shown: options as ip prints them, without ip's own output
shown() { ip -n "$a" -d link show fab0 | sed -n 's/^ *closfab \(.*\)addrgenmode.*/\1/p' | sed 's/ *$//'; }
json() { ip -n "$a" -d -j link show fab0 | jq -c ".[0].linkinfo.info_data.$1"; }

# option NAME MIN MAX MESSAGE [BELOW] [ABOVE] [JSON_MIN] [JSON_MAX]; "-" for BELOW and ABOVE: there is none
option() {
	local name=$1 before value
	for value in "$2" "$3"; do
		check "$name $value is accepted" ip -n "$a" link set fab0 type closfab "$name" "$value"
	done
	check_eq "$name $3 is shown" "$(json "$name")" "${8:-$3}"
	before=$(shown)
	for value in "${5:--}" "${6:--}"; do
		[ "$value" != - ] || continue
		check_refused "$name $value is refused" "$4" ip -n "$a" link set fab0 type closfab "$name" "$value"
	done
	check_eq "$name: a refused value changes nothing" "$(shown)" "$before"
	check "$name $2 is accepted again" ip -n "$a" link set fab0 type closfab "$name" "$2"
	check_eq "$name $2 is shown" "$(json "$name")" "${7:-$2}"
}

check "a device without options is made" ip -n "$a" link add fab0 type closfab
check_eq "its mode is the default" "$(json mode)" '"reorder"'
check_eq "its local address is not shown" "$(json local)" null
option mode reorder conweave "mode" - - '"reorder"' '"conweave"'
option select random drill "select" - - '"random"' '"drill"'
option entropy 1 256 "entropy must be 1 to 256" 0 257
option cell_size 64 9000 "cell_size must be 64 to 9000 bytes" 63 9001
option ttl 1 255 "ttl must be 1 to 255" 0 256
option flows 1 4096 "flows must be 1 to 4096" 0 4097
option wait_min 1us 1s "wait_min must be 1us to 1s" 999ns 1000001us 1000 1000000000
option wait_max 1us 2s "wait_max must be 1us to 2s" 999ns 2000001us 1000 2000000000
option theta_reply 0 1s "theta_reply must be 0 to 1s" - 1000001us 0 1000000000
option theta_path_busy 1us 1s "theta_path_busy must be 1us to 1s" 999ns 1000001us 1000 1000000000
option theta_inactive 1us 1s "theta_inactive must be 1us to 1s" 999ns 1000001us 1000 1000000000
option theta_resume_extra 0 1s "theta_resume_extra must be 0 to 1s" - 1000001us 0 1000000000
option theta_resume_default 1us 1s "theta_resume_default must be 1us to 1s" 999ns 1000001us 1000 1000000000
option fifos 0 65536 "fifos must be 0 to 65536" - 65537
option limit 0 1073741824 "limit must be 0 to" - 1073741825
option flow_limit 0 1073741824 "flow_limit must be 0 to" - 1073741825
option peers 1 65536 "peers must be 1 to 65536" 0 65537

# ---- options of new devices

ip -n "$a" link del fab0
check "a device with all options is made" ip -n "$a" link add fab0 type closfab local 10.9.0.1 remote 10.9.0.2 \
	port 65535 mode cell select rr entropy 4 cell_size 512 ttl 3 flows 16 wait_min 10us wait_max 20ms theta_reply 30us \
	theta_path_busy 40us theta_inactive 5ms theta_resume_extra 60us theta_resume_default 7ms fifos 8 limit 900000 \
	flow_limit 100000 peers 11
text=$(shown)
ip -n "$a" link del fab0
# shellcheck disable=SC2086 # words
check "what ip prints makes a device" ip -n "$a" link add fab0 type closfab $text
check_eq "it is the same device" "$(shown)" "$text"
for word in "local 10.9.0.3" "remote 10.9.0.3" "port 1" "key 00112233445566778899aabbccddeeff"; do
	# shellcheck disable=SC2086 # words
	check_refused "${word%% *} cannot be changed" "local, remote, port and key cannot be changed" \
		ip -n "$a" link set fab0 type closfab $word
done
check_eq "the refused changes changed nothing" "$(shown)" "$text"
ip -n "$a" link del fab0
for word in "local 224.0.0.1" "local 255.255.255.255" "remote ff02::1" "local ::" "remote 0.0.0.0"; do
	# shellcheck disable=SC2086 # words
	check_refused "$word is refused" "local and remote must be unicast" ip -n "$a" link add fab0 type closfab $word
done
check_refused "port 0 is refused" "port must be 1 to 65535" ip -n "$a" link add fab0 type closfab port 0
check_refused "port 65536 is refused" "port must be 1 to 65535" ip -n "$a" link add fab0 type closfab port 65536
for word in 0011 00112233445566778899aabbccddeefg ""; do
	check_refused "key \"$word\" is refused" "32 hexadecimal digits" ip -n "$a" link add fab0 type closfab key "$word"
done
check_refused "a link that does not exist is refused" "" ip -n "$a" link add fab0 link none type closfab
check_refused "an unknown option is refused" 'unknown option "x"' ip -n "$a" link add fab0 type closfab x
check "IPv6 addresses are accepted" ip -n "$a" link add fab0 type closfab local fd09::1 remote fd09::2
check_eq "IPv6 addresses are shown" "$(shown | cut -d ' ' -f 1-4)" "local fd09::1 remote fd09::2"

# ---- up

check_refused "a local address that this host does not have is refused" "assign" ip -n "$a" link set fab0 up
ip -n "$a" link del fab0
ip -n "$a" link add fab0 type closfab
ip -n "$a" link add fab1 type closfab
check "a device goes up" ip -n "$a" link set fab0 up
check_refused "a second one with the same port does not" "in use" ip -n "$a" link set fab1 up
ip -n "$a" link del fab0
check "after the first one is deleted, it does" ip -n "$a" link set fab1 up
finish

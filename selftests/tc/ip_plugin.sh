#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The ip plug-in of closwire, without closwire: parsing, attributes sent, output. shim_ip.c loads it into each available
# version of ip. Runs in its own network namespace.
# Usage: ip_plugin.sh [IP...]    default: the installed ip and the versions in versions.sh
# shellcheck disable=SC2317 # functions are called through check
if [ "${1:-}" != --inside ]; then
	. "$(dirname "$0")/../../tools/common.sh"
	. "$(dirname "$0")/versions.sh"
	if [ $# -eq 0 ]; then
		set -- "$(command -v ip)"
		for suite in $(tc_suites); do
			tc=$(tc_of "$suite")
			[ -z "$tc" ] || set -- "$@" "${tc%/*}/ip"
		done
	fi
	if ! unshare --map-root-user --net true; then
		printf 'TAP version 13\n1..0 # SKIP no network namespace of its own\n'
		exit 4
	fi
	exec unshare --map-root-user --net "$0" --inside "$@"
fi
shift

. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/plugin.sh"

KIND=closwire
settings="rate 10Gbit delay 5us ring 256 loss 0% clock_offset 0s clock_drift 0ppm"

build_shim() {
	${CC:-cc} -Wall -Wextra -Wno-unused-parameter -Werror -O1 -fPIC -shared -fvisibility=hidden \
		-I"$LIB_TOP/include/uapi" "$here/shim_ip.c" "$LIB_TOP"/tools/tc/{link_closwire,options}.c \
		-o "$TMP/link_bridge.so"
}

# run_ip ARGUMENT...: run the ip under test with the shim
run_ip() { CLOSWIRE_ATTRS=$attrs IP_LIB_DIR=$TMP "$IP" "$@"; }

# set_options WORD...: run ip with a user's WORDs; the attributes are written to $attrs
set_options() {
	rm -f "$attrs"
	ip link del w0 2>"$TMP/log" || true
	run_ip link add w0 type bridge "$@"
}

# shown: the settings as the plug-in prints them, without ip's own output
shown() { run_ip -d link show w0 | sed -n 's/^ *bridge \(.*\)addrgenmode.*/\1/p' | sed 's/ *$//'; }

json() { run_ip -d -j link show w0 | jq -cS '.[0].linkinfo.info_data'; }

test_reading() {
	test_sent "RATE:64:1250000000" rate 10gbit
	test_sent "RATE:64:312500000" rate 2.5Gbit
	test_sent "RATE:64:125000000000" rate 1tbit
	test_sent "RATE:64:125" rate 1000
	test_sent "RATE:64:4166667" rate 33.333333333mbit
	test_sent "DELAY:64:5000" delay 5us
	test_sent "DELAY:64:1500" delay 1.5us
	test_sent "DELAY:64:1" delay 1ns
	test_sent "DELAY:64:10000000000" delay 10s
	test_sent "DELAY:64:0" delay 0
	test_sent "RING:32:1024" ring 1024
	test_sent "LOSS:32:4294967" loss 0.1%
	test_sent "LOSS:32:4294967" loss 0.1
	test_sent "LOSS:32:4294967295" loss 100%
	test_sent "LOSS:32:0" loss 0
	test_sent "CLOCK_OFFSET:64:37000000000" clock_offset 37s
	test_sent "CLOCK_OFFSET:64:$(printf %u -5000)" clock_offset -5us
	test_sent "CLOCK_DRIFT:32:10000" clock_drift 10ppm
	test_sent "CLOCK_DRIFT:32:250" clock_drift 250
	test_sent "CLOCK_DRIFT:32:$((2 ** 32 - 250))" clock_drift -250ppb
	test_sent "RATE:64:125000000 DELAY:64:1000000 RING:32:2" rate 1gbit delay 1ms ring 2
}

test_peer() {
	test_sent "PEER(flags:0x0)" peer
	test_sent "PEER(flags:0x0 IFNAME:w1)" peer w1
	test_sent "PEER(flags:0x1 MTU:9000 NUM_TX_QUEUES:4 IFNAME:w1)" \
		peer name w1 mtu 9000 numtxqueues 4 up
	test_sent "RATE:64:1250000000 PEER(flags:0x0 IFNAME:w1 LINKINFO(closwire: RATE:64:125000000 LOSS:32:0))" \
		rate 10gbit peer name w1 type closwire rate 1gbit loss 0
	test_sent "PEER(flags:0x0 IFNAME:w1 LINKINFO(closwire: ))" peer w1 type closwire
}

test_errors() {
	local word
	test_refused 'unknown option "x"' x
	test_refused 'Usage: ip link add NAME' rate 1gbit help
	for word in fast -1gbit 10gb nan inf 1e20gbit ""; do
		test_refused "Illegal \"rate\": \"$word\" is not a rate" rate "$word"
	done
	for word in 5 5m -5us nan infs 1e11s 0.4ns us ""; do
		test_refused "Illegal \"delay\": \"$word\" is not a time with its unit" delay "$word"
	done
	for word in 8p -1 4294967296 1.5 ""; do
		test_refused "Illegal \"ring\": \"$word\" is not a whole number" ring "$word"
	done
	for word in 101% 100.1 -0.1% nan 1e-11% 5%% half ""; do
		test_refused "Illegal \"loss\": \"$word\" is not a percentage" loss "$word"
	done
	for word in 5 1e11s -1e11s -nans ""; do
		test_refused "Illegal \"clock_offset\": \"$word\" is not a time with its unit" clock_offset "$word"
	done
	for word in 3000ppt 2147484ppm -2147484ppm 0.4 ""; do
		test_refused "Illegal \"clock_drift\": \"$word\" is not a drift" clock_drift "$word"
	done
	for word in rate delay ring loss clock_offset clock_drift; do
		test_refused "\"$word\" needs a value" $word
	done
	test_refused 'Error: either "dev" is duplicate, or "rate" is' peer w1 rate 1gbit
	test_refused 'Illegal "peer type": "veth" is not closwire' peer w1 type veth
	test_refused 'unknown option "peer"' peer w1 type closwire peer
	test_refused '"delay" needs a value' peer w1 type closwire delay

	set_options
	rm -f "$attrs"
	check "$NAME: changes a link" run_ip link set w0 type bridge rate 1gbit
	check_eq "$NAME: sends attributes of a change" "$("$here/attrs.py" dump $KIND "$attrs")" "RATE:64:125000000"
	check_refused "$NAME: refuses to change the peer" '"peer" is for ip link add only' \
		run_ip link set w0 type bridge peer w1
	check_eq "$NAME: prints help" "$(run_ip link help bridge 2>&1 | head -n 1 | cut -d ' ' -f 1-4)" \
		"Usage: ip link add"
}

test_printing() {
	test_round "$settings"
	test_round "rate 2500Mbit" rate 2.5gbit
	test_round "rate 1Tbit" rate 1000gbit
	test_round "rate 1008bit" rate 1008
	test_round "delay 1500ns" delay 1.5us
	test_round "delay 10s"
	test_round "loss 0.1%"
	test_round "loss 100%"
	test_round "loss 0.00000002%" loss 2.3283064e-08
	test_round "loss 33.333333%" loss 33.333333
	test_round "clock_offset -5us"
	test_round "clock_offset -9223372036854775807ns"
	test_round "clock_drift -250ppb"
	test_round "clock_drift 10ppm" clock_drift 10000
}

test_json() {
	set_options rate 10gbit delay 5us ring 256 loss 0.1% clock_offset -5us clock_drift -250
	check_eq "$NAME: JSON has base units" "$(json)" "$(jq -cSn '{rate: 1250000000, delay: 5000,
		ring: 256, loss: 0.001, clock_offset: -5000, clock_drift: -250}')"
}

test_foreign_attributes() {
	test_made ""
	test_made "ring 8" RING:32:8 99:32:5
	test_made "delay 5us ring 8" RATE:0:0 DELAY:32:5000 RING:16:8
	test_made "" CLOCK_OFFSET:0:0 CLOCK_DRIFT:16:1 LOSS:0:0
	test_made "clock_offset 5ns clock_drift 1ppm" CLOCK_OFFSET:32:5 CLOCK_DRIFT:64:1000
	test_made "clock_offset -9223372036854775808ns" CLOCK_OFFSET:64:0x8000000000000000
	rm "$attrs"
	check_eq "$NAME: prints nothing for a link without settings" "$(shown)" ""
}

# described: true if ip-link-closwire(8) describes each setting
described() {
	local word missing=0
	for word in $(set_options help 2>&1 | sed -n '/^SETTINGS/,/clock/p' |
		grep -oE '[a-z_]{3,} [A-Z]{3,}' | cut -d' ' -f1); do
		grep -qE "^\\.BI? *\"?$word\\b" "$LIB_TOP/Documentation/man/ip-link-closwire.8" && continue
		echo "it lacks $word"
		missing=1
	done
	[ "$missing" -eq 0 ]
}

build_shim >"$TMP/log" 2>&1 || { cat "$TMP/log" >&2; exit 1; }
for IP in "$@"; do
	NAME=$("$IP" -V | grep -o 'iproute2-[0-9.]*')
	ip link add w0 type bridge || skip_all "the kernel has no bridge for a namespace"
	test_reading
	test_peer
	test_errors
	test_printing
	test_json
	test_foreign_attributes
	ip link del w0
done
check "ip-link-closwire(8) describes all settings" described
finish

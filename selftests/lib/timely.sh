# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for all tests of tcp_timely. A test sources this file after setup_ns.
#
# Most connections run with thresholds that no queue reaches, because an emulated machine is late by milliseconds, which
# tcp_timely would take for congestion. Then only losses reduce the rate, which recovers at once.
# shellcheck disable=SC2016 # awk expands
# shellcheck source=selftests/lib/tcp_cc.sh
. "$(dirname "${BASH_SOURCE[0]}")/tcp_cc.sh"

# high_thresholds: set thresholds that no queue reaches, in an order that is always valid
high_thresholds() { params t_high=1000000 t_low=900000 delta=500 min_rate=10; }

# default_params: restore the initial values; t_low is 1 meanwhile, so that any order of the other values is valid
default_params() {
	params t_low=1
	# shellcheck disable=SC2086 # words
	params $DEFAULTS
}

# stamps NS/DEV 1|0: turn hardware timestamps of all received packets on or off
stamps() { closwire_stamp config "$1" 0 "$2" >/dev/null; }

# stamped COUNT: true once COUNT RTT samples have used the NIC's timestamps. On a machine that is always late, nicclock
# gives no answer.
stamped() {
	mark
	wait_for "$PATIENCE" grown samples_hw "$1"
}
PATIENCE=20
[ -z "${KSFT_MACHINE_SLOW:-}" ] || PATIENCE=-15

# check_stamped NAME COUNT: check that; on a slow machine, skip it and wait less the next time
check_stamped() {
	if stamped "$2"; then
		ok "$1"
	elif [ -n "${KSFT_MACHINE_SLOW:-}" ]; then
		skip "$1" "this machine is too noisy: nicclock is $(nicclock "$a" w0 state)"
		PATIENCE=-28
	else
		not_ok "$1" "$(ip netns exec "$a" cat /proc/net/closnet/{timely,nicclock})"
	fi
}

# nicclock NS DEV COLUMN: column COLUMN of DEV in /proc/net/closnet/nicclock
nicclock() {
	in_ns "$1" awk -v dev="$2" -v column="$3" '
		NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i }
		$1 == dev { print $c[column]; n++ }
		END { exit !n }' /proc/net/closnet/nicclock
}

# clock_is NS DEV STATE: true if DEV's clock has that state
clock_is() { [ "$(nicclock "$1" "$2" state)" = "$3" ]; }

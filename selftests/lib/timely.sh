# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the kselftests of tcp_timely share. A test sources it after setup_ns.
#
# Most connections run with thresholds that no queue reaches: an emulated
# machine is late by milliseconds, which would be congestion. Then the rate only
# falls by losses, and is back at once.
# shellcheck disable=SC2016 # awk expands
# shellcheck source=selftests/lib/tcp_cc.sh
. "$(dirname "${BASH_SOURCE[0]}")/tcp_cc.sh"

# calm_params: see above; thresholds in an order that is always valid
calm_params() { params t_high=1000000 t_low=900000 delta=500 min_rate=10; }

# default_params: what they were at first; t_low is 0 for a moment, so that any order of the others will do
default_params() {
	params t_low=0
	# shellcheck disable=SC2086 # words
	params $DEFAULTS
}

# stamps NS/DEV 1|0: hardware stamps of all that is received, or none
stamps() { closwire_stamp config "$1" 0 "$2" >/dev/null; }

# stamped COUNT: do samples come from the NIC? nicclock does not answer on a machine that is late all the time.
stamped() {
	mark
	wait_for "$PATIENCE" grown samples_hw "$1"
}
PATIENCE=20
[ -z "${KSFT_MACHINE_SLOW:-}" ] || PATIENCE=-15

# check_stamped WHAT COUNT: that, if the machine is not slow; if it is, the next time it gets less patience
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

# nicclock NS DEV COLUMN: of /proc/net/closnet/nicclock
nicclock() {
	in_ns "$1" awk -v dev="$2" -v column="$3" '
		NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i }
		$1 == dev { print $c[column]; n++ }
		END { exit !n }' /proc/net/closnet/nicclock
}

# clock_is NS DEV STATE
clock_is() { [ "$(nicclock "$1" "$2" state)" = "$3" ]; }

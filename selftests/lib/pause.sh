# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Pause frames from w1 in b to w0 in a. A test sources this after wire_ab with a
# rate of 1 Gbit/s.
# shellcheck disable=SC2154 # setup_ns sets a and b

paused=0
# pause PRIO=QUANTA...: w1 sends one, and w0 has got it; a test that has w1 send others counts them in $paused
pause() {
	closwire_raw pause -s "$b/w1" "$@"
	paused=$((paused + 1))
	wait_for 5 at_least $paused mac_ctrl "$a/w0" MACControlFramesReceived
}

# slow_pause PRIO: for more than five minutes
slow_pause() {
	wire_set "$a/w0" rate 100kbit
	pause "$1=65535"
	wire_set "$a/w0" rate 1gbit
}

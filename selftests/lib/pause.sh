# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# PFC pause frames from w1 in b to w0 in a. A test sources this file after wire_ab with a rate of 1 Gbit/s.
# shellcheck disable=SC2154 # setup_ns sets a and b

paused=0
# pause PRIO=QUANTA...: send a pause frame from w1 and wait until w0 has received it. $paused counts
# these frames; a test that sends more of them from w1 adds their number.
pause() {
	closwire_raw pause -s "$b/w1" "$@"
	paused=$((paused + 1))
	wait_for 5 at_least $paused mac_ctrl "$a/w0" MACControlFramesReceived
}

# slow_pause PRIO: pause it for more than five minutes
slow_pause() {
	wire_set "$a/w0" rate 100kbit
	pause "$1=65535"
	wire_set "$a/w0" rate 1gbit
}

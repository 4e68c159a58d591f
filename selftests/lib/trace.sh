# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Trace events of our modules, for the tests that source this after lib.sh

TRACEFS=/sys/kernel/tracing

# trace_events SYSTEM: has the kernel trace its events until the test ends
trace_events() {
	[ -d $TRACEFS/events ] || mount -t tracefs tracefs $TRACEFS 2>/dev/null || return
	[ -d "$TRACEFS/events/$1" ] || return
	echo 4096 >$TRACEFS/buffer_size_kb
	# in the order of time, in ns, also where that is virtual
	echo mono >$TRACEFS/trace_clock
	defer "echo 0 >$TRACEFS/events/$1/enable; : >$TRACEFS/trace"
	echo 1 >"$TRACEFS/events/$1/enable"
}

# traced EVENT: the lines of this event
traced() { grep -F " $1: " $TRACEFS/trace; }

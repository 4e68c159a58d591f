# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Trace events of closnet's modules. A test sources this file after lib.sh.

TRACEFS=/sys/kernel/tracing

# trace_events SYSTEM: trace the events of SYSTEM until the test ends
trace_events() {
	[ -d $TRACEFS/events ] || mount -t tracefs tracefs $TRACEFS 2>/dev/null || return
	[ -d "$TRACEFS/events/$1" ] || return
	echo 4096 >$TRACEFS/buffer_size_kb
	# ordered by time in ns, even in virtual time
	echo mono >$TRACEFS/trace_clock
	defer "echo 0 >$TRACEFS/events/$1/enable; : >$TRACEFS/trace"
	echo 1 >"$TRACEFS/events/$1/enable"
}

# traced EVENT: print the lines of this event
traced() { grep -F " $1: " $TRACEFS/trace; }

# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the kselftests of tcp_timely share. A test sources it after setup_ns.
# shellcheck disable=SC2016 # awk expands
#
# Most connections run with thresholds that no queue reaches: an emulated
# machine is late by milliseconds, which would be congestion. Then the rate only
# falls by losses, and is back at once.

PARAMETERS=/sys/module/tcp_timely/parameters

# params NAME=VALUE...: module parameters; they are what they were when the test ends
params() {
	local word
	for word in "$@"; do
		echo "${word#*=}" >"$PARAMETERS/${word%%=*}" || return
	done
}

# calm_params: see above; thresholds in an order that is always valid
calm_params() { params t_high=1000000 t_low=900000 delta=500 min_rate=10; }

# current_params: as words for `params`
current_params() { grep -H . $PARAMETERS/* | sed 's/.*\/\(.*\):/\1=/'; }

DEFAULTS=$(current_params)
defer default_params

# default_params: as they were; t_low is 0 for a moment, so that any order of the others will do
default_params() {
	params t_low=0
	# shellcheck disable=SC2086 # words
	params $DEFAULTS
}

# stamps NS/DEV 1|0: hardware stamps of all that is received, or none
stamps() { closwire_stamp config "$1" 0 "$2" >/dev/null; }

# flow STEP...: a connection from a to b; FLOW are more options
FLOW=()
# shellcheck disable=SC2154 # setup_ns sets a and b
flow() { timely_flow -s "$a" -r "$b" -d 10.0.0.2 ${FLOW[@]+"${FLOW[@]}"} "$@"; }

# timely NAME [NS]: a counter of /proc/net/closnet/timely, of namespace a if it is not said
timely() {
	ip netns exec "${2:-$a}" awk -v name="$1" '$1 == name { print $2; n++ } END { exit !n }' \
		/proc/net/closnet/timely
}

# mark: `since` counts from here on
mark() { ip netns exec "$a" cat /proc/net/closnet/timely >"$TMP/mark"; }

# since NAME: how far a counter has come since `mark`
since() { echo $(($(timely "$1") - $(awk -v name="$1" '$1 == name { print $2 }' "$TMP/mark"))); }

# grown NAME COUNT: has it come so far?
grown() { [ "$(since "$1")" -ge "$2" ]; }

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
	ip netns exec "$1" awk -v dev="$2" -v column="$3" '
		NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i }
		$1 == dev { print $c[column]; n++ }
		END { exit !n }' /proc/net/closnet/nicclock
}

# clock_is NS DEV STATE
clock_is() { [ "$(nicclock "$1" "$2" state)" = "$3" ]; }

# info PORT: what ss shows of the sender's connections to it
info() { ip netns exec "$a" ss -Htine "dport = $1"; }

# shellcheck disable=SC2017 # rounded as the module does it
# line_rate MBPS: the rate that ss shows of a connection which has all of a line: what 1448 bytes are of a frame's 1538
line_rate() { echo $(($1 * 125000 * ((1448 << 16) / 1538) / 65536 * 8)); }

# INFO: the step that prints this, of port 5001
# shellcheck disable=SC2034 # for the tests
INFO="run=ip netns exec $a ss -Htine dport = 5001"

# long_flow STEP...: connects, does these steps, and sends in the background until end_flow
long_flow() {
	rm -f "$TMP/stop" "$TMP/started" "$TMP/status"
	job long_flow_job "$@"
	wait_for 30 test -e "$TMP/started"
}
long_flow_job() {
	local status=0
	flow -t 140 "$@" "run=touch $TMP/started" "until=$TMP/stop" close eof >"$TMP/long" 2>&1 || status=$?
	echo $status >"$TMP/status"
}

# end_flow: its status is the connection's
end_flow() {
	touch "$TMP/stop"
	wait_for 60 test -s "$TMP/status" || return
	[ "$(<"$TMP/status")" = 0 ] || { cat "$TMP/long" && return 1; }
}

TRACEFS=/sys/kernel/tracing

# trace_timely: has the kernel trace tcp_timely's events until the test ends
trace_timely() {
	[ -d $TRACEFS/events ] || mount -t tracefs tracefs $TRACEFS 2>/dev/null || return
	[ -d $TRACEFS/events/timely ] || return
	echo 4096 >$TRACEFS/buffer_size_kb
	defer "echo 0 >$TRACEFS/events/timely/enable; : >$TRACEFS/trace"
	echo 1 >$TRACEFS/events/timely/enable
}

# traced EVENT: the lines of this event
traced() { grep -F " $1: " $TRACEFS/trace; }

# ss_number WORD: the first number after WORD in what ss shows
ss_number() { grep -oE "[ (,]$1:[0-9.]+" | head -n 1 | cut -d : -f 2; }

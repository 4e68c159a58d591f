# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for all tests of congestion controls. A test sources this file after need_cc and setup_ns a b; CC names the
# congestion control.
# shellcheck disable=SC2016,SC2154 # awk expands; setup_ns sets a and b

PARAMETERS=/proc/sys/net/ipv4/tcp_$CC

# write_params NAME=VALUE...: set sysctls in this process's network namespace
write_params() {
	local word
	for word in "$@"; do
		echo "${word#*=}" >"$PARAMETERS/${word%%=*}" || return
	done
}

# params NAME=VALUE...: set sysctls in namespaces a and b
params() {
	local ns
	for ns in "$a" "$b"; do
		in_ns "$ns" bash -c "PARAMETERS=$PARAMETERS; $(declare -f write_params)"'; write_params "$@"' params "$@" || return
	done
}

# current_params: print this process's sysctls as words for `params`
current_params() { grep -H . "$PARAMETERS"/* | sed 's/.*\/\(.*\):/\1=/'; }

# params_of NS NAME...: print the values of sysctls in NS on one line
params_of() {
	local ns=$1
	shift
	in_ns "$ns" cat "${@/#/$PARAMETERS/}" | xargs
}

DEFAULTS=$(current_params)

# default_params: restore the initial values in a and b
# shellcheck disable=SC2086 # words
default_params() { params $DEFAULTS; }

# closed: true if all connections have ended. If a namespace is deleted while the peer waits for the ACK of its FIN, the
# peer waits for minutes and holds the module.
closed() {
	local ns
	for ns in "$a" "$b"; do
		! in_ns "$ns" ss -Htn state connected exclude time-wait | grep -q . || return
	done
}
defer "wait_for 30 closed"

# flow STEP...: open a connection from a to b and run STEPs on it; FLOW: additional options of tcp_flow
# shellcheck disable=SC2034 # for the tests
FLOW=()
# shellcheck disable=SC2154 # setup_ns sets a and b
flow() { tcp_flow -s "$a" -r "$b" -d 10.0.0.2 ${FLOW[@]+"${FLOW[@]}"} "$@"; }

# cc_counter NAME [NS]: counter NAME of /proc/net/closnet/CC in NS, by default in a
cc_counter() {
	in_ns "${2:-$a}" awk -v name="$1" '$1 == name { print $2; n++ } END { exit !n }' \
		"/proc/net/closnet/$CC"
}

# mark: remember the counters as the base of `since`
mark() { in_ns "$a" cat "/proc/net/closnet/$CC" >"$TMP/mark"; }

# since NAME: increase of a counter since `mark`
since() {
	in_ns "$a" awk -v name="$1" '$1 == name { n = $2 - n; k++ } END { print n; exit k != 2 }' \
		"$TMP/mark" "/proc/net/closnet/$CC"
}

# grown NAME COUNT: true once the counter has increased by at least COUNT since `mark`
grown() { [ "$(since "$1")" -ge "$2" ]; }

# info PORT: output of ss for the sender's connections to PORT
info() { in_ns "$a" ss -Htine "dport = $1"; }

# shellcheck disable=SC2017 # rounded as the module does it
# line_rate MBPS: the rate, in bit/s, that ss shows for a connection that uses a whole link: 1448 of the 1538 bytes of
# each frame are data
line_rate() { echo $(($1 * 125000 * ((1448 << 16) / 1538) / 65536 * 8)); }

# INFO: the step that prints the output of ss for port 5001
# shellcheck disable=SC2034 # for the tests
INFO="run=ip netns exec $a ss -Htine dport = 5001"

# long_flow STEP...: connect, run STEPs, and send in the background until end_flow
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

# end_flow: end the background connection and return its status
end_flow() {
	touch "$TMP/stop"
	wait_for 60 test -s "$TMP/status" || return
	[ "$(<"$TMP/status")" = 0 ] || { cat "$TMP/long" && return 1; }
}

. "$(dirname "${BASH_SOURCE[0]}")/trace.sh"

# trace_cc: trace the congestion control's events until the test ends
trace_cc() { trace_events "$CC"; }

# ss_number WORD: the first number after WORD in the output of ss on standard input
ss_number() { grep -oE "[ (,]$1:[0-9.]+" | head -n 1 | cut -d : -f 2; }

# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Sockets get and lose a congestion control in every possible way, and the module can be unloaded when the last socket
# has lost it. A test sources this file after lib/tcp_cc.sh and wire_ab, calls functions that begin with test_, and
# checks the other promises of its congestion control.
# shellcheck disable=SC2317,SC2154 # setup_ns sets a and b; functions are called through check and wait_for

# unused: true if the module has no users. A closed connection ends a little later.
unused() { [ "$(<"/sys/module/tcp_$CC/refcnt")" -eq 0 ]; }

# test_sockets: sockets that change their congestion control
test_sockets() {
	local often=() i
	check "socket with data in flight switches to other congestion controls and back" \
		flow "cc=$CC" connect send=500000 \
		fill cc=cubic is=cubic receive send=500000 \
		fill "cc=$CC" "is=$CC" receive send=500000 \
		fill cc=reno receive fill "cc=$CC" receive close eof
	check_eq "each switch to $CC counts as a new connection" "$(cc_counter connections)" 3
	mark
	check "socket switches from cubic while it sends" flow cc=cubic connect send=500000 "cc=$CC" send=1000000 close eof
	for ((i = 0; i < 30; i++)); do
		often+=(fill cc=reno fill "cc=$CC" receive)
	done
	check "socket switches 30 times" flow "cc=$CC" connect "${often[@]}" close eof
	check "socket that never connects has the congestion control" flow "cc=$CC" "is=$CC"
	check "socket that switches before connect() uses the last congestion control" \
		flow "cc=$CC" cc=reno connect is=reno send=100000 close eof
	mark
	check "disconnected socket connects again" \
		flow "cc=$CC" connect send=500000 disconnect connect "is=$CC" send=500000 close eof
	check_eq "second connect() counts as a new connection" "$(since connections)" 2
	check "socket disconnected with data in flight connects again" \
		flow "cc=$CC" connect send=500000 fill disconnect connect "is=$CC" send=500000 close eof
	check "socket with data in flight survives TCP_REPAIR" \
		flow "cc=$CC" connect send=500000 fill repair receive send=500000 close eof
	check "module is unused after all connections have ended" wait_for 10 unused
}

# test_bursts: after a switch, the next congestion control's bursts are as large as the device allows
test_bursts() {
	local kb event=$TRACEFS/events/net/net_dev_queue/enable
	kb=$(params_of "$a" seg_kb)
	# largest FILE: size in bytes of the largest packet that the stack has passed to a device
	largest() { sed -n 's/.* net_dev_queue: .* len=\([0-9]*\).*/\1/p' "$TMP/$1" | sort -n | tail -n 1; }
	[ -e "$event" ] || mount -t tracefs tracefs "$TRACEFS" 2>/dev/null || true
	if [ -e "$event" ]; then
		defer "echo 0 >$event; : >$TRACEFS/trace"
		: >"$TRACEFS/trace"
		echo 1 >"$event"
		params seg_kb=4
		check "socket switches to cubic while it sends" flow "cc=$CC" connect send=500000 \
			"run=cp $TRACEFS/trace $TMP/own; : >$TRACEFS/trace" cc=cubic send=1000000 \
			"run=cp $TRACEFS/trace $TMP/other" close eof
		params "seg_kb=$kb"
		echo 0 >"$event"
		check "seg_kb limits the bursts of $CC" test "$(largest own)" -le 4096
		check "bursts are unlimited after the switch to cubic" test "$(largest other)" -gt 10000
	else
		skip "bursts are unlimited after the switch to cubic" "no tracefs"
	fi
}

# test_listener: connections inherit the congestion control of their listening socket
test_listener() {
	local before
	before=$(cc_counter connections "$b")
	check "accepted connection inherits the listener's congestion control" \
		flow "listener-cc=$CC" connect swap "is=$CC" send=1000000 close eof
	check_eq "accepted connection is counted" $(($(cc_counter connections "$b") - before)) 1
	check "accepted connection ends when the peer closes it" \
		flow "listener-cc=$CC" connect send=500000 close eof
}

# test_namespace: a network namespace is deleted while it has a connection
test_namespace() {
	ip netns add "$a-new"
	defer "ip netns del $a-new 2>/dev/null"
	ip -n "$a-new" link set lo up
	job tcp_flow -s "$a-new" -r "$a-new" -d 127.0.0.1 "cc=$CC" max-rate=1000000 connect send=300000 \
		"run=touch $TMP/started" "until=$TMP/stop"
	check "connection starts in a new namespace" wait_for 30 test -e "$TMP/started"
	ip netns del "$a-new"
	check_refused "module stays in use after the namespace's name is deleted" "is in use" rmmod "tcp_$CC"
	stop_jobs
	check "module is unused when the last process of the namespace has ended" wait_for 30 unused
}

# reload_often: unload and load the module 5 times, with a connection each time
reload_often() {
	local i
	for i in 1 2 3 4 5; do
		rmmod "tcp_$CC" && load_module "tcp_$CC" || return
		flow -p 5002 "cc=$CC" connect send=200000 close eof || return
		wait_for 30 unused || return
	done
}

# test_module: the module can be unloaded only while no connection uses it
test_module() {
	local options=(${FLOW[@]+"${FLOW[@]}"})
	# a rate that leaves time for other connections and for a debug kernel
	long_flow "cc=$CC" max-rate=1000000 connect send=300000
	check_refused "module of an open connection cannot be unloaded" "is in use" rmmod "tcp_$CC"
	check "connection survives the attempt to unload its module" end_flow
	check "module is unused after its last connection" wait_for 30 unused
	FLOW=()
	long_flow cc=cubic max-rate=1000000 connect send=300000
	FLOW=(${options[@]+"${options[@]}"})
	check "module is reloaded while cubic has a connection" reload_often
	check_eq "reloaded module counts from zero" "$(cc_counter connections)" 1
	check "cubic's connection survives reloads of the module" end_flow
}

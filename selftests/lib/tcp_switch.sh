# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Sockets get and lose a congestion control in each way there is, and the
# module goes when the last one has lost it. A test sources this after
# lib/tcp_cc.sh and wire_ab, calls the functions that test_ begins, and checks
# what else its congestion control promises.
# shellcheck disable=SC2317,SC2154 # setup_ns sets a and b; functions are called through check and wait_for

# unused: does nothing refer to the module? A closed connection ends a little later.
unused() { [ "$(<"/sys/module/tcp_$CC/refcnt")" -eq 0 ]; }

# test_sockets: one after the other
test_sockets() {
	local often=() i
	check "to others and back, with data in flight" flow "cc=$CC" connect send=500000 \
		fill cc=cubic is=cubic receive send=500000 \
		fill "cc=$CC" "is=$CC" receive send=500000 \
		fill cc=reno receive fill "cc=$CC" receive close eof
	check_eq "each time is a beginning" "$(cc_counter connections)" 3
	mark
	check "from another one, while it sends" flow cc=cubic connect send=500000 "cc=$CC" send=1000000 close eof
	for ((i = 0; i < 30; i++)); do
		often+=(fill cc=reno fill "cc=$CC" receive)
	done
	check "switched often" flow "cc=$CC" connect "${often[@]}" close eof
	check "set, never connected" flow "cc=$CC" "is=$CC"
	check "set, another one set, connected" flow "cc=$CC" cc=reno connect is=reno send=100000 close eof
	mark
	check "disconnected, and used again" flow "cc=$CC" connect send=500000 disconnect connect "is=$CC" send=500000 close eof
	check_eq "as a new connection" "$(since connections)" 2
	check "disconnected with data in flight, and used again" \
		flow "cc=$CC" connect send=500000 fill disconnect connect "is=$CC" send=500000 close eof
	check "TCP_REPAIR, with data in flight" flow "cc=$CC" connect send=500000 fill repair receive send=500000 close eof
	check "all have gone" wait_for 10 unused
}

# test_bursts: those of the next one are as large as the device allows
test_bursts() {
	local kb event=$TRACEFS/events/net/net_dev_queue/enable
	kb=$(params_of "$a" seg_kb)
	# largest FILE: bytes of the largest packet that the stack has handed to a device
	largest() { sed -n 's/.* net_dev_queue: .* len=\([0-9]*\).*/\1/p' "$TMP/$1" | sort -n | tail -n 1; }
	[ -e "$event" ] || mount -t tracefs tracefs "$TRACEFS" 2>/dev/null || true
	if [ -e "$event" ]; then
		defer "echo 0 >$event; : >$TRACEFS/trace"
		: >"$TRACEFS/trace"
		echo 1 >"$event"
		params seg_kb=4
		check "to another one, while it sends" flow "cc=$CC" connect send=500000 \
			"run=cp $TRACEFS/trace $TMP/own; : >$TRACEFS/trace" cc=cubic send=1000000 \
			"run=cp $TRACEFS/trace $TMP/other" close eof
		params "seg_kb=$kb"
		echo 0 >"$event"
		check "its own bursts are as it wants them" test "$(largest own)" -le 4096
		check "those of the other one are not" test "$(largest other)" -gt 10000
	else
		skip "the next one's bursts" "no tracefs"
	fi
}

# test_listener: a listening socket hands it on
test_listener() {
	local before
	before=$(cc_counter connections "$b")
	check "a listener hands it on" flow "listener-cc=$CC" connect swap "is=$CC" send=1000000 close eof
	check_eq "to the connection" $(($(cc_counter connections "$b") - before)) 1
	check "one that is closed by the other side" flow "listener-cc=$CC" connect send=500000 close eof
}

# test_namespace: one goes with a connection in it
test_namespace() {
	ip netns add "$a-new"
	defer "ip netns del $a-new 2>/dev/null"
	ip -n "$a-new" link set lo up
	job tcp_flow -s "$a-new" -r "$a-new" -d 127.0.0.1 "cc=$CC" max-rate=1000000 connect send=300000 \
		"run=touch $TMP/started" "until=$TMP/stop"
	check "a connection in a namespace" wait_for 30 test -e "$TMP/started"
	ip netns del "$a-new"
	check_refused "whose name goes: the module is in use" "is in use" rmmod "tcp_$CC"
	stop_jobs
	check "when its process goes, too, it is not" wait_for 30 unused
}

# come_and_go: the module, with a connection each time
come_and_go() {
	local i
	for i in 1 2 3 4 5; do
		rmmod "tcp_$CC" && load_module "tcp_$CC" || return
		flow -p 5002 "cc=$CC" connect send=200000 close eof || return
		wait_for 30 unused || return
	done
}

# test_module: it stays while it is used, and goes then
test_module() {
	local options=(${FLOW[@]+"${FLOW[@]}"})
	# not so fast that the others, or a debugging kernel, have no time
	long_flow "cc=$CC" max-rate=1000000 connect send=300000
	check_refused "a connection: the module stays" "is in use" rmmod "tcp_$CC"
	check "the connection goes on to its end" end_flow
	check "then it is not in use" wait_for 30 unused
	FLOW=()
	long_flow cc=cubic max-rate=1000000 connect send=300000
	FLOW=(${options[@]+"${options[@]}"})
	check "it goes and comes under others' connections" come_and_go
	check_eq "as new" "$(cc_counter connections)" 1
	check "they have all their bytes" end_flow
}

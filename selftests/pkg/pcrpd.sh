#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# pcrpd(8) with a stand-in for the kernel (pcrp_genl_file.c): thresholds follow the agents' counts; either side is
# killed and restarted, the module is unloaded and loaded; wrong keys, a bad network, bad input, too many agents; bad
# configurations; the systemd units. Runs on the host, in its own network namespace, under ASan and UBSan.
# With the kernel: selftests/net/pcrpd_kernel.sh.
# shellcheck disable=SC2317 # functions are called through check and wait_for
if [ "${1-}" != inside ]; then
	user=()
	[ "$(id -u)" -eq 0 ] || user=(--user --map-root-user)
	unshare "${user[@]}" --net true 2>/dev/null || { echo "1..0 # SKIP no network namespaces" && exit 4; }
	exec unshare "${user[@]}" --net "$0" inside
fi
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../tc/page.sh"
here=$LIB_TOP/selftests/pkg
ip link set lo up
# the aggregator must accept IPv4 in spite of this
echo 1 >/proc/sys/net/ipv6/bindv6only
SANITIZE=-fsanitize=address,undefined
make -s -C "$LIB_TOP/tools/pcrpd" O="$TMP/bin" GENL="$here/pcrp_genl_file.c" \
	CFLAGS="-O1 -g $SANITIZE -fno-sanitize-recover=all" || exit 1
PATH=$TMP/bin:$PATH
key=$TMP/key
other_key=$TMP/other_key
(umask 077 && printf '%064x\n' 4711 >"$key" && printf '%064x\n' 4712 >"$other_key")
PORT=61201
# the aggregator forgets an agent that is silent for ten periods, so a slow machine needs longer ones
PERIOD=${KSFT_MACHINE_SLOW:+500}
PERIOD=${PERIOD:-100}

# ---- the two roles

# aggregator_config SETTING...: write the aggregator's configuration; SETTINGs are JSON
aggregator_config() {
	local all=("\"period_ms\": $PERIOD" "\"status\": \"$TMP/aggregator.json\"" "$@")
	(IFS=, && printf '{ %s }\n' "${all[*]}") >"$TMP/aggregator.conf"
}

# start_aggregator: start the aggregator; its PID is $aggregator
start_aggregator() {
	rm -f "$TMP/aggregator.json"
	pcrpd aggregator -c "$TMP/aggregator.conf" -k "$key" 2>>"$TMP/aggregator.log" &
	aggregator=$!
	JOBS+=("$aggregator")
	wait_for 10 test -e "$TMP/aggregator.json"
}

# agent NAME ADDRESS [PORT [KEY]]: start an agent whose kernel is the file NAME; its PID is $agent
agent() {
	rm -f "$TMP/$1.json"
	printf '{ "aggregator": "%s", "port": %d, "period_ms": %d, "status": "%s" }\n' "$2" "${3:-$PORT}" "$PERIOD" \
		"$TMP/$1.json" >"$TMP/$1.conf"
	PCRPD_KERNEL=$TMP/$1 pcrpd agent -c "$TMP/$1.conf" -k "${4:-$key}" 2>>"$TMP/$1.log" &
	agent=$!
	JOBS+=("$agent")
}

# kill_process PID: kill a process without giving it time to send a last message
kill_process() {
	kill -KILL "$1"
	wait "$1" 2>/dev/null || true
}

# counts NAME "CLASS FLOWS"...: set the counts of the kernel NAME
counts() {
	printf '%s\n' "${@:2}" >"$TMP/$1.new"
	mv "$TMP/$1.new" "$TMP/$1"
}

# status NAME KEY: print a value of status file NAME
status() { jq -c ".$2" "$TMP/$1.json"; }
# status_is NAME KEY VALUE: true if the value equals VALUE
status_is() { [ "$(status "$1" "$2")" = "$3" ]; }
# more NAME KEY THAN: true if the value is above THAN
more() { [ "$(status "$1" "$2")" -gt "$3" ]; }

# check_status TEST-NAME NAME KEY VALUE: check that the value becomes VALUE
check_status() {
	if wait_for 10 status_is "$2" "$3" "$4"; then
		ok "$1"
	else
		not_ok "$1" "$3 is $(status "$2" "$3"), not $4; $(<"$TMP/$2.log")"
	fi
}

# has NAME THRESHOLD...: true if the kernel NAME has these thresholds
has() { [ "$(cat "$TMP/$1.set" 2>/dev/null)" = "${*:2}" ]; }

# check_thresholds TEST-NAME NAME THRESHOLD...: check that the kernel NAME gets these thresholds
check_thresholds() {
	if wait_for 10 has "${@:2}"; then
		ok "$1"
	else
		not_ok "$1" "has $(cat "$TMP/$2.set" 2>&1), not ${*:3}; $(<"$TMP/$2.log")"
	fi
}

# some_periods: wait until the aggregator has received three more reports from each of two agents
some_periods() {
	wait_for 10 more aggregator reports $(($(status aggregator reports) + 6)) ||
		not_ok "aggregator receives reports" "$(cat "$TMP/aggregator.json" "$TMP/aggregator.log")"
}

# ---- normal operation

aggregator_config '"periods": 1000'
start_aggregator
ln -s "$TMP/victim" "$TMP/a.json.new"
agent a 127.0.0.1
agent_a=$agent
check_status "agent reports a missing module" a kernel '"stand-in: No such file or directory"'
check "agent does not follow a symbolic link when it writes its status" test ! -e "$TMP/victim"
counts a "8 1000" "11 1000"
counts b "15 1000" "21 1000"
agent b ::1
check_status "agent reports a module without thresholds as fine" a kernel '"fine"'
check_status "agents reach the aggregator over IPv4 and IPv6" aggregator agents 2
some_periods
check_eq "flows that ended before the agents started are not counted" "$(status aggregator flows)" 0
check "no thresholds are set without counted flows" test ! -e "$TMP/a.set" -a ! -e "$TMP/b.set"
counts a "8 1025" "11 1025"
counts b "15 1025" "21 1025"
check_thresholds "first agent gets the quartiles of both agents' flows" a 250 2007 32112
check_thresholds "second agent gets the quartiles of both agents' flows" b 250 2007 32112
check_status "agent's status has the thresholds" a thresholds_bytes "[250,2007,32112]"
check_status "aggregator's status has the thresholds" aggregator thresholds_bytes "[250,2007,32112]"
check_status "aggregator's status has the number of flows" aggregator flows 100
counts a "8 1025" "11 1025" "5 100"
check_thresholds "more flows change the thresholds of the first agent" a 23 31 2007
check_thresholds "more flows change the thresholds of the second agent" b 23 31 2007

# ---- failures and recovery

thresholds_are() { has a 23 31 2007 && has b 23 31 2007; }
kill_process "$aggregator"
check "agents notice that the aggregator died" wait_for 10 more a unanswered 4
# on a slow machine, earlier periods may have passed without an answer
check_eq "agent logs once that the aggregator does not answer" \
	"$(grep -c "does not answer" "$TMP/a.log")" $(($(grep -c "answers again" "$TMP/a.log") + 1))
check "thresholds stay without an aggregator" thresholds_are
start_aggregator
check_status "agents reach the restarted aggregator" aggregator agents 2
some_periods
check "agent logs that the aggregator answers again" grep -q "answers again" "$TMP/a.log"
check_eq "restarted aggregator has no thresholds with few flows" "$(status aggregator thresholds_bytes)" null
check "thresholds stay while the restarted aggregator has none" thresholds_are
counts b "15 1025" "21 1025" "18 200" "19 200"
check_thresholds "restarted aggregator sets thresholds with enough flows" a 195952 261488 391905
some_periods

kill_process "$agent_a"
counts a "8 1025" "11 1025" "5 1000"
agent a 127.0.0.1
agent_a=$agent
some_periods
counts a "8 1025" "11 1025" "5 1400"
check_thresholds "flows of a restarted agent are counted from its start" b 23 31 261488
mv "$TMP/a" "$TMP/gone"
check_status "agent reports that the module is gone" a kernel '"stand-in: No such file or directory"'
check_eq "agent's status has no thresholds without the module" "$(status a thresholds_bytes)" null
rm "$TMP/a.set"
counts a "5 10"
check_status "agent reports that the module is back" a kernel '"fine"'
check_thresholds "thresholds are restored after the module is back" a 23 31 261488
: >"$TMP/a.refuses"
rm "$TMP/a.set"
check_status "agent reports that it may not set thresholds" a kernel '"stand-in: Operation not permitted"'
some_periods
check_eq "agent logs once that it may not set thresholds" "$(grep -c "not permitted" "$TMP/a.log")" 1
rm "$TMP/a.refuses"
check_thresholds "agent sets thresholds once it may" a 23 31 261488

# ---- wrong keys and malformed datagrams

counts c "30 1000"
agent c 127.0.0.1 $PORT "$other_key"
check "aggregator refuses reports with another key" wait_for 10 more aggregator forged 2
counts c "30 2000"
check "aggregator refuses further reports with another key" wait_for 10 more aggregator forged 5
check_eq "agent with another key gets no answer" "$(status c answers)" 0
check "agent with another key sets no thresholds" test ! -e "$TMP/c.set"
kill "$agent"
# an aggregator with another key is as useless as a dead one
printf '{ "port": 61210, "period_ms": %d }\n' "$PERIOD" >"$TMP/wrong.conf"
job pcrpd aggregator -c "$TMP/wrong.conf" -k "$other_key" 2>/dev/null
agent c 127.0.0.1 61210
check "agent counts answers with another key as missing" wait_for 10 more c unanswered 3
check_eq "agent accepts no thresholds with another key" "$(status c thresholds_bytes)" null
kill "$agent"

# send_random LENGTH FIRST-BYTE: send a random datagram to the aggregator
send_random() {
	{ echo -ne "\\x$2" && head -c "$1" /dev/urandom; } | dd bs=2000 iflag=fullblock >/dev/udp/127.0.0.1/$PORT
} 2>/dev/null
before=$(status aggregator malformed)
for length in 0 1 31 95 367 399 400 401 1400; do send_random $((length > 0 ? length - 1 : 0)) 01; done
send_random 399 02
check "aggregator counts malformed datagrams" wait_for 10 more aggregator malformed $((before + 4))
check_status "aggregator counts datagrams of another version" aggregator other_version 1
some_periods
check "malformed datagrams do not change thresholds" has a 23 31 261488

# ---- too many agents

stop_jobs
aggregator_config '"agents": 2'
start_aggregator
rm -f "$TMP"/?.set
agent a 127.0.0.1
agent b ::1
check_status "aggregator accepts the maximum number of agents" aggregator agents 2
some_periods
agent c 127.0.0.1
check "aggregator refuses reports of one more agent" wait_for 10 more aggregator no_room 3
check_eq "aggregator does not accept one more agent" "$(status aggregator agents)" 2
counts a "5 10" "8 25" "11 25" "15 25" "21 25"
check_thresholds "accepted agents get thresholds" b 250 2007 32112
kill "$agent"

# ---- thresholds follow the workload

stop_jobs
aggregator_config '"periods": 10'
start_aggregator
rm -f "$TMP"/?.set
agent a 127.0.0.1
wait_for 10 more aggregator reports 2
counts a "5 10" "8 50" "11 50" "15 50" "21 50"
check_thresholds "thresholds are set by recent flows" a 250 2007 32112
check_thresholds "thresholds have one level when no flow is recent" a 1 1099511627775 1099511627776
counts a "5 10" "8 50" "11 50" "15 50" "21 50" "20 1000"
check_thresholds "a class with most flows has a level of its own" a 524287 1048575 1048576

# ---- a bad network

stop_jobs
aggregator_config '"periods": 1000'
start_aggregator
rm -f "$TMP"/?.set
counts a "8 50" "11 50"
job "$here/udp_chaos.py" 61211 $PORT
agent a 127.0.0.1 61211
agent b 127.0.0.1 61211
wait_for 30 more aggregator reports 10
for ((i = 1; i <= 60; i++)); do
	counts a "8 $((50 + 5 * i))" "11 $((50 + 5 * i))"
	counts b "15 $((1025 + 5 * i))" "21 $((1025 + 5 * i))" "18 200" "19 200"
	wait_for 10 more a reports $(($(status a reports) + 1))
done
check_status "each flow is counted once over a bad network" aggregator flows 1200
check_thresholds "first agent gets thresholds over a bad network" a 255 2044 32713
check_thresholds "second agent gets thresholds over a bad network" b 255 2044 32713
for kind in replayed forged; do
	check "aggregator counts $kind datagrams" more aggregator $kind 5
	check "agent counts $kind datagrams" more a $kind 5
done

# ---- termination

check_refused "second aggregator fails because the port is in use" \
	"cannot listen on \"::\", port $PORT: Address already in use" \
	timeout 10 pcrpd aggregator -c "$TMP/aggregator.conf" -k "$key"
# ends NAME PID: check that the process exits with status 0 after SIGTERM
ends() {
	local status=0
	kill "$2"
	wait_for 10 test ! -e "/proc/$2" || kill -KILL "$2"
	wait "$2" || status=$?
	check_eq "$1" $status 0
}
ends "aggregator exits after SIGTERM" "$aggregator"
ends "agent exits after SIGTERM" "$agent"
counts c "30 1000"
: >"$TMP/c.slow"
agent c 127.0.0.1
wait_for 10 more c reports 3
ends "agent that is always late exits after SIGTERM" "$agent"
stop_jobs
check "sanitizers report no error" test -z "$(grep -hE 'ERROR: |runtime error' "$TMP"/*.log)"

# ---- bad configurations

conf=$TMP/x.conf
# refused NAME MESSAGE COMMAND...: check that COMMAND exits with status 2 and prints MESSAGE
refused() {
	local name=$1 message=$2 status=0
	shift 2
	"$@" >"$TMP/out" 2>&1 || status=$?
	check_eq "$name exits with status 2" $status 2
	check "$name prints '$message'" grep -qF -- "$message" "$TMP/out"
}

# bad ROLE JSON MESSAGE: check that the configuration is refused with MESSAGE
bad() {
	printf '%s\n' "$2" >"$conf"
	refused "$1 with ${2//$'\n'/ }" "$3" pcrpd "$1" -t -c "$conf" -k "$key"
}

# good ROLE JSON: check that the configuration is accepted
good() {
	printf '%s\n' "$2" >"$conf"
	check "$1 accepts $2" pcrpd "$1" -t -c "$conf" -k "$key"
}

good agent '{ "aggregator": "10.0.0.1", "port": 65535, "period_ms": 50 }'
good agent '{ "aggregator": "2001:db8::1", "port": 1, "period_ms": 3600000, "status": "/x" }'
good aggregator '{}'
good aggregator '{ "listen": "0.0.0.0", "periods": 1, "agents": 1 }'
good aggregator '{ "periods": 1024, "agents": 16384 }'
bad agent '{}' 'missing setting "aggregator"'
bad agent '{ "aggregator": "localhost" }' 'invalid IP address "localhost"'
bad agent '{ "aggregator": 1 }' "aggregator must be a string"
bad agent '{ "aggregator": "::1", "port": 0 }' "port must be a number from 1 to 65535, not 0"
bad agent '{ "aggregator": "::1", "port": "1" }' "port must be a number"
bad agent '{ "aggregator": "::1", "port": 65536 }' "port must be a number"
bad agent '{ "aggregator": "::1", "period_ms": 49 }' "period_ms must be a number from 50 to 3600000"
bad agent '{ "aggregator": "::1", "period_ms": 1e3 }' "period_ms must be a number"
bad agent '{ "aggregator": "::1", "period_ms": 3600001 }' "period_ms must be a number"
bad agent '{ "aggregator": "::1", "agents": 3 }' 'unknown setting "agents"'
bad agent '{ "aggregator": "::1" }x' "$conf: line 1: "
bad agent '[ "aggregator" ]' "not a JSON object"
bad agent '' "$conf: line 2: "
bad agent '{ "aggregator": "::1",'$'\n''"port" 1 }' "$conf: line 2: "
bad agent null "not a JSON object"
bad agent '{ "aggregator": "::1\u0000" }' "aggregator must be a string"
printf '{ "aggregator": "::1" }\0x' >"$conf"
refused "agent with a NUL byte after the configuration" "NUL byte" pcrpd agent -t -c "$conf" -k "$key"
bad aggregator '{ "aggregator": "::1" }' 'unknown setting "aggregator"'
bad aggregator '{ "periods": 0 }' "periods must be a number from 1 to 1024"
bad aggregator '{ "periods": 1025 }' "periods must be a number"
bad aggregator '{ "agents": 0 }' "agents must be a number from 1 to 16384"
bad aggregator '{ "agents": 16385 }' "agents must be a number"
good aggregator '{}'
refused "aggregator without a configuration file" "$TMP/none" pcrpd aggregator -t -c "$TMP/none" -k "$key"
refused "pcrpd without a role" Usage: pcrpd
refused "pcrpd with an unknown role" Usage: pcrpd server
refused "pcrpd with an unexpected word" Usage: pcrpd agent now
refused "pcrpd with an unknown option" Usage: pcrpd agent -x
check "pcrpd prints help" pcrpd --help

# bad_key NAME MESSAGE COMMAND...: check that pcrpd refuses the key file $TMP/bad after COMMAND has changed it
bad_key() {
	rm -rf "$TMP/bad"
	cp -p "$key" "$TMP/bad"
	(cd "$TMP" && "${@:3}")
	refused "aggregator with a key file $1" "$2" pcrpd aggregator -t -c "$conf" -k "$TMP/bad"
}
bad_key "that all users may read" "accessible to other users" chmod 604 bad
bad_key "that a group may write" "accessible to other users" chmod 620 bad
bad_key "that all users may write" "accessible to other users" chmod 602 bad
bad_key "with a missing digit" "64 hexadecimal digits" truncate -s 63 bad
bad_key "with an additional digit" "64 hexadecimal digits" eval 'printf "%065x" 1 >bad'
bad_key "of two lines" "64 hexadecimal digits" eval 'echo >>bad'
bad_key "with other letters" "64 hexadecimal digits" eval 'printf "%064d" 0 | tr 0 g >bad'
bad_key "that is empty" "64 hexadecimal digits" truncate -s 0 bad
bad_key "that is a directory" "not a regular file" eval 'rm bad && mkdir bad'
bad_key "that is missing" "No such file" rm bad
if [ "$(stat -c %u "$TMP")" -eq 0 ] && chown 1:1 "$TMP/other_key" 2>/dev/null; then
	bad_key "of another user" "owned by another user" cp -p other_key bad
	bad_key "that another group may read" "accessible to other users" eval 'chgrp 1 bad && chmod 640 bad'
fi

# ---- the manual's examples

# commands: print the examples' commands with the test's directory for /etc and /run, which has a status file
commands() {
	examples "$LIB_TOP/Documentation/man/pcrpd.8" |
		sed -n "s|/etc/|$TMP/etc/|g; s|/run/|$TMP/run/|g; s/^# //p"
}
# systemctl enable --now UNIT: true if the unit's configuration is valid
systemctl() { pcrpd "${3#pcrpd-}" -t -c "$TMP/etc/closnet/$3.json" -k "$TMP/etc/closnet/pcrpd.key"; }
if command -v openssl >/dev/null; then
	export -f systemctl
	export TMP
	mkdir -p "$TMP/etc" "$TMP/run/pcrpd-agent"
	cp "$TMP/a.json" "$TMP/run/pcrpd-agent/status.json"
	check_eq "pcrpd(8) has examples for both units" "$(commands | grep -c systemctl)" 2
	check "examples of pcrpd(8) succeed" bash -ec "$(commands)"
else
	skip "examples of pcrpd(8) succeed" "no openssl"
fi

# ---- installed files

here=$LIB_TOP/tools/pcrpd
for role in agent aggregator; do
	check "example configuration of role $role is accepted" pcrpd $role -t -c "$here/pcrpd-$role.json" -k "$key"
done
if command -v systemd-analyze >/dev/null; then
	for unit in "$here"/*.service; do
		# /usr/sbin/pcrpd may not be installed
		sed "s|/usr/sbin/pcrpd|$TMP/bin/pcrpd|" "$unit" >"$TMP/${unit##*/}"
		check_eq "systemd-analyze verifies ${unit##*/}" "$(systemd-analyze verify --man=no "$TMP/${unit##*/}" 2>&1)" ""
		check "systemd-analyze rates ${unit##*/} as secure" \
			systemd-analyze security --offline=true --threshold=20 "$TMP/${unit##*/}"
	done
else
	skip "systemd-analyze verifies the units" "no systemd-analyze"
fi
finish

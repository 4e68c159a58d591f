#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# pcrpd(8) with a stand-in for the kernel (pcrp_genl_file.c): thresholds follow what agents count; either side is
# killed and started again, the module goes and comes back; wrong keys, a bad network, bad input, too many agents; bad
# configurations; the units. Runs on the host, in a network namespace of its own, under ASan and UBSan.
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
# not what the aggregator's default goes by
echo 1 >/proc/sys/net/ipv6/bindv6only
SANITIZE=-fsanitize=address,undefined
make -s -C "$LIB_TOP/tools/pcrpd" O="$TMP/bin" GENL="$here/pcrp_genl_file.c" \
	CFLAGS="-O1 -g $SANITIZE -fno-sanitize-recover=all" || exit 1
PATH=$TMP/bin:$PATH
key=$TMP/key
other_key=$TMP/other_key
(umask 077 && printf '%064x\n' 4711 >"$key" && printf '%064x\n' 4712 >"$other_key")
PORT=61201
# who gets no CPU for ten periods is forgotten
PERIOD=${KSFT_MACHINE_SLOW:+500}
PERIOD=${PERIOD:-100}

# ---- the two roles

# aggregator_config SETTING...: writes its configuration; SETTINGs are JSON
aggregator_config() {
	local all=("\"period_ms\": $PERIOD" "\"status\": \"$TMP/aggregator.json\"" "$@")
	(IFS=, && printf '{ %s }\n' "${all[*]}") >"$TMP/aggregator.conf"
}

# start_aggregator: its process is $aggregator
start_aggregator() {
	rm -f "$TMP/aggregator.json"
	pcrpd aggregator -c "$TMP/aggregator.conf" -k "$key" 2>>"$TMP/aggregator.log" &
	aggregator=$!
	JOBS+=("$aggregator")
	wait_for 10 test -e "$TMP/aggregator.json"
}

# agent NAME ADDRESS [PORT [KEY]]: starts one whose kernel is the file NAME; its process is $agent
agent() {
	rm -f "$TMP/$1.json"
	printf '{ "aggregator": "%s", "port": %d, "period_ms": %d, "status": "%s" }\n' "$2" "${3:-$PORT}" "$PERIOD" \
		"$TMP/$1.json" >"$TMP/$1.conf"
	PCRPD_KERNEL=$TMP/$1 pcrpd agent -c "$TMP/$1.conf" -k "${4:-$key}" 2>>"$TMP/$1.log" &
	agent=$!
	JOBS+=("$agent")
}

# died PROCESS: kill it with no time to say goodbye
died() {
	kill -KILL "$1"
	wait "$1" 2>/dev/null || true
}

# counts NAME "CLASS FLOWS"...: what its kernel has counted
counts() {
	printf '%s\n' "${@:2}" >"$TMP/$1.new"
	mv "$TMP/$1.new" "$TMP/$1"
}

# status NAME KEY
status() { jq -c ".$2" "$TMP/$1.json"; }
# status_is NAME KEY VALUE
status_is() { [ "$(status "$1" "$2")" = "$3" ]; }
# more NAME KEY THAN
more() { [ "$(status "$1" "$2")" -gt "$3" ]; }

# becomes WHAT NAME KEY VALUE: its status, soon
becomes() {
	if wait_for 10 status_is "$2" "$3" "$4"; then
		ok "$1"
	else
		not_ok "$1" "$3 is $(status "$2" "$3"), not $4; $(<"$TMP/$2.log")"
	fi
}

# has NAME THRESHOLD...: are these in its kernel?
has() { [ "$(cat "$TMP/$1.set" 2>/dev/null)" = "${*:2}" ]; }

# gets WHAT NAME THRESHOLD...: they come to be
gets() {
	if wait_for 10 has "${@:2}"; then
		ok "$1"
	else
		not_ok "$1" "has $(cat "$TMP/$2.set" 2>&1), not ${*:3}; $(<"$TMP/$2.log")"
	fi
}

# some_periods: until the aggregator has counted three more reports of each of two agents
some_periods() {
	wait_for 10 more aggregator reports $(($(status aggregator reports) + 6)) ||
		not_ok "reports come" "$(cat "$TMP/aggregator.json" "$TMP/aggregator.log")"
}

# ---- it works

aggregator_config '"periods": 1000'
start_aggregator
ln -s "$TMP/victim" "$TMP/a.json.new"
agent a 127.0.0.1
agent_a=$agent
becomes "before the module is there, an agent says so" a kernel '"stand-in: No such file or directory"'
check "its status goes where no link leads it" test ! -e "$TMP/victim"
counts a "8 1000" "11 1000"
counts b "15 1000" "21 1000"
agent b ::1
becomes "and that it is fine when it is, though there are no thresholds" a kernel '"fine"'
becomes "agents come by IPv4 and IPv6" aggregator agents 2
some_periods
check_eq "what was before is not counted" "$(status aggregator flows)" 0
check "so there are no thresholds yet" test ! -e "$TMP/a.set" -a ! -e "$TMP/b.set"
counts a "8 1025" "11 1025"
counts b "15 1025" "21 1025"
gets "quartiles of both, for one" a 250 2007 32112
gets "and for the other" b 250 2007 32112
becomes "the agent tells them" a thresholds_bytes "[250,2007,32112]"
becomes "and the aggregator" aggregator thresholds_bytes "[250,2007,32112]"
becomes "and the number of flows" aggregator flows 100
counts a "8 1025" "11 1025" "5 100"
gets "more flows, other quartiles" a 23 31 2007
gets "for both" b 23 31 2007

# ---- what fails, and comes back

thresholds_are() { has a 23 31 2007 && has b 23 31 2007; }
died "$aggregator"
check "the aggregator dies: agents notice" wait_for 10 more a unanswered 4
# on a slow machine there may have been times before
check_eq "and say so once" "$(grep -c "does not answer" "$TMP/a.log")" $(($(grep -c "answers again" "$TMP/a.log") + 1))
check "the thresholds stay" thresholds_are
start_aggregator
becomes "it starts again: they find it" aggregator agents 2
some_periods
check "and say so" grep -q "answers again" "$TMP/a.log"
check_eq "with few flows it has nothing to say" "$(status aggregator thresholds_bytes)" null
check "so the thresholds stay" thresholds_are
counts b "15 1025" "21 1025" "18 200" "19 200"
gets "then it has" a 195952 261488 391905
some_periods

died "$agent_a"
counts a "8 1025" "11 1025" "5 1000"
agent a 127.0.0.1
agent_a=$agent
some_periods
counts a "8 1025" "11 1025" "5 1400"
gets "an agent dies and starts again: it is counted from there" b 23 31 261488
mv "$TMP/a" "$TMP/gone"
becomes "without the module, an agent says what is wrong" a kernel '"stand-in: No such file or directory"'
check_eq "no thresholds are left" "$(status a thresholds_bytes)" null
rm "$TMP/a.set"
counts a "5 10"
becomes "and goes on when it is there" a kernel '"fine"'
gets "with the thresholds" a 23 31 261488
: >"$TMP/a.refuses"
rm "$TMP/a.set"
becomes "where it may not set them, it says that" a kernel '"stand-in: Operation not permitted"'
some_periods
check_eq "and not each time that it reads" "$(grep -c "not permitted" "$TMP/a.log")" 1
rm "$TMP/a.refuses"
gets "and sets them when it may" a 23 31 261488

# ---- who has another key, who talks nonsense

counts c "30 1000"
agent c 127.0.0.1 $PORT "$other_key"
check "another key: it is refused" wait_for 10 more aggregator forged 2
counts c "30 2000"
check "again and again" wait_for 10 more aggregator forged 5
check_eq "it gets no answer" "$(status c answers)" 0
check "and installs nothing" test ! -e "$TMP/c.set"
kill "$agent"
# an aggregator with another key is of no more use than one that is dead
printf '{ "port": 61210, "period_ms": %d }\n' "$PERIOD" >"$TMP/wrong.conf"
job pcrpd aggregator -c "$TMP/wrong.conf" -k "$other_key" 2>/dev/null
agent c 127.0.0.1 61210
check "an aggregator with another key: no answer" wait_for 10 more c unanswered 3
check_eq "no threshold either" "$(status c thresholds_bytes)" null
kill "$agent"

# nonsense LENGTH FIRST-BYTE: a datagram to the aggregator
nonsense() {
	{ echo -ne "\\x$2" && head -c "$1" /dev/urandom; } | dd bs=2000 iflag=fullblock >/dev/udp/127.0.0.1/$PORT
} 2>/dev/null
before=$(status aggregator malformed)
for length in 0 1 31 95 367 399 400 401 1400; do nonsense $((length > 0 ? length - 1 : 0)) 01; done
nonsense 399 02
check "nonsense is refused" wait_for 10 more aggregator malformed $((before + 4))
becomes "another version, too" aggregator other_version 1
some_periods
check "and nothing comes of it" has a 23 31 261488

# ---- too many

stop_jobs
aggregator_config '"agents": 2'
start_aggregator
rm -f "$TMP"/?.set
agent a 127.0.0.1
agent b ::1
becomes "as many as there may be" aggregator agents 2
some_periods
agent c 127.0.0.1
check "one more is not counted" wait_for 10 more aggregator no_room 3
check_eq "nor taken" "$(status aggregator agents)" 2
counts a "5 10" "8 25" "11 25" "15 25" "21 25"
gets "the others are" b 250 2007 32112
kill "$agent"

# ---- thresholds follow the workload

stop_jobs
aggregator_config '"periods": 10'
start_aggregator
rm -f "$TMP"/?.set
agent a 127.0.0.1
wait_for 10 more aggregator reports 2
counts a "5 10" "8 50" "11 50" "15 50" "21 50"
gets "thresholds" a 250 2007 32112
gets "when flows are past, there is one level" a 1 1099511627775 1099511627776
counts a "5 10" "8 50" "11 50" "15 50" "21 50" "20 1000"
gets "most flows of one class: it is one level, others are told from it" a 524287 1048575 1048576

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
becomes "a bad network: each flow is counted once" aggregator flows 1200
gets "thresholds come" a 255 2044 32713
gets "for both" b 255 2044 32713
for kind in replayed forged; do
	check "to the aggregator came: $kind" more aggregator $kind 5
	check "to the agent came: $kind" more a $kind 5
done

# ---- the end

check_refused "a second aggregator: the port is taken" "cannot listen at '::', port $PORT: Address already in use" \
	timeout 10 pcrpd aggregator -c "$TMP/aggregator.conf" -k "$key"
# ends WHAT PROCESS: when told to, with status 0
ends() {
	local status=0
	kill "$2"
	wait_for 10 test ! -e "/proc/$2" || kill -KILL "$2"
	wait "$2" || status=$?
	check_eq "$1" $status 0
}
ends "the aggregator ends when told to" "$aggregator"
ends "an agent does" "$agent"
counts c "30 1000"
: >"$TMP/c.slow"
agent c 127.0.0.1
wait_for 10 more c reports 3
ends "one does that is late each time" "$agent"
stop_jobs
check "no sanitizer has found anything" test -z "$(grep -hE 'ERROR: |runtime error' "$TMP"/*.log)"

# ---- bad configurations

conf=$TMP/x.conf
# refused WHAT MESSAGE COMMAND...: status 2, one line
refused() {
	local what=$1 message=$2 status=0
	shift 2
	"$@" >"$TMP/out" 2>&1 || status=$?
	check_eq "$what: status" $status 2
	check "$what: says '$message'" grep -qF -- "$message" "$TMP/out"
}

# bad ROLE JSON MESSAGE
bad() {
	printf '%s\n' "$2" >"$conf"
	refused "$1 ${2//$'\n'/ }" "$3" pcrpd "$1" -t -c "$conf" -k "$key"
}

# good ROLE JSON
good() {
	printf '%s\n' "$2" >"$conf"
	check "$1 $2" pcrpd "$1" -t -c "$conf" -k "$key"
}

good agent '{ "aggregator": "10.0.0.1", "port": 65535, "period_ms": 50 }'
good agent '{ "aggregator": "2001:db8::1", "port": 1, "period_ms": 3600000, "status": "/x" }'
good aggregator '{}'
good aggregator '{ "listen": "0.0.0.0", "periods": 1, "agents": 1 }'
good aggregator '{ "periods": 1024, "agents": 16384 }'
bad agent '{}' "the address of the aggregator is missing"
bad agent '{ "aggregator": "localhost" }' "'localhost' is not an IP address"
bad agent '{ "aggregator": 1 }' "aggregator has to be a text"
bad agent '{ "aggregator": "::1", "port": 0 }' "port has to be a number from 1 to 65535, not 0"
bad agent '{ "aggregator": "::1", "port": "1" }' "port has to be a number"
bad agent '{ "aggregator": "::1", "port": 65536 }' "port has to be a number"
bad agent '{ "aggregator": "::1", "period_ms": 49 }' "period_ms has to be a number from 50 to 3600000"
bad agent '{ "aggregator": "::1", "period_ms": 1e3 }' "period_ms has to be a number"
bad agent '{ "aggregator": "::1", "period_ms": 3600001 }' "period_ms has to be a number"
bad agent '{ "aggregator": "::1", "agents": 3 }' "there is no setting 'agents'"
bad agent '{ "aggregator": "::1" }x' "$conf: line 1: "
bad agent '[ "aggregator" ]' "has to be a JSON object"
bad agent '' "$conf: line 2: "
bad agent '{ "aggregator": "::1",'$'\n''"port" 1 }' "$conf: line 2: "
bad agent null "has to be a JSON object"
bad agent '{ "aggregator": "::1\u0000" }' "aggregator has to be a text"
printf '{ "aggregator": "::1" }\0x' >"$conf"
refused "a NUL byte" "NUL byte" pcrpd agent -t -c "$conf" -k "$key"
bad aggregator '{ "aggregator": "::1" }' "there is no setting 'aggregator'"
bad aggregator '{ "periods": 0 }' "periods has to be a number from 1 to 1024"
bad aggregator '{ "periods": 1025 }' "periods has to be a number"
bad aggregator '{ "agents": 0 }' "agents has to be a number from 1 to 16384"
bad aggregator '{ "agents": 16385 }' "agents has to be a number"
good aggregator '{}'
refused "no configuration" "$TMP/none" pcrpd aggregator -t -c "$TMP/none" -k "$key"
refused "no role" Usage: pcrpd
refused "no such role" Usage: pcrpd server
refused "a word too many" Usage: pcrpd agent now
refused "no such option" Usage: pcrpd agent -x
check "help" pcrpd --help

# bad_key WHAT MESSAGE COMMAND...: COMMAND changes the file $TMP/bad, which has a good key
bad_key() {
	rm -rf "$TMP/bad"
	cp -p "$key" "$TMP/bad"
	(cd "$TMP" && "${@:3}")
	refused "key: $1" "$2" pcrpd aggregator -t -c "$conf" -k "$TMP/bad"
}
bad_key "all may read it" "others may read or change it" chmod 604 bad
bad_key "a group may write it" "others may read or change it" chmod 620 bad
bad_key "anyone may write it" "others may read or change it" chmod 602 bad
bad_key "a digit is missing" "64 hexadecimal digits" truncate -s 63 bad
bad_key "a digit too many" "64 hexadecimal digits" eval 'printf "%065x" 1 >bad'
bad_key "two lines" "64 hexadecimal digits" eval 'echo >>bad'
bad_key "no digits" "64 hexadecimal digits" eval 'printf "%064d" 0 | tr 0 g >bad'
bad_key "empty" "64 hexadecimal digits" truncate -s 0 bad
bad_key "a directory" "not a file" eval 'rm bad && mkdir bad'
bad_key "missing" "No such file" rm bad
if [ "$(stat -c %u "$TMP")" -eq 0 ] && chown 1:1 "$TMP/other_key" 2>/dev/null; then
	bad_key "of another user" "belongs to another user" cp -p other_key bad
	bad_key "of another group that may read it" "others may read" eval 'chgrp 1 bad && chmod 640 bad'
fi

# ---- the manual's examples

# commands: of the examples, with the tests' directory for /etc and /run, in which a status file is already
commands() {
	examples "$LIB_TOP/Documentation/man/pcrpd.8" |
		sed -n "s|/etc/|$TMP/etc/|g; s|/run/|$TMP/run/|g; s/^# //p"
}
# systemctl enable --now UNIT: would it start?
systemctl() { pcrpd "${3#pcrpd-}" -t -c "$TMP/etc/closnet/$3.json" -k "$TMP/etc/closnet/pcrpd.key"; }
if command -v openssl >/dev/null; then
	export -f systemctl
	export TMP
	mkdir -p "$TMP/etc" "$TMP/run/pcrpd-agent"
	cp "$TMP/a.json" "$TMP/run/pcrpd-agent/status.json"
	check_eq "the manual has them" "$(commands | grep -c systemctl)" 2
	check "they do what it says" bash -ec "$(commands)"
else
	skip "the manual's examples" "no openssl"
fi

# ---- what is delivered

here=$LIB_TOP/tools/pcrpd
for role in agent aggregator; do
	check "the example: $role" pcrpd $role -t -c "$here/pcrpd-$role.json" -k "$key"
done
if command -v systemd-analyze >/dev/null; then
	for unit in "$here"/*.service; do
		# where there is no /usr/sbin/pcrpd yet
		sed "s|/usr/sbin/pcrpd|$TMP/bin/pcrpd|" "$unit" >"$TMP/${unit##*/}"
		check_eq "systemd has nothing against ${unit##*/}" "$(systemd-analyze verify --man=no "$TMP/${unit##*/}" 2>&1)" ""
		check "and finds it safe" systemd-analyze security --offline=true --threshold=20 "$TMP/${unit##*/}"
	done
else
	skip "units" "no systemd-analyze"
fi
finish

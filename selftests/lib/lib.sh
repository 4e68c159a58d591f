# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for all kselftests. A test sources this file, makes its namespaces, runs its checks, and ends with `finish`:
#
#	. "$(dirname "$0")/../lib/lib.sh"
#	need_ndp
#	setup_ns a b
#	check "trimmed IPv6 header has a correct checksum" COMMAND...
#	finish
#
# The output is TAP. Exit status: 0 passed, 1 failed, 4 skipped.
# Environment:
#  CLOSNET_MODDIR     directory of the built modules
#  CLOSNET_TESTBIN    directory of the built C tools
#  TC_LIB_DIR         directory of tc's plug-ins
#  KSFT_MACHINE_SLOW  set on an emulated machine or a debug kernel: tests assert no upper bound on time
#  KSFT_TIME_EXACT    set in virtual time, in which the machine is never late
set -eu -o pipefail

LIB_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
CLOSNET_TESTBIN=${CLOSNET_TESTBIN:-$LIB_TOP/build/selftests}
PATH=$CLOSNET_TESTBIN:/usr/local/sbin:/usr/sbin:/sbin:$PATH
export LC_ALL=C

TEST_COUNT=0
TEST_FAILED=0
TEST_SKIPPED=0
TEST_FINISHED=
NAMESPACES=()
JOBS=()
TMP=$(mktemp -d)

printf 'TAP version 13\n'
trap on_exit EXIT
trap 'exit 1' INT TERM HUP

# defer COMMAND: run COMMAND (one string) when the test ends; the last one deferred runs first
DEFERRED=()
defer() { DEFERRED=("$1" ${DEFERRED[@]+"${DEFERRED[@]}"}); }

on_exit() {
	local status=$? command ns
	set +e
	stop_jobs
	for command in ${DEFERRED[@]+"${DEFERRED[@]}"}; do
		eval "$command"
	done
	for ns in ${NAMESPACES[@]+"${NAMESPACES[@]}"}; do
		ip netns del "$ns"
	done
	rm -rf "$TMP"
	if [ -z "$TEST_FINISHED" ]; then
		printf 'Bail out! the script ended early, with status %d\n' "$status"
		exit 1
	fi
}

# ---- TAP

note() { printf '%s\n' "$*" | sed 's/^/# /'; }

result() {
	TEST_COUNT=$((TEST_COUNT + 1))
	printf '%s %d - %s\n' "$1" "$TEST_COUNT" "$2"
}

ok() { result ok "$1"; }

# not_ok NAME [DETAIL]
not_ok() {
	TEST_FAILED=$((TEST_FAILED + 1))
	result 'not ok' "$1"
	[ -z "${2:-}" ] || note "$2"
}

# skip NAME REASON: skip one check
skip() {
	TEST_SKIPPED=$((TEST_SKIPPED + 1))
	result ok "$1 # SKIP $2"
}

# skip_all REASON: skip the whole test
skip_all() {
	printf '1..0 # SKIP %s\n' "$1"
	TEST_FINISHED=1
	exit 4
}

# finish: print the plan and exit with the test's status
finish() {
	printf '1..%d\n' "$TEST_COUNT"
	printf '# passed %d failed %d skipped %d\n' \
		$((TEST_COUNT - TEST_FAILED - TEST_SKIPPED)) "$TEST_FAILED" "$TEST_SKIPPED"
	TEST_FINISHED=1
	[ "$TEST_FAILED" -eq 0 ] || exit 1
	[ "$TEST_COUNT" -eq 0 ] || [ "$TEST_SKIPPED" -lt "$TEST_COUNT" ] || exit 4
	exit 0
}

# check NAME COMMAND...: pass if COMMAND succeeds; on failure, its output is the detail
check() {
	local test_name=$1 out
	shift
	if out=$("$@" 2>&1); then
		ok "$test_name"
	else
		not_ok "$test_name" "$* failed${out:+: $out}"
	fi
}

# check_to FILE NAME COMMAND...: like check, but write COMMAND's output to FILE
check_to() {
	local file=$1 test_name=$2 err
	shift 2
	if err=$("$@" 2>&1 >"$file"); then
		ok "$test_name"
	else
		not_ok "$test_name" "$* failed${err:+: $err}"
	fi
}

# check_refused NAME TEXT COMMAND...: pass if COMMAND fails with a message that contains TEXT
check_refused() {
	local test_name=$1 text=$2 out
	shift 2
	if out=$("$@" 2>&1); then
		not_ok "$test_name" "$* succeeded"
	elif [[ $out != *"$text"* ]]; then
		not_ok "$test_name" "message lacks '$text': $out"
	else
		ok "$test_name"
	fi
}

# check_eq NAME ACTUAL EXPECTED
check_eq() {
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "got:  $2"$'\n'"want: $3"
	fi
}

# check_json JSON [NAME FILTER]...: pass each NAME whose jq FILTER is true for JSON. One jq runs all filters, because jq
# starts slowly in an emulated guest.
check_json() {
	local json=$1 program=empty results i
	shift
	local checks=("$@")
	for ((i = 1; i < $#; i += 2)); do
		program+=", (try (${checks[i]} | if . then 1 else 0 end) catch 0)"
	done
	mapfile -t results < <(jq "$program" <<<"$json" 2>&1)
	for ((i = 0; i < $#; i += 2)); do
		if [ "${results[i / 2]:-}" = 1 ]; then
			ok "${checks[i]}"
		else
			not_ok "${checks[i]}" "not true: ${checks[i + 1]}"$'\n'"${json:0:3000}"
		fi
	done
}

# The next two do without jq, which takes as long to start as 40 other programs.
# unwrap: remove the array brackets from iproute2's JSON on standard input
unwrap() { sed 's/^\[//; s/\]$//'; }
# wrap FILE: join the JSON values in FILE, one a line, into an array
wrap() { printf '[%s]\n' "$(paste -s -d , "$1")"; }

# ---- waiting

# wait_for SECONDS COMMAND...: retry COMMAND until it succeeds, for at most SECONDS (30 more on a slow machine)
wait_for() {
	local end=$((SECONDS + $1))
	shift
	[ -z "${KSFT_MACHINE_SLOW:-}" ] || end=$((end + 30))
	while ! "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.05
	done
}

# job COMMAND...: run COMMAND in the background until the test ends; $! is its PID
job() {
	"$@" &
	JOBS+=($!)
}

# stop_jobs: kill the processes that `job` started and wait for them
stop_jobs() {
	local pid
	for pid in ${JOBS[@]+"${JOBS[@]}"}; do
		kill "$pid" 2>/dev/null || true
	done
	for pid in ${JOBS[@]+"${JOBS[@]}"}; do
		wait "$pid" 2>/dev/null || true
	done
	JOBS=()
}

# ---- modules

# module_loaded NAME
module_loaded() { [ -d "/sys/module/$1" ]; }

# load_module NAME: load it from CLOSNET_MODDIR if that is set, else the installed module
load_module() {
	module_loaded "$1" && return
	if [ -n "${CLOSNET_MODDIR:-}" ]; then
		insmod "$CLOSNET_MODDIR/$1.ko"
	else
		modprobe "$1"
	fi
}

# need_modules NAME...: load them, or skip the test
need_modules() {
	local name
	[ "$(id -u)" -eq 0 ] || skip_all "needs root"
	for name in "$@"; do
		load_module "$name" || skip_all "no module $name"
	done
}

# need_no_transport: unload module ndp, which an earlier test may have left. Tests of qdiscs send UDP datagrams to NDP's
# port, and module ndp drops these.
need_no_transport() {
	[[ $0 == *selftests/sch/* ]] && module_loaded ndp || return 0
	wait_for 30 rmmod ndp || skip_all "module ndp is in use"
}

# Object under test. SCH: the qdisc at the root of v0; CC: the congestion control, for lib/tcp_cc.sh
SCH='' CC=''
# SCH_UDP: options of traffic(1) for datagrams that the qdisc under test treats differently
# shellcheck disable=SC2034 # for the tests
SCH_UDP=(-p 61199)
need_closwire() { need_modules closwire; }
need_sch() {
	# stock modules that sch_voq.ko needs; insmod does not load them
	[ "$1" != voq ] || modprobe -a udp_tunnel ip6_udp_tunnel 2>/dev/null || true
	need_modules "sch_$1" && SCH=$1 && need_no_transport
	# shellcheck disable=SC2034 # for the tests
	[ "$SCH" != roce ] || SCH_UDP=(-p 4791 -R 8)
}
need_ndp() { need_sch ndp; }
need_dcqcn() { need_sch dcqcn; }
need_roce() { need_sch roce; }
need_voq() { need_sch voq; }
# shellcheck disable=SC2034 # for the tests
need_cc() { need_modules closnet_cc nicclock "tcp_$1" && CC=$1; }

# exact: true in virtual time, in which the machine is never late
exact() { [ -n "${KSFT_TIME_EXACT:-}" ]; }

# ---- topology

# namespaces of most tests: a has the sender, b the receiver
a='' b=''

# setup_ns NAME...: make a namespace for each NAME; its name is stored in variable NAME
setup_ns() {
	local name ns
	for name in "$@"; do
		ns=cn$$-$name
		ip netns add "$ns"
		NAMESPACES+=("$ns")
		# without IPv6, the host sends no neighbour or multicast packets that a test would count
		ip netns exec "$ns" tee /proc/sys/net/ipv6/conf/{all,default}/disable_ipv6 \
			>/dev/null <<<1
		printf -v "$name" %s "$ns"
	done
}

# in_ns NS COMMAND...: run COMMAND in a network namespace. "ip netns exec" also mounts /sys, which takes twice as long.
in_ns() { nsenter --net="/run/netns/$1" "${@:2}"; }

MAC_A=02:00:00:00:00:0a
MAC_B=02:00:00:00:00:0b

# link_ab: v0 in namespace a and v1 in namespace b, MTU 9000, with addresses 10.0.0.1 and 10.0.0.2 and permanent
# neighbour entries; VETH: ip-link options for both devices
VETH=()
link_ab() {
	ip link add v0 address $MAC_A mtu 9000 netns "$a" "${VETH[@]}" type veth \
		peer name v1 address $MAC_B mtu 9000 netns "$b" "${VETH[@]}"
	ends_up v0 v1
}

# ends_up DEV-IN-A DEV-IN-B: set both ends of a link up, with link_ab's addresses and permanent neighbour entries
ends_up() {
	ip -n "$a" -batch - <<-END
		link set $1 up
		addr add 10.0.0.1/24 dev $1
		neigh add 10.0.0.2 lladdr $MAC_B nud permanent dev $1
	END
	ip -n "$b" -batch - <<-END
		link set $2 up
		addr add 10.0.0.2/24 dev $2
		neigh add 10.0.0.1 lladdr $MAC_A nud permanent dev $2
	END
	wait_for 5 has_carrier "$a" "$1"
	wait_for 5 has_carrier "$b" "$2"
}

# wire_ab [SETTING...]: closwire ports w0 in namespace a and w1 in namespace b with link_ab's addresses; SETTINGs are
# those of closwire; WIRE: ip-link options for both devices
WIRE=()
wire_ab() {
	ip link add w0 address $MAC_A netns "$a" ${WIRE[@]+"${WIRE[@]}"} type closwire "$@" \
		peer name w1 address $MAC_B netns "$b" ${WIRE[@]+"${WIRE[@]}"}
	ends_up w0 w1
}

# has_carrier NS DEV
has_carrier() { ip -n "$1" link show "$2" | grep -q LOWER_UP; }

# wire_set NS/DEV SETTING...: change the settings of a closwire port
wire_set() {
	local port=$1
	shift
	ip -n "${port%/*}" link set "${port#*/}" type closwire "$@"
}

# wire_json NS/DEV: the port as "ip -d -s -j link show" prints it
wire_json() { ip -n "${1%/*}" -d -s -j link show "${1#*/}" | unwrap; }

# counter NS/DEV NAME: counter NAME of "ethtool -S"
counter() {
	in_ns "${1%/*}" ethtool -S "${1#*/}" | awk -v name="$2:" '$1 == name { print $2; n++ } END { exit !n }'
}

# counted NS/DEV NAME COUNT: true once the counter is at least COUNT
counted() { [ "$(counter "$1" "$2")" -ge "$3" ]; }

# mac_ctrl NS/DEV NAME: counter NAME of ethtool's MAC control statistics
mac_ctrl() {
	in_ns "${1%/*}" ethtool -S "${1#*/}" --groups eth-ctrl |
		awk -v name="eth-ctrl-$2:" '$1 == name { print $2; n++ } END { exit !n }'
}

# at_least COUNT COMMAND...: true if COMMAND prints a number of at least COUNT
at_least() { [ "$("${@:2}")" -ge "$1" ]; }

# stamps_apart FILE MIN MAX: true if each hardware receive timestamp that closwire_stamp wrote to FILE is MIN to MAX ns
# after the transmit timestamp
stamps_apart() {
	local n tx rx
	while read -r n tx rx _; do
		if [ $((rx - tx)) -lt "$2" ] || [ $((rx - tx)) -gt "$3" ]; then
			echo "datagram $n: $((rx - tx)) ns"
			return 1
		fi
	done <"$1"
}

# mirror_v0: clone each packet that leaves v0 to w1 in namespace b, before v0's qdisc
# shellcheck disable=SC2154 # a and b are set by setup_ns
mirror_v0() {
	ip link add w0 mtu 9100 netns "$a" type veth peer name w1 mtu 9100 netns "$b"
	ip -n "$a" link set w0 up
	ip -n "$b" link set w1 up
	{
		tc -n "$a" qdisc add dev v0 clsact &&
			tc -n "$a" filter add dev v0 egress matchall action mirred egress mirror dev w0
	} || skip_all "no mirroring"
}

# vlan_v0: make VLAN device v0.5 on v0, which offloads the tag of its frames
vlan_v0() {
	ip -n "$a" link add link v0 name v0.5 type vlan id 5 || skip_all "no VLAN devices"
	ip -n "$a" link set v0.5 up
}


# listening PORT: true if a TCP socket in b listens on PORT
listening() { in_ns "$b" ss -Hlnt "sport = $1" | grep -q .; }

# new_root KIND ARGUMENT...: put a new qdisc at the root of v0. The handle was never used before, so that tc creates a
# qdisc instead of changing the present one.
new_root() {
	tc -n "$a" qdisc replace dev v0 root \
		handle "$(printf %x $((${EPOCHREALTIME/./} % 60000 + 16))):" "$@"
}
ndp() { new_root ndp "$@"; }
dcqcn() { new_root dcqcn "$@"; }
roce() { new_root roce "$@"; }

# PLUG: a frame that keeps a shaper of 1 kbit/s busy for more than a minute, so that later frames stay queued.
# release: the command that lets them go
# shellcheck disable=SC2034 # for the tests
PLUG=udp4,len=9000
release() { echo "tc -n $a qdisc change dev v0 root $SCH rate 0"; }

# stats: all qdiscs of v0 as JSON
stats() { tc -n "$a" -s -j qdisc show dev v0; }

# sch_stats: the qdisc under test on v0, as JSON
sch_stats() {
	stats | unwrap | sed 's/,{"kind":/\n{"kind":/g' |
		awk -v begin="{\"kind\":\"$SCH\"" 'index($0, begin) == 1 && !n++'
}

# sch_counts COUNTER: true if that counter of the qdisc under test is above 0
sch_counts() { stats | jq -e "[.[] | select(.kind == \"$SCH\")][0].$1 > 0" >/dev/null; }

# all_zero JSON: true if no qdisc in tc's JSON holds packets
all_zero() { [[ $1 == *'"backlog":'* && ! $1 =~ \"(qlen|backlog)\":[1-9] ]]; }

# drained: true if all qdiscs of v0 are empty
drained() { all_zero "$(stats)"; }

# packets NS/DEV COUNTER: statistics counter of the device
packets() { ip netns exec "${1%/*}" cat "/sys/class/net/${1#*/}/statistics/$2"; }

# tx_packets, rx_packets: packets that v0 in a sent, that v1 in b received
tx_packets() { packets "$a/v0" tx_packets; }
rx_packets() { packets "$b/v1" rx_packets; }

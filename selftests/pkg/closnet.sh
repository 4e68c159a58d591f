#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# closnet(8): the DCQCN paper's numbers, the worst case, bad input, the manual page. Runs on the host. Requests of
# closnet pcrp to the kernel: selftests/sch/pcrp_closnet.sh; its tc commands: selftests/tc/plugin.sh.
# shellcheck disable=SC2317 # functions are called through check
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../tc/page.sh"

page=$LIB_TOP/Documentation/man/closnet.8
"$LIB_TOP/tools/deps.sh" tools
make -s -C "$LIB_TOP/tools/closnet" O="$TMP" || exit 1
PATH=$TMP:$PATH

# the switch of the DCQCN paper: Trident II
paper=(--ports 32 --rate 40g --buffer 12mb --headroom 22.4kb)

# number KEY OPTION...: print a result for the paper's switch with OPTIONs
number() { closnet buffers "${paper[@]}" -j "${@:2}" | jq ".$1"; }

# test_number NAME KEY NUMBER [OPTION...]
test_number() { check_eq "$1" "$(number "$2" "${@:4}")" "$3"; }

test_number "static t_PFC is the paper's 24.47 KB" pfc_static_bytes 24475
test_number "static t_ECN is less than a packet" ecn_static_bytes 764
test_number "dynamic t_ECN is the paper's 21.75 KB" ecn_dynamic_bytes 21755
test_number "dynamic t_PFC of an empty switch is the shared buffer" pfc_dynamic_empty_bytes 6265600
test_number "with the default kmin, a static threshold pauses before ECN marks" ecn_first_static false
test_number "with the default kmin, ECN marks before a dynamic threshold pauses" ecn_first_dynamic true
test_number "with kmin at the dynamic t_ECN, ECN marks first" ecn_first_dynamic true --kmin 21755
test_number "with kmin a byte above the dynamic t_ECN, PFC pauses first" ecn_first_dynamic false --kmin 21756
test_number "with kmin at the static t_ECN, ECN marks first" ecn_first_static true --kmin 764
test_number "with kmin a byte above the static t_ECN, PFC pauses first" ecn_first_static false --kmin 765
test_number "a port pauses above its threshold, not at the threshold" ecn_first_static true \
	--ports 1 --priorities 1 --buffer 27400b
check "text output states that ECN marks before a dynamic threshold pauses" \
	grep -q "dynamic: .*ECN marks before PFC" <<<"$(closnet buffers "${paper[@]}")"
check "text output states that a static threshold pauses before ECN marks" \
	grep -q "static: .*PFC pauses before ECN" <<<"$(closnet buffers "${paper[@]}")"
test_number "dynamic t_ECN depends on the number of lossless priorities" ecn_dynamic_bytes 146755 --priorities 2
test_number "t_flight is computed from rate, cable and MTU" flight_bytes 25720
test_number "t_flight grows with the cable" flight_bytes 30720 --cable 2us
test_number "t_flight grows with the MTU" flight_bytes 40720 --mtu 9000
test_number "t_flight depends on the rate" flight_bytes 10758 --rate 10gbit
test_number "--buffer accepts binary units" buffer_bytes 12582912 --buffer 12mib
test_number "--headroom accepts fractions" headroom_bytes 22400
test_number "--rate accepts fractions" rate_bps 2500000000 --rate 2.5g

# tc_command OPTION...: print the tc command for the paper's switch
tc_command() { closnet buffers "${paper[@]}" "$@" | grep '^tc '; }
check_eq "tc command has the given options" "$(tc_command)" "tc qdisc add dev PORT root dcqcn kmin 5000 kmax 200000 \
pmax 20% pool sw0 buffer 12000000 headroom 22400 xoff dynamic beta 8 pfc all"
check_eq "tc command has a kmin with which ECN marks first" \
	"$(tc_command --kmin 100kb | grep -o 'kmin [0-9]*')" "kmin 21755"
check_eq "JSON has the same tc command" "$(number tc --kmin 100kb)" "\"$(tc_command --kmin 100kb)\""
check_eq "tc command has the given number of priorities" "$(tc_command --priorities 3 | grep -o 'pfc.*')" "pfc 0-2"

# refused NAME STATUS MESSAGE OPTION...: check that closnet exits with STATUS, and prints MESSAGE to stderr only
refused() {
	local name=$1 expected=$2 message=$3 out status=0
	shift 3
	out=$(closnet "$@" 2>&1 >"$TMP/stdout") || status=$?
	check_eq "$name exits with status $expected" "$status" "$expected"
	check "$name prints '$message'" grep -qF -- "$message" <<<"$out"
	check "$name prints no output to stdout" test ! -s "$TMP/stdout"
}

for size in 12 1.2.3mb 0x10 1e3 -5 "" . inf 2gb 12mbit "12 mb"; do
	refused "--buffer '$size'" 2 "--buffer must be 64 bytes to 1gib, as in 12mb, not \"$size\"" \
		buffers "${paper[@]}" --buffer "$size"
done
while read -r option bad range; do
	for value in ${bad//,/ }; do
		refused "--$option $value" 2 "--$option must be $range" buffers "${paper[@]}" "--$option" "$value"
	done
done <<-END
	ports 0,65536,32x 1 to 65535
	rate 0.9m,1.7t,40,40gb 1m to 1.6t
	priorities 0,9 1 to 8
	mtu 67,65536 68 to 65535 bytes
	cable 10.1ms,1,1.5s 0ns to 10ms
	headroom 63,1.1gib 64 bytes to 1gib
	beta 0,129 1 to 128
	kmin 1.1gib 0 to 1gib
	kmax 1.1gib 0 to 1gib
END
refused "missing --ports" 2 "missing option --ports, 1 to 65535" buffers --rate 40g --buffer 12mb
refused "missing --rate" 2 "missing option --rate, 1m to 1.6t" buffers --ports 32 --buffer 12mb
refused "missing --buffer" 2 "missing option --buffer, 64 bytes" buffers --ports 32 --rate 40g
refused "kmin above kmax" 2 "--kmin, 300000 bytes, is above --kmax, 200000 bytes" buffers "${paper[@]}" --kmin 300kb
refused "a buffer that is too small for the headrooms" \
	1 "the headrooms of 64 ports and 8 priorities, 25720 bytes each, exceed the buffer" \
	buffers --ports 64 --rate 40g --buffer 12mb
refused "unknown option of buffers" 2 "unrecognized option '--foo'" buffers --foo
refused "unexpected word of buffers" 2 'unexpected argument "foo"' buffers foo
refused "unknown command" 2 'unknown command "foo"' foo
refused "missing command" 2 "Usage: closnet COMMAND"

refused "set with too few thresholds" 2 "closnet pcrp: set requires 3 sizes" pcrp set 1kb 2kb
refused "set with too many thresholds" 2 "closnet pcrp: set requires 3 sizes" pcrp set 1kb 2kb 3kb 4kb
for size in x 1tb 1.2.3 ""; do
	refused "set with a threshold of '$size'" 2 "\"$size\" is not a size, as in 25kb" pcrp set 1kb 2kb "$size"
done
refused "unknown command of pcrp" 2 '"put" is not get, set or reset' pcrp put
refused "unexpected word of pcrp" 2 'unexpected argument "all" after reset' pcrp reset all
refused "unknown option of pcrp" 2 "unrecognized option '--foo'" pcrp --foo
if module_loaded sch_pcrp; then
	skip "pcrp without sch_pcrp exits with status 1" "sch_pcrp is loaded"
else
	refused "pcrp without sch_pcrp" 1 "no netlink family closnet_pcrp: load the module sch_pcrp" pcrp
fi

# documented: true if closnet(8) describes each option of the help and each JSON key
documented() {
	local word words missing=0
	words=$(sed 's/\\//g' "$page")
	# other JSON keys are the names of options
	for word in $({ closnet buffers --help && closnet pcrp --help; } | grep -oE '^  (-j, )?(--)?[a-z]+' | grep -oE '[a-z]{2,}') \
		$(closnet buffers "${paper[@]}" -j | jq -r 'keys[]' | grep -E '^(flight|headroom|shared|pfc|ecn|worst)'); do
		grep -qwF -- "$word" <<<"$words" && continue
		echo "it lacks $word"
		missing=1
	done
	[ "$missing" -eq 0 ]
}
check "closnet(8) describes all options and JSON keys" documented

# of_user: print the examples for any user; those for root follow them in the page, and tc/man.sh tests them
of_user() { examples "$page" | sed '/^# /,$d'; }

# run_examples: run these examples and print commands and output as the page does
run_examples() {
	of_user | sed -n 's/^\$ //p' | while read -r line; do
		printf '$ %s\n' "$line"
		bash -c "$line"
	done
}
check_eq "examples of closnet(8) print the page's output" "$(run_examples)" "$(of_user)"
finish

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# closnet(8): the paper's numbers, what happens in the worst case, bad input, the manual page. Runs on the host.
# What closnet pcrp says to the kernel is tested by selftests/sch/pcrp_closnet.sh.
# What its tc commands mean to tc is tested by selftests/tc/plugin.sh.
# shellcheck disable=SC2317 # functions are called through check
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../tc/page.sh"

page=$LIB_TOP/Documentation/man/closnet.8
"$LIB_TOP/tools/deps.sh" tools
make -s -C "$LIB_TOP/tools/closnet" O="$TMP" || exit 1
PATH=$TMP:$PATH

# the paper's switch: Trident II
paper=(--ports 32 --rate 40g --buffer 12mb --headroom 22.4kb)

# number KEY OPTION...: a number of the paper's switch, with OPTIONs
number() { closnet buffers "${paper[@]}" -j "${@:2}" | jq ".$1"; }

# test_number WHAT KEY NUMBER [OPTION...]
test_number() { check_eq "$1" "$(number "$2" "${@:4}")" "$3"; }

test_number "the paper's static t_PFC: 24.47 KB" pfc_static_bytes 24475
test_number "a static t_ECN would be less than a packet" ecn_static_bytes 764
test_number "the paper's dynamic t_ECN: 21.75 KB" ecn_dynamic_bytes 21755
test_number "an empty switch lets a port have all" pfc_dynamic_empty_bytes 6265600
test_number "with its kmin, a static threshold pauses first" ecn_first_static false
test_number "and a dynamic one does not" ecn_first_dynamic true
test_number "at its bound, kmin is still first" ecn_first_dynamic true --kmin 21755
test_number "a byte more, and PFC is" ecn_first_dynamic false --kmin 21756
test_number "a static one has its bound, too" ecn_first_static true --kmin 764
test_number "which is right to the byte" ecn_first_static false --kmin 765
test_number "a port pauses above its threshold, not at it" ecn_first_static true \
	--ports 1 --priorities 1 --buffer 27400b
check "in words, too: ECN first" grep -q "dynamic: .*ECN marks before PFC" <<<"$(closnet buffers "${paper[@]}")"
check "and PFC first" grep -q "static: .*PFC pauses before ECN" <<<"$(closnet buffers "${paper[@]}")"
test_number "two lossless priorities" ecn_dynamic_bytes 146755 --priorities 2
test_number "t_flight by rate, cable and MTU" flight_bytes 25720
test_number "a longer cable" flight_bytes 30720 --cable 2us
test_number "jumbo frames" flight_bytes 40720 --mtu 9000
test_number "another rate" flight_bytes 10758 --rate 10gbit
test_number "powers of two" buffer_bytes 12582912 --buffer 12mib
test_number "parts of a unit" headroom_bytes 22400
test_number "and of a rate" rate_bps 2500000000 --rate 2.5g

# tc_command OPTION...: of the paper's switch
tc_command() { closnet buffers "${paper[@]}" "$@" | grep '^tc '; }
check_eq "the command has what was given" "$(tc_command)" "tc qdisc add dev PORT root dcqcn kmin 5000 kmax 200000 \
pmax 20% pool sw0 buffer 12000000 headroom 22400 xoff dynamic beta 8 pfc all"
check_eq "but a kmin for which ECN is first" "$(tc_command --kmin 100kb | grep -o 'kmin [0-9]*')" "kmin 21755"
check_eq "the command of JSON is the same" "$(number tc --kmin 100kb)" "\"$(tc_command --kmin 100kb)\""
check_eq "fewer priorities" "$(tc_command --priorities 3 | grep -o 'pfc.*')" "pfc 0-2"

# refused WHAT STATUS MESSAGE OPTION...: nothing on stdout, and a message of one line or two
refused() {
	local what=$1 want=$2 message=$3 out status=0
	shift 3
	out=$(closnet "$@" 2>&1 >"$TMP/stdout") || status=$?
	check_eq "$what: status" "$status" "$want"
	check "$what: says '$message'" grep -qF -- "$message" <<<"$out"
	check "$what: prints nothing else" test ! -s "$TMP/stdout"
}

for size in 12 1.2.3mb 0x10 1e3 -5 "" . inf 2gb 12mbit "12 mb"; do
	refused "--buffer '$size'" 2 "--buffer has to be 64 bytes to 1gib, as in 12mb, not '$size'" \
		buffers "${paper[@]}" --buffer "$size"
done
while read -r option bad range; do
	for value in ${bad//,/ }; do
		refused "--$option $value" 2 "--$option has to be $range" buffers "${paper[@]}" "--$option" "$value"
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
refused "no --ports" 2 "--ports is missing" buffers --rate 40g --buffer 12mb
refused "no --rate" 2 "--rate is missing" buffers --ports 32 --buffer 12mb
refused "no --buffer" 2 "--buffer is missing" buffers --ports 32 --rate 40g
refused "kmin above kmax" 2 "--kmin, 300000 bytes, is above --kmax, 200000 bytes" buffers "${paper[@]}" --kmin 300kb
refused "no room" 1 "the headrooms of 64 ports and 8 priorities, 25720 bytes each, leave nothing of the buffer" \
	buffers --ports 64 --rate 40g --buffer 12mb
refused "an option that there is not" 2 "unrecognized option '--foo'" buffers --foo
refused "a word" 2 "'foo' is not an option" buffers foo
refused "a command that there is not" 2 "no such command: foo" foo
refused "no command" 2 "Usage: closnet COMMAND"

refused "too few thresholds" 2 "closnet pcrp: set needs 3 sizes" pcrp set 1kb 2kb
refused "too many" 2 "closnet pcrp: set needs 3 sizes" pcrp set 1kb 2kb 3kb 4kb
for size in x 1tb 1.2.3 ""; do
	refused "a threshold of '$size'" 2 "'$size' is not a size, as in 25kb" pcrp set 1kb 2kb "$size"
done
refused "a word that there is not" 2 "'put' is not get, set or reset" pcrp put
refused "a word too many" 2 "reset takes no 'all'" pcrp reset all
refused "an option that there is not" 2 "unrecognized option '--foo'" pcrp --foo
if module_loaded sch_pcrp; then
	skip "no sch_pcrp" "it is loaded"
else
	refused "no sch_pcrp" 1 "the kernel has no closnet_pcrp: is sch_pcrp loaded?" pcrp
fi

# documented: has closnet(8) each option of the help, and each key of the JSON?
documented() {
	local word words missing=0
	words=$(sed 's/\\//g' "$page")
	# what is not computed is an option
	for word in $({ closnet buffers --help && closnet pcrp --help; } | grep -oE '^  (-j, )?(--)?[a-z]+' | grep -oE '[a-z]{2,}') \
		$(closnet buffers "${paper[@]}" -j | jq -r 'keys[]' | grep -E '^(flight|headroom|shared|pfc|ecn|worst)'); do
		grep -qwF -- "$word" <<<"$words" && continue
		echo "it lacks $word"
		missing=1
	done
	[ "$missing" -eq 0 ]
}
check "closnet(8) has all options and numbers" documented

# of_user: its examples for everybody; those of the superuser come behind them, and man.sh tests them
of_user() { examples "$page" | sed '/^# /,$d'; }

# run_examples: their commands and what these print
run_examples() {
	of_user | sed -n 's/^\$ //p' | while read -r line; do
		printf '$ %s\n' "$line"
		bash -c "$line"
	done
}
check_eq "its examples print what it shows" "$(run_examples)" "$(of_user)"
finish

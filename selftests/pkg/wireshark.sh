#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# tools/wireshark/ndp.lua: what tshark shows of packets that net/ndp/ndp_wire.h has written. Runs on the host.
# ndp_golden.pcap is the capture, ndp_golden.txt its summary: if they are to change, the protocol has changed.
# shellcheck disable=SC2317 # functions are called through check
. "$(dirname "$0")/../lib/lib.sh"

here=$LIB_TOP/selftests/pkg
"$LIB_TOP/tools/deps.sh" build wireshark || skip_all "no tshark"
gcc -std=gnu11 -Wall -Wextra -Werror -O1 -I"$LIB_TOP/include" -I"$LIB_TOP/include/uapi" \
	-o "$TMP/ndp_capture" "$here/ndp_capture.c" || exit 1

# A home of its own: no plug-ins and preferences but these
export HOME=$TMP

# A column for each field, named in the first line; a field that a frame does not have is empty.
fields=(version type flags payload_len flow_id seq path try_no checksum srcport dstport prio msg_id base pull_target
	offset msg_len cookie dscp ecn ack_base pull sack nack nacks window code payload
	flags.syn flags.rtx flags.last flags.spec flags.ack flags.nack flags.pull flags.probed flags.bare
	is_trimmed is_returned bad_checksum other_version reserved_set short)

# dissect FIELD...: all frames, a line each
dissect() {
	tshark -X "lua_script:$LIB_TOP/tools/wireshark/ndp.lua" -r "$TMP/ndp.pcap" -T fields -E header=y -E separator=/t \
		"${@/#/-e}" 2>"$TMP/err"
}

# shown FRAME FIELD...: values of a frame's fields
shown() {
	awk -F '\t' -v frame="$1" -v fields="${*:2}" '
		NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
		NR == frame + 1 {
			count = split(fields, field, " ")
			for (i = 1; i <= count; i++)
				printf "%s%s", (i > 1 ? " " : ""), $column["ndpt." field[i]]
		}' "$TMP/fields.txt"
}

# frames FIELD: numbers of those that have it, and in which it is not false
frames() {
	awk -F '\t' -v field="ndpt.$1" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == field) column = i }
		NR > 1 && $column != "" && $column != "0" && $column != "False" { print NR - 1 }' \
		"$TMP/fields.txt" | paste -s -d ' '
}

# test_frame WHAT FRAME VALUES FIELD...
test_frame() {
	check_eq "$1" "$(shown "$2" "${@:4}")" "$3"
}

check_to "$TMP/ndp.pcap" "packets of all types are written" "$TMP/ndp_capture"
check "as ever, byte by byte" cmp "$TMP/ndp.pcap" "$here/ndp_golden.pcap"
check_to "$TMP/info.txt" "tshark reads them" dissect _ws.col.Protocol _ws.col.Info
check "the summary is as ever" diff "$here/ndp_golden.txt" "$TMP/info.txt"
check "and Lua has nothing to complain of" awk '/Lua/ { print; bad = 1 } END { exit bad }' "$TMP/err"

check_to "$TMP/fields.txt" "and their fields" dissect "${fields[@]/#/ndpt.}"
test_frame "the first 16 bytes" 1 "1 1 0x09 150 0xc0ffee01 100 5 0 0x39fb" version type flags \
	payload_len flow_id seq path try_no checksum
test_frame "DATA" 2 "4000 80 3 7 98 12 300 1099511627775 0x0123456789abcdef" srcport dstport prio \
	msg_id base pull_target offset msg_len cookie
test_frame "CONTROL" 4 "80 4000 48 1 98 40 0x0000000000000002 0x0000000000000005 3 23" srcport dstport \
	dscp ecn ack_base pull sack nack nacks window
test_frame "PROBE" 6 "3 4294967295 0 12" type seq base pull_target
test_frame "ERROR" 8 "4 3 7" type code msg_id
test_frame "COOKIE" 9 "5 0xfedcba9876543210" type cookie
check_eq "the payload that is there" "$(shown 11 payload | wc -c)" $((2 * (128 - 14 - 20 - 8 - 56)))

check_eq "flags of DATA: SYN" "$(frames flags.syn)" "1 11 12 13 14 15 16 17 18 20"
check_eq "RTX" "$(frames flags.rtx)" 2
check_eq "LAST" "$(frames flags.last)" 2
check_eq "SPEC" "$(frames flags.spec)" "1 11 12 13 14 15 16 17 18 20"
check_eq "flags of CONTROL: ACK" "$(frames flags.ack)" "3 22"
check_eq "NACK" "$(frames flags.nack)" "4 10"
check_eq "PULL" "$(frames flags.pull)" "4 5"
check_eq "PROBED" "$(frames flags.probed)" 7
check_eq "BARE" "$(frames flags.bare)" 10

check_eq "trimmed, whatever lengths the switch left; a short capture is not" \
	"$(frames is_trimmed)" "11 12 13 14 15"
check_eq "returned" "$(frames is_returned)" 15
check_eq "wrong checksums, of either part" "$(frames bad_checksum)" "17 18"
check_eq "another version" "$(frames other_version)" 19
test_frame "is not looked into" 19 "3  " version type seq
check_eq "reserved bits" "$(frames reserved_set)" 20
check_eq "too short" "$(frames short)" "21 22"
finish

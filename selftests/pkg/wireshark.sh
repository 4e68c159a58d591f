#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# tools/wireshark/ndp.lua: tshark's output for packets written by net/ndp/wire.c. Runs on the host. ndp_golden.pcap
# is the capture, ndp_golden.txt its summary. They change only if the protocol changes.
# shellcheck disable=SC2317 # functions are called through check
. "$(dirname "$0")/../lib/lib.sh"
. "$LIB_TOP/selftests/lib/wireshark.sh"
here=$LIB_TOP/selftests/pkg
build_capture ndp_capture net/ndp/wire.c

# The output has a column for each field, named in the first line. Missing fields of a frame are empty.
fields=(version type flags payload_len flow_id seq path try_no checksum srcport dstport prio msg_id base pull_target
	offset msg_len ack_delay ack_flow_id ack_seq msg_base token dscp ecn ack_base pull sack nack trimmed_packets window code tag payload
	flags.syn flags.rtx flags.last flags.spec flags.carrier flags.ack flags.nack flags.pull flags.probed flags.bare
	flags.full flags.ping flags.room
	is_trimmed is_returned bad_checksum other_version reserved_set short)

# dissect FIELD...: print a line with these fields for each frame
dissect() { dissect_with ndp.lua ndp.pcap -E header=y -E separator=/t "${@/#/-e}"; }

# shown FRAME FIELD...: print values of a frame's fields
shown() {
	awk -F '\t' -v frame="$1" -v fields="${*:2}" '
		NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
		NR == frame + 1 {
			count = split(fields, field, " ")
			for (i = 1; i <= count; i++)
				printf "%s%s", (i > 1 ? " " : ""), $column["ndpt." field[i]]
		}' "$TMP/fields.txt"
}

# frames FIELD: print the numbers of frames in which the field is present and not false
frames() {
	awk -F '\t' -v field="ndpt.$1" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == field) column = i }
		NR > 1 && $column != "" && $column != "0" && $column != "False" { print NR - 1 }' \
		"$TMP/fields.txt" | paste -s -d ' '
}

# test_frame NAME FRAME VALUES FIELD...
test_frame() {
	check_eq "$1" "$(shown "$2" "${@:4}")" "$3"
}

check_to "$TMP/ndp.pcap" "capture of all packet types is written" "$TMP/ndp_capture"
check "capture is identical to ndp_golden.pcap" cmp "$TMP/ndp.pcap" "$here/ndp_golden.pcap"
check_to "$TMP/info.txt" "tshark dissects the capture" dissect _ws.col.Protocol _ws.col.Info
# the column's names differ between versions
check "tshark's summary is identical to ndp_golden.txt" diff "$here/ndp_golden.txt" <(tail -n +2 "$TMP/info.txt")
check "Lua reports no error" awk '/Lua/ { print; bad = 1 } END { exit bad }' "$TMP/err"

check_to "$TMP/fields.txt" "tshark prints the fields" dissect "${fields[@]/#/ndpt.}"
test_frame "first 16 bytes are dissected" 1 "2 1 0x09 150 0xc0ffee01 100 5 0 0x29fb" version type flags \
	payload_len flow_id seq path try_no checksum
test_frame "DATA fields are dissected" 2 "4000 80 3 7 98 12 300 1099511627775 6 0x01234567" srcport dstport prio \
	msg_id base pull_target offset msg_len msg_base token
test_frame "CONTROL fields are dissected" \
	4 "80 4000 48 1 98 40 0x0000000000000002 0x0000000000000005 3 23" srcport dstport \
	dscp ecn ack_base pull sack nack trimmed_packets window
test_frame "PROBE fields are dissected" 6 "3 4294967295 0 12" type seq base pull_target
test_frame "ERROR fields are dissected" 8 "4 3 7" type code msg_id
test_frame "COOKIE fields are dissected" 9 "5 0xfedcba98" type token
check_eq "payload of a trimmed packet ends at the frame's end" \
	"$(shown 11 payload | wc -c)" $((2 * (128 - 14 - 20 - 8 - 56)))

test_frame "a tag is dissected" 25 "3 98 a0a1a2a3a4a5a6a7" version base tag
check_eq "a tag is no payload" "$(shown 25 payload | wc -c) $(shown 26 payload | wc -c)" \
	"$((2 * 150)) $((2 * (128 - 14 - 20 - 8 - 64)))"

check_eq "flag SYN of DATA is dissected" "$(frames flags.syn)" "1 11 12 13 14 15 16 17 18 20 25 26 27 28"
check_eq "flag RTX of DATA is dissected" "$(frames flags.rtx)" 2
check_eq "flag LAST of DATA is dissected" "$(frames flags.last)" 2
check_eq "flag SPEC of DATA is dissected" "$(frames flags.spec)" "1 11 12 13 14 15 16 17 18 20 25 26"
check_eq "flag ACK of DATA is dissected" "$(frames flags.carrier)" "27 28"
check_eq "flag ACK of CONTROL is dissected" "$(frames flags.ack)" "3 22"
check_eq "flag NACK of CONTROL is dissected" "$(frames flags.nack)" "4 10"
check_eq "flag PULL of CONTROL is dissected" "$(frames flags.pull)" "4 5"
check_eq "flag PROBED of CONTROL is dissected" "$(frames flags.probed)" 7
check_eq "flag BARE of CONTROL is dissected" "$(frames flags.bare)" 10
check_eq "flag FULL of CONTROL is dissected" "$(frames flags.full)" 23
check_eq "flag PING of CONTROL is dissected" "$(frames flags.ping)" 7
check_eq "flag ROOM of CONTROL is dissected" "$(frames flags.room)" "3 22"
test_frame "a carried ACK is dissected" 27 " 4275878552 23 0xbeef0001 41 6" offset msg_len ack_delay ack_flow_id ack_seq \
	msg_base
test_frame "an ACK on a trimmed carrier is dissected" 28 "0xbeef0001 41" ack_flow_id ack_seq
test_frame "a refused message is dissected" 24 "4 5 7" type code msg_id

check_eq "packets trimmed with any lengths are detected, and short captures are not taken for them" \
	"$(frames is_trimmed)" "11 12 13 14 15 26 28"
check_eq "returned packet is detected" "$(frames is_returned)" 15
check_eq "wrong checksums of both parts of the header are detected" "$(frames bad_checksum)" "17 18"
check_eq "other version is detected" "$(frames other_version)" 19
test_frame "packet of another version is not dissected" 19 "0  " version type seq
check_eq "reserved bits are detected" "$(frames reserved_set)" 20
check_eq "packets that are too short are detected" "$(frames short)" "21 22"
finish

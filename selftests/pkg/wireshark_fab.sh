#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# tools/wireshark/closfab.lua: tshark's output for packets written by net/closfab/fab_wire.c. Runs on the host.
# shellcheck disable=SC2317 # functions are called through check
. "$(dirname "$0")/../lib/lib.sh"
. "$LIB_TOP/selftests/lib/wireshark.sh"
build_capture fab_capture net/closfab/fab_wire.c

fields=(version op flags path epoch proto instance bucket tx_us tail_us seq mac cell)
# dissect: print a line for each frame: fields of closfab, then the protocol and the UDP ports
dissect() {
	dissect_with closfab.lua fab.pcap -E separator=/s -E quote=n "${fields[@]/#/-eclosfab.}" \
		-e _ws.col.Protocol -e udp.dstport
}
info() { dissect_with closfab.lua fab.pcap -e _ws.col.Info; }

# frame NAME NUMBER LINE: compare a frame's line; spaces count as one
frame() { check_eq "$1" "$(sed -n "$2p" "$TMP/lines" | tr -s ' ')" "$3"; }

check_to "$TMP/fab.pcap" "capture of all packet types is written" "$TMP/fab_capture"
check_to "$TMP/lines" "tshark dissects the capture" dissect
check "Lua reports no error" awk '/Lua/ { print; bad = 1 } END { exit bad }' "$TMP/err"
frame "DATA is dissected, and the packet inside" 1 "1 0 0x00 0x0203 0 0x0800 0xabcd 0 0 closfab 8474,9"
frame "ORDERED has a sequence number" 2 "1 1 0x00 0x0203 0 0x0800 0xabcd 5 1000 4000000001 closfab 8474,9"
frame "the first CELL is not taken for a packet" \
	3 "1 2 0x20 0x0103 0 0x0800 0xabcd 4095 1001 8 $(printf 'ce%.0s' {1..16}) closfab 8474"
frame "the last CELL is dissected" 4 "1 2 0x40 0x0103 0 0x0800 0xabcd 4095 1002 9 $(printf 'ce%.0s' {1..16}) closfab 8474"
frame "RTT_REQUEST with an IPv6 packet is dissected" 5 "1 3 0x01 0x0400 7 0x86dd 0xabcd 1 1003 0 closfab 8474,9"
frame "TAIL has its clock" 6 "1 3 0x02 0x0400 7 0x0800 0xabcd 1 1004 1004 closfab 8474,9"
frame "REROUTED has TAIL's clock" 7 "1 3 0x04 0x0500 7 0x0800 0xabcd 1 1005 1004 closfab 8474,9"
frame "RTT_REPLY has no sequence number" 8 "1 4 0x18 0x0400 7 0x0000 0xabcd 1 1003 closfab 8474"
frame "CLEAR is dissected" 9 "1 5 0x10 0x0500 7 0x0000 0xabcd 1 1004 closfab 8474"
frame "NOTIFY is dissected" 10 "1 6 0x00 0x0500 7 0x0000 0xabcd 1 1005 closfab 8474"
frame "the MAC is dissected, and the packet behind it" \
	11 "1 1 0x80 0x0203 0 0x0800 0xabcd 5 1006 1 0xfedcba9876543210 closfab 8474,9"
frame "another version is left to UDP" 12 " UDP 8474"
frame "a header that is cut is left to UDP" 13 " UDP 8474"
frame "a MAC that is cut is left to UDP" 14 " UDP 8474"
check_to "$TMP/info" "tshark prints the summary" info
check_eq "the summary has kind and flags" "$(sed -n '1s/:.*//p; 8s/:.*//p' "$TMP/info")" \
	"DATA"$'\n'"RTT_REPLY CE_ECHO REFUSE"
finish

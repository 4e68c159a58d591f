# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154,SC2317 # lib.sh sets TMP; check calls functions
# Tests of Wireshark's dissectors, on the host: a program that writes a capture, and tshark with a dissector.

"$LIB_TOP/tools/deps.sh" build wireshark || skip_all "no tshark"
# a new home directory, so that no other plug-ins or preferences apply
export HOME=$TMP
# Since 4.4, tshark runs no scripts of root's.
user=()
[ "$(id -u)" -ne 0 ] || user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
chmod 711 "$TMP"

# build_capture PROGRAM WIRE: build selftests/pkg/PROGRAM.c with the module's source of its packets
build_capture() {
	gcc -std=gnu11 -Wall -Wextra -Werror -O1 -I"$LIB_TOP/include" -I"$LIB_TOP/include/uapi" \
		-o "$TMP/$1" "$LIB_TOP/selftests/pkg/$1.c" "$LIB_TOP/$2" || exit 1
}

# dissect_with DISSECTOR CAPTURE OPTION...: print fields of a capture's frames by tools/wireshark/DISSECTOR
dissect_with() {
	install -m 644 "$LIB_TOP/tools/wireshark/$1" "$TMP"
	${user[@]+"${user[@]}"} tshark -X "lua_script:$TMP/$1" -r "$TMP/$2" -T fields "${@:3}" 2>"$TMP/err"
}

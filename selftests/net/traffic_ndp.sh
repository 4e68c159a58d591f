#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The lab's traffic generator: NDP messages longer than the send buffer, which threads send, also when flows end early
#
#	+------------ a ------------+     +------------ b ------------+
#	| h0 ------------------> w0 |=====| w1 <------------------ h1 |
#	+---------------------------+     +---------------------------+
# shellcheck disable=SC2154,SC2317 # setup_ns sets a and b; check calls the functions
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
. "$(dirname "$0")/../lib/ndp.sh"
TRAFFIC=$LIB_TOP/build/lab/traffic
[ -x "$TRAFFIC" ] || skip_all "no $TRAFFIC: make -C tools/lab/traffic"
setup_ns a b
wire_ab rate 400mbit delay 5us
cat >"$TMP/hosts" <<-END
	host h0 $a 10.0.0.1 0 0
	host h1 $b 10.0.0.2 0 0
	path same-leaf 400000000:1000 400000000:1000
END

# traffic WORD...: run the generator; records: $TMP/flows
traffic() { timeout 300 "$TRAFFIC" --hosts "$TMP/hosts" --flows "$TMP/flows" "$@" >"$TMP/summary"; }

# flows STATE: number of flows in this state, and bytes received, responses included
flows() {
	awk -F , -v state="$1" '
		NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		$c["state"] == state { n++; sum += $c["received_bytes"] }
		END { print n + 0, sum + 0 }' "$TMP/flows"
}

check "long messages are sent" traffic bulk src=h0 dst=h1 flows=2 transport=ndp bytes=6M
check_eq "both long messages arrive" "$(flows "done")" "2 12000000"
check "long requests and responses are sent, one after the other" \
	traffic rpc src=h0 dst=h1 transport=ndp request=3M response=2M count=3
check_eq "requests and responses arrive" "$(flows "done")" "3 15000000"
check "a long message with sndbuf= is sent" traffic bulk src=h0 dst=h1 transport=ndp bytes=3M sndbuf=8M
check_eq "message with sndbuf= arrives" "$(flows "done")" "1 3000000"

# its thread is interrupted while it sends
check "a long message that the end interrupts is sent in part" \
	traffic --time 20ms --drain 1ms bulk src=h0 dst=h1 transport=ndp bytes=100M
check_eq "interrupted message has not arrived" "$(flows "done")" "0 0"

# cut_link BYTES: send messages while the link goes down, which fails them after 5 s
cut_link() {
	ip -n "$b" link set w1 up
	(sleep 0.01 && ip -n "$b" link set w1 down) &
	traffic bulk src=h0 dst=h1 flows=2 transport=ndp bytes="$1"
	[ $? -eq 1 ]
}
if exact; then
	check "long messages on a link that goes down fail" cut_link 50M
	check_eq "both have failed" "$(flows failed | cut -d ' ' -f 1)" 2
fi
finish

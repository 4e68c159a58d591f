#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# voq refuses messages of strangers: from an unprivileged port, without the key, malformed; and survives a flood of
# requests of VOQs that do not exist.
# shellcheck disable=SC2154,SC2034,SC2119,SC2317 # fab_net sets the namespaces, and uses rate; check calls functions
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/voq.sh"
need_voq_fab
rate=1gbit
fab_net
ip -n "$r" route add 10.0.1.1/32 dev rh
ip -n "$t" route replace 10.0.1.0/24 via 10.1.0.1
ip -n "$h" route add 10.9.0.2/32 via 10.0.1.9
forge() { in_ns "$h" python3 "$(dirname "$0")/voq_forge.py" "$@"; }
# all_known: the egress leaf has taken the requests of the ingress leaf, and no forged ones
all_known() { [ "$(egress requests)" = "$(ingress requests)" ]; }

voq_net queues 64
check_eq "all bytes arrive" "$(transfer 100000)" 100000
forge 10.9.0.2 5000 request 20 10.0.2.2 >/dev/null
check "messages from an unprivileged port are refused" wait_for 5 egress_is rx_port 20
check "and not taken" wait_for 5 all_known
forge 10.9.0.2 793 random 20 >/dev/null
forge 10.9.0.2 793 short 20 >/dev/null
forge 10.9.0.2 793 lie 20 10.0.2.2 >/dev/null
check "malformed messages are refused" wait_for 5 egress_least rx_malformed 59
check "and not taken" wait_for 5 all_known
check_eq "a request with more use than credit has no answer" "$(forge 10.9.0.2 793 unearned 1 10.0.2.2)" 0
forge 10.9.0.1 793 grant 20 >/dev/null
check_eq "grants for no VOQ give no credit" "$(ingress granted_bytes)" "$(egress granted_bytes)"

# ---- strangers that may send requests

check_eq "a request gets one answer" "$(forge 10.9.0.2 793 retry 10 10.0.2.2)" 10
forge 10.9.0.2 793 request 1000 10.0.2.2 >/dev/null
check "sources are bounded" [ "$(egress queues)" -le 64 ]
check "while strangers have all credit, bytes arrive" [ "$(transfer 100000)" = 100000 ]
check "silent strangers are forgotten" wait_for 5 egress_is waiting 0
check "strangers were forgotten" [ $(($(egress forgotten) + $(egress stalled))) -ge 1 ]
check_eq "all bytes arrive afterwards" "$(transfer 100000)" 100000
check_eq "requests for other addresses are refused: one answer each" "$(forge 10.9.0.2 793 retry 10 10.77.0.1)" 10

before=$(ingress rx_malformed)
check "multicasts are sent" wait_for 5 forge ff02::1%h0 793 request 10 10.0.2.2
check "multicasts are refused" wait_for 5 at_least $((before + 10)) ingress rx_malformed

# ---- key

tc -n "$r" qdisc del dev fab0 root
tc -n "$t" qdisc del dev td root
voq_net key 00112233445566778899aabbccddeeff
check_eq "key: all bytes arrive" "$(transfer 300000)" 300000
check "key: with credit" at_least 300000 ingress granted_bytes
before=$(egress rx_not_authentic)
check_eq "key: forged requests have no answer" "$(forge 10.9.0.2 793 retry 20 10.0.2.2)" 0
check_eq "key: forged requests are refused" "$(egress rx_not_authentic)" $((before + 20))
tc -n "$r" qdisc del dev fab0 root
voq_on "$r" fab0 credit key ffeeddccbbaa99887766554433221100
check "different keys: packets pass without credit" wait_for 5 in_ns "$h" ping -q -c 1 -W 1 10.0.2.2
check "different keys: messages are refused" at_least $((before + 21)) egress rx_not_authentic

# ---- a route that leads messages back to the sender's own device

tc -n "$r" qdisc del dev fab0 root
tc -n "$t" qdisc del dev td root
voq_net
ip -n "$r" route add 10.9.0.99/32 dev fab0 encap ip dst 10.9.0.99 2>/dev/null || true
ip -n "$r" route add 10.0.9.0/24 encap ip dst 10.9.0.99 dev fab0
in_ns "$h" ping -q -c 3 -i 0.01 -W 1 10.0.9.1 >/dev/null || true
check_eq "a leaf behind its own tunnel harms no other VOQ" "$(transfer 100000)" 100000
finish

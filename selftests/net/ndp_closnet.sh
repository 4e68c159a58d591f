#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# closnet ndp shows the sockets, peers and flows of its own network namespace, few and many, to all users. It shows the
# ids of flows only to root.
#
#	+--------- a ---------+     +--------- b ---------+
#	| ndp_msg send -> w0  |=====| w1 -> receive       |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2154,SC2317,SC2016 # setup_ns sets a and b; functions are called through wait_for; jq expands
. "$(dirname "$0")/../lib/lib.sh"
need_closwire
. "$(dirname "$0")/../lib/ndp.sh"
setup_ns a b
wire_ab rate 1gbit delay 5us

# show NS ARGUMENT...
show() { ip netns exec "$1" closnet ndp "${@:2}"; }
# has NS FILTER: true if jq's FILTER is true for the JSON output in NS, which is stored in $TMP/shown
has() {
	show "$1" -j >"$TMP/shown"
	jq -e "$2" "$TMP/shown" >/dev/null
}

check_eq "tables are empty without sockets" "$(show "$a")" "sockets:
peers:
sending:
receiving:"
check_json "$(show "$a" -j)" "JSON tables are empty without sockets" \
	'. == {sockets: [], peers: [], sending: [], receiving: []}'

# ---- few entries: one of the two senders that the receiver waits for

job ndp_msg receive -n "$b" -p 9 -s 2 -c 3 -l 100k -t 100
check "the receiver's socket is shown" wait_for 10 has "$b" '.sockets | length == 1'
check "three messages are sent" ndp_msg send -n "$a" -p 9 -P 1234 -d 10.0.0.2 -c 3 -l 100k
show "$b" -j >"$TMP/few"
check_json "$(<"$TMP/few")" \
	"receiver's socket is bound to all addresses" \
		'.sockets[0] | .local == "::" and .local_port == 9 and has("remote") == false' \
	"receiver's socket has an inode" '.sockets[0].inode > 0' \
	"socket of SOCK_RDM is not ordered" '.sockets[0].ordered == 0' \
	"receiver's socket counts messages and bytes" \
		'.sockets[0] | .msgs_received == 3 and .bytes_received == 307200 and .msgs_sent == 0' \
	"one received flow is shown" '.receiving | length == 1' \
	"received flow has addresses and ports" '.receiving[0] | .local == "10.0.0.2" and .remote == "10.0.0.1"
		and .local_port == 9 and .remote_port == 1234' \
	"finished flow has no pending messages or packets" \
		'.receiving[0] | .msgs == 0 and .demand == 0 and .held == 0 and .trimmed == 0' \
	"received flow has its device" ".receiving[0].device == $(ip -n "$b" -j link show dev w1 | jq '.[0].ifindex')" \
	"one peer is shown" '.peers | length == 1 and .[0].local == "10.0.0.2" and .[0].remote == "10.0.0.1"' \
	"paths without sent packets have zero counts" '.peers[0] | .paths == 64 and .avoided == 0
		and .acked == [range(64) | 0] and .lost == .acked' \
	"no sending flow is shown" '.sending == []'
# unknown: output of closnet if each message and each nest has an additional unknown attribute
unknown() { ip netns exec "$b" env LD_PRELOAD="$CLOSNET_TESTBIN/netlink_unknown.so" closnet ndp "$@" 2>"$TMP/unknown"; }
same='del(.receiving[].idle_ns)'
check_eq "unknown attributes do not change the output" \
	"$(unknown -j | jq -c "$same")" "$(show "$b" -j | jq -c "$same")"
# messages of one socket, one peer and one flow; the nest of the socket's counters, 64 nests of paths
check_eq "each message and each nest had an unknown attribute" \
	"$(<"$TMP/unknown")" "unknown attributes: $((3 + 1 + 64))"
check_eq "text output omits zeros" "$(show "$b" receiving | grep -c demand)" 0
check_json "$(show "$b" receiving -j)" "a table can be shown alone" 'keys == ["receiving"]'
check_json "$(show "$a" -j)" "entries of other namespaces are not shown" 'map(length) == [0, 0, 0, 0]'
check "the second sender's messages arrive" ndp_msg send -n "$a" -p 9 -d 10.0.0.2 -c 3 -l 100k
check "all flows are freed after the messages" wait_for 20 unused
job ndp_msg receive -n "$b" -O -p 9 -l 1 -t 100
check "socket of SOCK_SEQPACKET is shown as ordered" wait_for 10 has "$b" '.sockets | length == 1 and .[0].ordered == 1'
stop_jobs

# ---- many entries: a socket sends to 40 hosts that do not answer, which fills several netlink messages

silent=$(seq -f 10.0.0.%g -s, 101 140)
for i in {101..140}; do
	echo "neigh add 10.0.0.$i lladdr $MAC_B nud permanent dev w0"
done | ip -n "$a" -batch -
# many: send repeatedly, because messages fail after 5 s
many() { while ndp_msg send -n "$a" -p 9 -d "$silent" -c 1 -l 9k -e -t 100; do :; done; }
job many
check "lost packets and avoided paths of 40 peers are shown" wait_for 60 has "$a" '(.sending | length == 40)
	and (.peers | length == 40 and all((.lost | add) > 0 and .avoided > 0))'
cp "$TMP/shown" "$TMP/many"
check_json "$(<"$TMP/many")" \
	"socket with 40 peers is shown" '.sockets | length == 1 and .[0].peers == 40 and .[0].paths == 40 * 64' \
	"each of 40 flows is shown once" '.sending | map(.flow_id) | unique | length == 40' \
	"each flow has its socket's port" \
		'.sockets[0].local_port as $port | .sending | all(.local_port == $port and .remote_port == 9)' \
	"each of 40 peers is shown once" '.peers | map(.remote) | unique | length == 40'
unprivileged() { ip netns exec "$a" setpriv --reuid 65534 --regid 65534 --clear-groups closnet ndp -j; }
check_json "$(unprivileged)" \
	"unprivileged users see flows" '.sending | length > 0 and all(.remote_port == 9)' \
	"unprivileged users do not see flow ids, with which packets could be forged" \
		'[.sending[], .receiving[] | has("flow_id")] | any | not'
stop_jobs
check "all flows are freed after their messages have failed" wait_for 60 unused
check_json "$(show "$a" -j)" "tables are empty after all flows were freed" 'map(length) == [0, 0, 0, 0]'

check_refused "unknown table is refused" '"x" is not sockets, peers, sending or receiving' closnet ndp x
check_refused "two tables are refused" 'unexpected argument "peers" after sending' closnet ndp sending peers

# documented: true if closnet(8) describes each key of the JSON output
documented() {
	local key
	for key in $(jq -r '.[] | .[] | keys[]' "$TMP/few" "$TMP/many" | sort -u); do
		grep -qw "$key" "$LIB_TOP/Documentation/man/closnet.8" || { echo "it lacks $key"; return 1; }
	done
}
check "closnet(8) describes all JSON keys" documented
finish

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# closnet ndp: it shows the sockets, peers and flows that there are, a few and many, and none of
# another namespace, to everybody; ids of flows to the administrator alone.
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
# has NS FILTER: is it true of what is shown? That is then in $TMP/shown.
has() {
	show "$1" -j >"$TMP/shown"
	jq -e "$2" "$TMP/shown" >/dev/null
}

check_eq "there is nothing" "$(show "$a")" "sockets:
peers:
sending:
receiving:"
check_json "$(show "$a" -j)" "in JSON neither" '. == {sockets: [], peers: [], sending: [], receiving: []}'

# ---- a few: one of the two senders that the receiver waits for

job ndp_msg receive -n "$b" -p 9 -s 2 -c 3 -l 100k -t 100
check "the receiver's socket" wait_for 10 has "$b" '.sockets | length == 1'
check "three messages" ndp_msg send -n "$a" -p 9 -P 1234 -d 10.0.0.2 -c 3 -l 100k
show "$b" -j >"$TMP/few"
check_json "$(<"$TMP/few")" \
	"it takes all addresses" '.sockets[0] | .local == "::" and .local_port == 9 and has("remote") == false' \
	"it has an inode" '.sockets[0].inode > 0' \
	"it is of SOCK_RDM" '.sockets[0].ordered == 0' \
	"it has counted" '.sockets[0] | .msgs_received == 3 and .bytes_received == 307200 and .msgs_sent == 0' \
	"a flow comes" '.receiving | length == 1' \
	"from there" '.receiving[0] | .local == "10.0.0.2" and .remote == "10.0.0.1"
		and .local_port == 9 and .remote_port == 1234' \
	"all of it has come" '.receiving[0] | .msgs == 0 and .wished == 0 and .held == 0 and .trimmed == 0' \
	"by w1" ".receiving[0].device == $(ip -n "$b" -j link show dev w1 | jq '.[0].ifindex')" \
	"the peer" '.peers | length == 1 and .[0].local == "10.0.0.2" and .[0].remote == "10.0.0.1"' \
	"its paths, that nothing was sent by" '.peers[0] | .paths == 64 and .avoided == 0
		and .acked == [range(64) | 0] and .lost == .acked' \
	"nothing is sent" '.sending == []'
# unknown: what closnet shows if each message and each nest has one more attribute
unknown() { ip netns exec "$b" env LD_PRELOAD="$CLOSNET_TESTBIN/netlink_unknown.so" closnet ndp "$@" 2>"$TMP/unknown"; }
same='del(.receiving[].idle_ns)'
check_eq "attributes that closnet does not know change nothing" \
	"$(unknown -j | jq -c "$same")" "$(show "$b" -j | jq -c "$same")"
# the messages of one socket, one peer and one flow; the nest of the socket's numbers, 64 of paths
check_eq "there was one in each message and each nest" "$(<"$TMP/unknown")" "unknown attributes: $((3 + 1 + 64))"
check_eq "people do not see zeros" "$(show "$b" receiving | grep -c wished)" 0
check_json "$(show "$b" receiving -j)" "one table" 'keys == ["receiving"]'
check_json "$(show "$a" -j)" "not those of another namespace" 'map(length) == [0, 0, 0, 0]'
check "the other sender" ndp_msg send -n "$a" -p 9 -d 10.0.0.2 -c 3 -l 100k
check "all has gone" wait_for 20 unused
job ndp_msg receive -n "$b" -O -p 9 -l 1 -t 100
check "a socket of SOCK_SEQPACKET" wait_for 10 has "$b" '.sockets | length == 1 and .[0].ordered == 1'
stop_jobs

# ---- many: a socket that sends to 40 hosts which do not answer; that is several pieces

silent=$(seq -f 10.0.0.%g -s, 101 140)
for i in {101..140}; do
	echo "neigh add 10.0.0.$i lladdr $MAC_B nud permanent dev w0"
done | ip -n "$a" -batch -
# many: again and again, as messages fail after 5 s
many() { while ndp_msg send -n "$a" -p 9 -d "$silent" -c 1 -l 9k -e -t 100; do :; done; }
job many
check "packets to all of them are lost, and paths avoided" wait_for 60 has "$a" '(.sending | length == 40)
	and (.peers | length == 40 and all((.lost | add) > 0 and .avoided > 0))'
cp "$TMP/shown" "$TMP/many"
check_json "$(<"$TMP/many")" \
	"the socket" '.sockets | length == 1 and .[0].peers == 40 and .[0].paths == 40 * 64' \
	"each flow, once" '.sending | map(.flow_id) | unique | length == 40' \
	"of that socket" '.sockets[0].local_port as $port | .sending | all(.local_port == $port and .remote_port == 9)' \
	"each peer, once" '.peers | map(.remote) | unique | length == 40'
unprivileged() { ip netns exec "$a" setpriv --reuid 65534 --regid 65534 --clear-groups closnet ndp -j; }
check_json "$(unprivileged)" \
	"users without privileges see flows" '.sending | length > 0 and all(.remote_port == 9)' \
	"but not their ids, with which packets could be forged" '[.sending[], .receiving[] | has("flow_id")] | any | not'
stop_jobs
check "until they fail" wait_for 60 unused
check_json "$(show "$a" -j)" "then there is nothing" 'map(length) == [0, 0, 0, 0]'

check_refused "no such table" "'x' is not sockets, peers, sending or receiving" closnet ndp x
check_refused "one at a time" "sending takes no 'peers'" closnet ndp sending peers

# documented: has closnet(8) each key of the JSON?
documented() {
	local key
	for key in $(jq -r '.[] | .[] | keys[]' "$TMP/few" "$TMP/many" | sort -u); do
		grep -qw "$key" "$LIB_TOP/Documentation/man/closnet.8" || { echo "it lacks $key"; return 1; }
	done
}
check "closnet(8) has all numbers" documented
finish

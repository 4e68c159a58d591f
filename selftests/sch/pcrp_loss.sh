#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A network that loses, duplicates, reorders and delays control packets or all packets, in both directions: all data
# arrives, no connection stalls, no flow waits forever, and each control packet is accounted for.
# shellcheck disable=SC2317 # functions are called through check and wait_for
#
#	+---- a ----+     +-------- m --------+     +---- b ----+
#	| w0: pcrp  |=====| p0 = bridge = p1  |=====| w1: pcrp  |
#	+-----------+     +-------------------+     +-----------+
#	                     netem      netem
. "$(dirname "$0")/../lib/lib.sh"
need_sch pcrp
need_closwire
m=''
setup_ns a b m
. "$(dirname "$0")/../lib/pcrp.sh"
. "$(dirname "$0")/../lib/pcrp_pair.sh"
ip link add w0 address $MAC_A netns "$a" type closwire rate 1gbit delay 5us peer name p0 netns "$m"
ip link add w1 address $MAC_B netns "$b" type closwire rate 1gbit delay 5us peer name p1 netns "$m"
ip -n "$m" link add br0 type bridge mcast_snooping 0 || skip_all "no bridges"
ip -n "$m" -batch - <<-END
	link set p0 master br0 up
	link set p1 master br0 up
	link set br0 up
END
ends_up w0 w1

# impair control|all NETEM...: set netem in both directions, for control packets or for all packets
impair() {
	local which=$1 dev parent
	shift
	for dev in p0 p1; do
		parent=root
		tc -n "$m" qdisc del dev $dev root 2>/dev/null || true
		if [ "$which" = control ]; then
			tc -n "$m" qdisc add dev $dev root handle 1: prio bands 2 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
			tc -n "$m" filter add dev $dev parent 1: protocol ip flower ip_proto udp \
				src_port 1021 dst_port 1021 classid 1:1
			parent="parent 1:1"
		fi
		# shellcheck disable=SC2086 # words
		tc -n "$m" qdisc add dev $dev $parent netem limit 10000 "$@" || skip_all "no netem"
	done
}

# fresh: create new qdiscs at both ends
fresh() {
	pcrp_new "$a/w0" chain 20000
	pcrp_new "$b/w1" chain 20000
}

# connection FROM TO ADDRESS PORT: a connection of two flows, each of several chains
connection() { tcp_flow -s "$1" -r "$2" -d "$3" -p "$4" connect send=150000 send=250000 close eof; }

# all_connections WHAT: four connections from a to b and two from b to a at the same time; sets ms, their duration
all_connections() {
	local pids=() port began=${EPOCHREALTIME/./}
	for port in 1 2 3 4; do
		connection "$a" "$b" 10.0.0.2 $port &
		pids+=($!)
	done
	for port in 5 6; do
		connection "$b" "$a" 10.0.0.1 $port &
		pids+=($!)
	done
	check_job "$1: all data arrives in order" "${pids[@]}"
	ms=$(((${EPOCHREALTIME/./} - began) / 1000))
	note "$1: $ms ms"
}

# all_finished: are both ends idle? An aborted flow ends after a second, when another packet is sent.
all_finished() {
	settled "$a/w0" "$b/w1" && return
	traffic udp -n "$a" -d 10.0.0.2 -p 9 -c 1 -l 100 >/dev/null
	traffic udp -n "$b" -d 10.0.0.1 -p 9 -c 1 -l 100 >/dev/null
	return 1
}

# check_idle WHAT: all flows have finished, and the counters of both ends, in $both, are consistent
check_idle() {
	check "$1: all flows finish" wait_for 5 all_finished
	sleep 0.01	# control packets of finished flows may still be in flight
	both="[$(pcrp_stats "$a/w0"),$(pcrp_stats "$b/w1")]"
	check_json "$both" \
		"$1: no control packet is malformed or refused" 'all(.rx_malformed == 0 and .grants_refused == 0)' \
		"$1: no packet is dropped" 'all(.drops == 0 and .rx_overflow == 0 and .flows_overflow == 0)' \
		"$1: at most 8 flows are granted at a time" 'all(.rx_granted == 0 and .rx_granted_peak <= 8)'
}

# control packets that each end has sent, and that the other end has received of them
# shellcheck disable=SC2016 # jq expands
{
	REQUESTS_TX='[.[] | .requests_sent + .probes_sent]'
	REQUESTS_RX='[.[1], .[0] | .rx_requests + .rx_probes]'
	GRANTS_TX='[.[] | .grants_sent + .answers_sent]'
	GRANTS_RX='[.[1], .[0] | .grants_received + .grants_late + .grants_idle + .grants_refused]'
}

# ---- no loss

fresh
impair all delay 20us
all_connections "no loss"
check_idle "no loss"
check_json "$both" \
	"no loss: each REQUEST and PROBE arrives" "$REQUESTS_TX == $REQUESTS_RX and ($REQUESTS_TX | all(. > 0))" \
	"no loss: each GRANT arrives" "$GRANTS_TX == $GRANTS_RX and ($GRANTS_TX | all(. > 0))"
if exact; then
	check_json "$both" "no loss: each peer counts as answering" 'all(.peers_answering == 1 and .peers_silent == 0)' \
		"no loss: no chain is overdue" 'all(.chains_overdue == 0)'
fi

# ---- control packets only

# check_tcp WHAT MS: TCP had no RTO, and the connections took at most MS
check_tcp() {
	exact || return 0
	check_eq "$1: TCP has no RTO" "$(netstat "$a" TCPTimeouts) $(netstat "$b" TCPTimeouts)" "0 0"
	check "$1: no connection stalls" [ "$ms" -le "$2" ]
}

fresh
impair control delay 20us loss 30%
what="control packets lost"
all_connections "$what"
check_idle "$what"
check_json "$both" \
	"$what: fewer REQUESTs and PROBEs arrive than are sent" \
		"[$REQUESTS_TX, $REQUESTS_RX] | transpose | all(.[0] > .[1])" \
	"$what: fewer GRANTs arrive than are sent" "[$GRANTS_TX, $GRANTS_RX] | transpose | all(.[0] > .[1])"
if exact; then
	check_json "$both" "$what: flows send PROBEs" 'all(.probes_sent > 0)' \
		"$what: chains are granted" 'all(.chains_granted > 10)'
fi
check_tcp "$what" 500

fresh
impair control delay 20us duplicate 50%
what="control packets duplicated"
all_connections "$what"
check_idle "$what"
check_json "$both" \
	"$what: more REQUESTs and PROBEs arrive than are sent" \
		"[$REQUESTS_TX, $REQUESTS_RX] | transpose | all(.[0] < .[1])" \
	"$what: more GRANTs arrive than are sent" "[$GRANTS_TX, $GRANTS_RX] | transpose | all(.[0] < .[1])" \
	"$what: duplicates of GRANTs have no effect" 'all(.grants_idle + .grants_late > 0)'
check_tcp "$what" 200

fresh
impair control delay 300us 250us
what="control packets delayed and reordered"
all_connections "$what"
check_idle "$what"
check_json "$both" \
	"$what: all control packets arrive" "$REQUESTS_TX == $REQUESTS_RX and $GRANTS_TX == $GRANTS_RX" \
	"$what: some GRANTs have no effect" 'all(.grants_late > 0 or .grants_idle > 0)'
check_tcp "$what" 500

fresh
impair control loss 100%
what="all control packets lost"
all_connections "$what"
check_idle "$what"
check_json "$both" "$what: no flow is gated" 'all(.chains_granted == 0 and .peers_answering == 0)'
check_tcp "$what" 200

# ---- all packets

for netem in "delay 50us loss 2%" "delay 200us 150us duplicate 10%"; do
	fresh
	# shellcheck disable=SC2086 # words
	impair all $netem
	all_connections "all packets: $netem"
	check_idle "all packets: $netem"
	exact && check "all packets: $netem: no connection stalls" [ "$ms" -le 3000 ]
done
finish

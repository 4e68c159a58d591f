#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A network that loses, doubles, reorders and delays, control packets alone or everything, on both ways: all bytes
# arrive, no connection stands still, no flow waits for ever, and each control packet is accounted for.
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
wire_up

# impair WHICH NETEM...: from now on, on both ways, to control packets or to all
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

# fresh: both begin anew
fresh() {
	pcrp_new "$a/w0" chain 20000
	pcrp_new "$b/w1" chain 20000
}

# connection FROM TO ADDRESS PORT: two flows, of some chains each
connection() { tcp_flow -s "$1" -r "$2" -d "$3" -p "$4" connect send=150000 send=250000 close eof; }

# all_connections WHAT: four from a to b, two from b to a, at a time; sets ms, how long they took
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
	check_job "$1: all bytes arrive, each in its place" "${pids[@]}"
	ms=$(((${EPOCHREALTIME/./} - began) / 1000))
	note "$1: $ms ms"
}

# nudged: what has been aborted is noticed after a second, when something else is sent
nudged() {
	settled "$a/w0" "$b/w1" && return
	traffic udp -n "$a" -d 10.0.0.2 -p 9 -c 1 -l 100 >/dev/null
	traffic udp -n "$b" -d 10.0.0.1 -p 9 -c 1 -l 100 >/dev/null
	return 1
}

# over WHAT: nothing is left behind at either side
over() {
	check "$1: all flows have ended, none waits" wait_for 5 nudged
	sleep 0.01	# for control packets that nobody waits for any more
	# the counters of both sides, which send to each other
	both="[$(pcrp_stats "$a/w0"),$(pcrp_stats "$b/w1")]"
	check_json "$both" \
		"$1: what arrived was sound" 'all(.rx_malformed == 0 and .grants_refused == 0)' \
		"$1: nothing was dropped" 'all(.drops == 0 and .rx_overflow == 0 and .flows_overflow == 0)' \
		"$1: no more than the table's places were granted" 'all(.rx_granted == 0 and .rx_granted_peak <= 8)'
}

# what one side has sent, and the other has got of it; GRANTs: in all that one may be taken for
# shellcheck disable=SC2016 # jq expands
{
	ASKED='[.[] | .requests_sent + .probes_sent]'
	HEARD='[.[1], .[0] | .rx_requests + .rx_probes]'
	GRANTED='[.[] | .grants_sent + .answers_sent]'
	TAKEN='[.[1], .[0] | .grants_received + .grants_late + .grants_idle + .grants_refused]'
}

# ---- as it should be: each one that was sent has come

fresh
impair all delay 20us
all_connections "no loss"
over "no loss"
check_json "$both" \
	"no loss: requests and probes have come" "$ASKED == $HEARD and ($ASKED | all(. > 0))" \
	"no loss: so have grants" "$GRANTED == $TAKEN and ($GRANTED | all(. > 0))"
if exact; then
	check_json "$both" "no loss: each host answers" 'all(.peers_answering == 1 and .peers_silent == 0)' \
		"no loss: no chain was overdue" 'all(.chains_overdue == 0)'
fi

# ---- control packets alone

# unnoticed WHAT MS: so many, at most; has TCP had no reason to send anything again?
unnoticed() {
	exact || return 0
	check_eq "$1: TCP has not noticed" "$(netstat "$a" TCPTimeouts) $(netstat "$b" TCPTimeouts)" "0 0"
	check "$1: no connection stood still" [ "$ms" -le "$2" ]
}

fresh
impair control delay 20us loss 30%
all_connections "control packets are lost"
over "control packets are lost"
check_json "$both" \
	"control packets are lost: some were" \
		"([$ASKED, $HEARD] | transpose | all(.[0] > .[1])) and ([$GRANTED, $TAKEN] | transpose | all(.[0] > .[1]))"
if exact; then
	check_json "$both" "control packets are lost: flows probe" 'all(.probes_sent > 0)' \
		"control packets are lost: they go on with grants" 'all(.chains_granted > 10)'
fi
unnoticed "control packets are lost" 500

fresh
impair control delay 20us duplicate 50%
all_connections "control packets come twice"
over "control packets come twice"
check_json "$both" \
	"control packets come twice: more come than are sent" \
		"([$ASKED, $HEARD] | transpose | all(.[0] < .[1])) and ([$GRANTED, $TAKEN] | transpose | all(.[0] < .[1]))" \
	"control packets come twice: a grant's double says nothing new" 'all(.grants_idle + .grants_late > 0)'
unnoticed "control packets come twice" 200

fresh
impair control delay 300us 250us
all_connections "control packets are late, in any order"
over "control packets are late, in any order"
check_json "$both" \
	"control packets are late: all have come" "$ASKED == $HEARD and $GRANTED == $TAKEN" \
	"control packets are late: some when their flow had ended, or said nothing new" \
		'all(.grants_late > 0 or .grants_idle > 0)'
unnoticed "control packets are late" 500

fresh
impair control loss 100%
all_connections "no control packet comes"
over "no control packet comes"
check_json "$both" "no control packet comes: no flow is gated" 'all(.chains_granted == 0 and .peers_answering == 0)'
unnoticed "no control packet comes" 200

# ---- everything

for how in "delay 50us loss 2%" "delay 200us 150us duplicate 10%"; do
	fresh
	# shellcheck disable=SC2086 # words
	impair all $how
	all_connections "all: $how"
	over "all: $how"
	exact && check "all: $how: no connection stood still" [ "$ms" -le 3000 ]
done
finish

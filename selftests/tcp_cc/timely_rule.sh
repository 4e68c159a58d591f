#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# profile=tuned with min_rtt: bursts, thresholds, additive step and lowest rate of
# mode classic follow link, minRTT and rate; values that are set override them, and
# without min_rtt, or with profile=paper, they are constants.
#
#	+--------- a ---------+     +--------- b ---------+
#	| sender -> w0 netem  |=====| w1 -> receiver      |
#	+---------------------+     +---------------------+
# shellcheck disable=SC2317 # functions are called through check
. "$(dirname "$0")/../lib/lib.sh"
exact || skip_all "virtual time only: RTTs are compared with thresholds of microseconds"
need_closwire
need_cc timely
setup_ns a b
. "$(dirname "$0")/../lib/timely.sh"
wire_ab rate 1gbit delay 20us
tc -n "$a" qdisc add dev w0 root netem limit 10000 || skip_all "no netem"
trace_cc || skip_all "no tracefs"
NETEM="run=tc -n $a qdisc replace dev w0 root netem limit 10000"

# sent PARAMETER... -- STEP...: run the STEPs of a connection with these parameters, with new traces and counters
sent() {
	local some=()
	while [ "$1" != -- ]; do some+=("$1") && shift; done
	shift
	tc -n "$a" qdisc replace dev w0 root netem limit 10000
	default_params
	params "${some[@]}" source=sw
	mark
	: >"$TRACEFS/trace"
	flow cc=timely "$@" close eof
}

# burst PARAMETER...: bytes of the largest burst of 1 MB, apart from those of the initial window
burst() {
	sent "$@" -- connect send=1000000 >/dev/null
	traced timely_sample | sed '1,20d; s/.* bytes=//' | sort -n | tail -n 1
}

# ---- bursts: 60 µs / 16 of the link are less than two packets

mss=$(sent mode=profile -- connect send=3000 "$INFO" | ss_number mss)
check_eq "without min_rtt, a burst has seg_kb" "$(burst seg_kb=16)" $((10 * mss))
check_eq "with min_rtt, a burst has two packets" "$(burst min_rtt=60)" $((2 * mss))
check_eq "a longer min_rtt gives longer bursts" "$(burst min_rtt=1000)" $((4 * mss))
check_eq "seg_kb limits them" "$(burst min_rtt=10000 seg_kb=8)" $((4 * mss))
check_eq "profile=paper has bursts of seg_kb with any min_rtt" "$(burst min_rtt=60 profile=paper)" $((10 * mss))
check_eq "mode=patched has bursts of seg_kb with any min_rtt" "$(burst min_rtt=60 mode=patched)" $((10 * mss))

# ---- thresholds

# causes NAME PARAMETER...: growth of counter NAME for 3 MB with an RTT of 245 µs, of a connection that knows 45 µs
causes() {
	local name=$1
	shift
	sent "$@" -- connect send=3000 "$NETEM delay 200us" send=3000000
	since "$name"
}
check_eq "without min_rtt, an RTT of 245 µs is below T_high" "$(causes rate_high seg_kb=16)" 0
check "with min_rtt=60, it is above T_high, 207 µs at the rate of the link" test "$(causes rate_high min_rtt=60)" -gt 10
check "at a lower rate it is below T_low" test "$(causes rate_low min_rtt=60 max_rate=20)" -gt 10
check_eq "and never above T_high" "$(since rate_high)" 0
check_eq "t_high=500 overrides T_high" "$(causes rate_high min_rtt=60 t_high=500)" 0
check_eq "t_low overrides T_low, and T_high is 500 µs" "$(causes rate_low min_rtt=60 t_low=50 max_rate=20)" 0
check_eq "with t_low, T_high is 500 µs" "$(since rate_high)" 0
sent min_rtt=60 -- "$NETEM delay 200us" connect send=3000000
check_eq "a path with a longer RTT than min_rtt has a higher T_high" "$(since rate_high)" 0

# ---- lowest rate

# least PARAMETER...: lowest rate in bytes/s, with RTTs above T_high only
least() {
	sent t_low=1 t_high=1 "$@" -- connect send=1000000 >/dev/null
	traced timely_rate | grep -oE ' rate_Bps=[0-9]+' | cut -d = -f 2 | sort -n | head -n 1
}
check_eq "with min_rtt, the lowest rate is 1/250 of the link" "$(least min_rtt=60)" 500000
check_eq "without min_rtt, it is the additive step" "$(least delta=9)" 1125000
check_eq "min_rate overrides it" "$(least min_rtt=60 min_rate=20)" 2500000

# ---- additive step

# A delay of 5 ms lowers the rate; then it rises. Up to 300 Mbit/s, bursts are more than a minRTT apart.
# steps AWK: check with AWK's function step(rate), bytes/s, all steps of rates below 300 Mbit/s
steps() {
	traced timely_rate | sed -E 's/.* rate_Bps=([0-9]+) cause=([a-z]+)$/\1 \2/' | awk '
		function step(rate) { return '"$1"' }
		$2 == "low" && last && last < 37500000 && $1 < 37500000 {
			n++
			off = ($1 - last) / step(last)
			if (off < 0.98 || off > 1.02) bad++
		}
		{ last = $1 }
		END { print n + 0, "steps,", bad + 0, "wrong"; exit !(n > 20) || bad }'
}
slowed=(connect send=3000 "$NETEM delay 5ms" send=3000000 "$NETEM" send=6000000)
C=$(($(line_rate 1000) / 8))
sent min_rtt=60 -- "${slowed[@]}"
check "with min_rtt, the step is sqrt(rate C) / 500" steps "sqrt(rate * $C) / 500"
sent min_rtt=60 delta=3 -- "${slowed[@]}"
check "delta overrides the step" steps 375000
default_params
finish

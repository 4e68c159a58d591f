# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Functions for all tests of tcp_dcqcn. A test sources this file after setup_ns.
# shellcheck disable=SC2154,SC2034,SC2016 # setup_ns sets a and b; for the tests; awk expands
# shellcheck source=selftests/lib/tcp_cc.sh
. "$(dirname "${BASH_SOURCE[0]}")/tcp_cc.sh"

# A server accepts an ECT SYN, as dcqcn sends it, only if its own congestion control needs ECN. So the receiver runs
# dcqcn and is an NP by default.
FLOW=(listener-cc=dcqcn)

# Steps of a flow that start and stop CE marking of each ECT packet from a; netem with ecn marks instead of dropping
MARK="run=tc -n $a qdisc replace dev w0 root netem limit 10000 loss 100% ecn"
MARK_NOT="run=tc -n $a qdisc replace dev w0 root netem limit 10000"

# constant_params: no rate increase and no decay of alpha during a test, even on a slow machine
constant_params() { params rpg_time_reset=1000000 rpg_byte_reset=1000000000 dce_tcp_rtt=1000000; }

# sender_rates: print the traced rate changes of the sender in a
sender_rates() { traced dcqcn_rate | grep -F ' src=10.0.0.1:'; }

# rates FIELD...: print FIELDs of each traced rate change except the start of a connection
rates() {
	sender_rates | awk -v names="$*" '
		BEGIN { k = split(names, name, " ") }
		/cause=start/ { next }
		{
			for (i = 1; i <= NF; i++) if (split($i, f, "=") == 2) value[f[1]] = f[2]
			for (i = 1; i <= k; i++) printf "%s%s", value[name[i]], i < k ? " " : "\n"
		}'
}

# model F AI HAI MAX MIN G: true if each traced rate change of one connection follows from the previous one: an increase
# by the stages of timer and byte counter, a cut by alpha
model() {
	sender_rates | awk -v F="$1" -v ai="$2" -v hai="$3" -v top="$4" -v low="$5" -v g="$6" \
		-v slow="${KSFT_MACHINE_SLOW:-}" '
		function event(stage, other, step) {
			least = stage < other ? stage : other
			most = stage > other ? stage : other
			step = most < F ? 0 : least > F ? (least - F + 1) * hai : ai
			target += step
			if (target > top) target = top
			rate = int((target + rate + 1) / 2)
		}
		function check(what, got, want, off) {
			if (got >= want - off && got <= want + off) return
			print NR ": " what " " got ", not " want ": " $0
			bad = 1
		}
		{
			for (i = 1; i <= NF; i++) if (split($i, f, "=") == 2) v[f[1]] = f[2]
			cause = v["cause"]
			seen[cause]++
		}
		cause == "start" { check("rate", v["rate_Bps"], top, 0); alpha = 1 }
		cause == "cnp" {
			# alpha before the CNP, computed from alpha after it; the trace has thousandths
			before = (v["alpha"] / 1000 - 1 / g) / (1 - 1 / g)
			check("target", v["target_Bps"], rate, 0)
			want = rate * (1 - before / 2)
			check("rate", v["rate_Bps"], want > low ? want : low, rate / 900 + 1)
		}
		cause ~ /fast|additive|hyper/ {
			# the trace shows later stages as 255
			for (s = timer + 1; s <= v["timer_stage"]; s++) event(s, bytes)
			for (s = bytes + 1; s <= v["byte_stage"]; s++) event(s, v["timer_stage"])
			if (v["timer_stage"] < 255) {
				check("rate", v["rate_Bps"], rate, 0)
				check("target", v["target_Bps"], target, 0)
			}
		}
		{ rate = v["rate_Bps"]; target = v["target_Bps"]; timer = v["timer_stage"]; bytes = v["byte_stage"] }
		END {
			for (c in seen) printf "%s %d ", c, seen[c]
			# on a slow machine the timer may fire so late that fast recovery is already over
			exit bad || !seen["cnp"] || (!seen["fast"] && !slow) || !seen["additive"] ||
				seen["start"] != 1
		}'
}
# trace_again: discard the trace so far
trace_again() { : >"$TRACEFS/trace"; }

# full_Bps MBPS: the highest rate, in byte/s, of a connection over a link of MBPS
full_Bps() { echo $(($(line_rate "$1") / 8)); }

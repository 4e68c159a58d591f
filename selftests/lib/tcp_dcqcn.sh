# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the kselftests of tcp_dcqcn share. A test sources it after setup_ns.
# shellcheck disable=SC2154,SC2034,SC2016 # setup_ns sets a and b; for the tests; awk expands
# shellcheck source=selftests/lib/tcp_cc.sh
. "$(dirname "${BASH_SOURCE[0]}")/tcp_cc.sh"

# A server takes a SYN that is ECT, as that of dcqcn, only if it has such a congestion control itself. So the receiver is
# an NP, if nothing else is said.
FLOW=(listener-cc=dcqcn)

# Steps of a flow: from here on each packet from a that is ECT is marked, or none; netem marks what it would drop
MARK="run=tc -n $a qdisc replace dev w0 root netem limit 10000 loss 100% ecn"
MARK_NOT="run=tc -n $a qdisc replace dev w0 root netem limit 10000"

# still_params: no increase and no decay of alpha while a test looks, not even on a slow machine
still_params() { params rpg_time_reset=1000000 rpg_byte_reset=1000000000 dce_tcp_rtt=1000000; }

# sender_rates: the traced changes of a's rate
sender_rates() { traced dcqcn_rate | grep -F ' src=10.0.0.1:'; }

# rates FIELD...: these fields of them, a line each, without those that have begun a connection
rates() {
	sender_rates | awk -v names="$*" '
		BEGIN { k = split(names, name, " ") }
		/cause=start/ { next }
		{
			for (i = 1; i <= NF; i++) if (split($i, f, "=") == 2) value[f[1]] = f[2]
			for (i = 1; i <= k; i++) printf "%s%s", value[name[i]], i < k ? " " : "\n"
		}'
}

# trace_again: forgets what has been traced
trace_again() { : >"$TRACEFS/trace"; }

# full_Bps MBPS: the highest rate of a connection over such a line
full_Bps() { echo $(($(line_rate "$1") / 8)); }

# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2154 # setup_ns sets a
# Random changes of a qdisc's options, valid and malformed, while traffic runs. The kernel accepts or refuses each as
# the uapi header's ranges require, and a refused one changes no option. A test sources this file after lib.sh.
#
#	+--------- a ---------+     +--------- b ---------+
#	| traffic -> v0: KIND |=====| v1                  |
#	+---------------------+     +---------------------+

# fuzz_options KIND: test the qdisc KIND and finish
fuzz_options() {
	local seed
	need_sch "$1"
	setup_ns a b
	link_ab
	job traffic udp -n "$a" -d 10.0.0.2 "${SCH_UDP[@]}" -t 2 -l 1400 -g 4 >/dev/null
	job traffic udp -n "$a" -d 10.0.0.2 -p 9 -t 162 -l 8000 >/dev/null
	for seed in 1 2 3; do
		check "2000 random option changes are accepted or refused as documented, seed $seed" \
			qdisc_netlink fuzz -k "$1" -n "$a" -i v0 -c 2000 -s $seed
	done
	stop_jobs
	tc -n "$a" qdisc change dev v0 root "$1" rate 0
	check "queue drains to zero after random option changes" wait_for 10 drained
	finish
}

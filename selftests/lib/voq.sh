# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2154 # fab_net sets the namespaces
# Credit between two leaves with closfab. A test sources this file after lib.sh; lib/fab.sh has a picture.
. "$(dirname "${BASH_SOURCE[0]}")/fab.sh"

need_voq_fab() {
	need_fab
	need_modules sch_voq
}

# voq_on NS DEV [OPTION...]: put a new qdisc at the root of a device
voq_on() { tc -n "$1" qdisc replace dev "$2" root handle "$(printf %x $((${EPOCHREALTIME/./} % 60000 + 16))):" voq "${@:3}"; }

# voq_net [OPTION...]: r asks for credit, and t grants it. OPTIONs are those of both.
voq_net() {
	voq_on "$r" fab0 credit "$@"
	voq_on "$t" td grant "$@"
}

# voq_count NS DEV NAME: a counter of the qdisc
voq_count() { tc -n "$1" -s -j qdisc show dev "$2" root | jq ".[0].${3#.}"; }
ingress() { voq_count "$r" fab0 "$1"; }
egress() { voq_count "$t" td "$1"; }

# egress_is NAME NUMBER, egress_least NAME NUMBER: compare a counter
egress_is() { [ "$(egress "$1")" = "$2" ]; }
egress_least() { [ "$(egress "$1")" -ge "$2" ]; }
agree() { [ "$(ingress granted_bytes)" = "$(egress granted_bytes)" ]; }
voq_empty() { [ "$(ingress .qlen)" = 0 ] && [ "$(egress .qlen)" = 0 ]; }

# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Options that the qdiscs of a device share, when the kernel refuses one of the qdiscs after its init(). A test sources
# this file after lib.sh and calls refused_case.
# shellcheck disable=SC2317,SC2154 # check calls functions; setup_ns sets a

# shared OPTION: values of OPTION that the qdiscs of d0 show, without doubles, as JSON
shared() { tc -n "$a" -j qdisc show dev d0 | jq -c "[.[] | select(.kind == \"$SCH\").options.$1] | unique"; }

# refused PARENT ATTRIBUTE=VALUE...: the kernel refuses a qdisc after its init()
refused() { in_ns "$a" python3 "$LIB_TOP/selftests/lib/sch_refused.py" d0 "$1" "$SCH" "${@:2}"; }

# send: send packets by all TX queues of d0
send() {
	ip -n "$a" link set d0 up
	in_ns "$a" bash -c 'for ((i = 0; i < 100; i++)); do echo >/dev/udp/192.0.2.2/9 || exit; done'
	ip -n "$a" link set d0 down
}

# refused_case OPTION BEFORE AFTER NUMBER: d0 has mq with qdiscs below classes 1:1 and 1:2. OPTION has value BEFORE.
# A refused qdisc has AFTER; its attribute in netlink is NUMBER. d0 is down and has address 192.0.2.1/24.
refused_case() {
	local default
	tc -n "$a" -batch - <<-END
		qdisc replace dev d0 root handle 1: mq
		qdisc replace dev d0 parent 1:1 handle 11: $SCH
	END
	default=$(shared "$1")
	tc -n "$a" qdisc replace dev d0 parent 1:2 handle 12: "$SCH" "$1" "$2"
	check_eq "$1: the qdiscs of a device share it" "$(shared "$1")" "[$2]"
	check "$1: the kernel refuses a further qdisc after its init()" refused 1:3 "$4=$3"
	check_eq "$1: a refused qdisc leaves it unchanged" "$(shared "$1")" "[$2]"
	check "$1: the kernel refuses a replacement after its init()" refused 1:2 "$4=$3"
	check_eq "$1: a refused replacement leaves it unchanged" "$(shared "$1")" "[$2]"
	check_refused "$1: a qdisc of a class that does not exist is refused" "" \
		tc -n "$a" qdisc add dev d0 parent 1:99 handle 99: "$SCH" "$1" "$3"
	check_eq "$1: a qdisc of a class that does not exist leaves it unchanged" "$(shared "$1")" "[$2]"
	tc -n "$a" -batch - <<-END
		qdisc replace dev d0 parent 1:3 handle 13: $SCH $1 $3
		qdisc replace dev d0 parent 1:3 handle 23: pfifo
	END
	check_eq "$1: a new qdisc that is deleted leaves it unchanged" "$(shared "$1")" "[$2]"
	tc -n "$a" -batch - <<-END
		qdisc replace dev d0 parent 1:3 handle 13: $SCH $1 $3
		qdisc replace dev d0 parent 1:3 handle 23: $SCH
		qdisc replace dev d0 parent 1:3 handle 33: pfifo
	END
	check_eq "$1: its value outlives a qdisc that another one replaces" "$(shared "$1")" "[$3]"
	tc -n "$a" -batch - <<-END
		qdisc replace dev d0 parent 1:3 handle 13: $SCH $1 $2
		qdisc change dev d0 parent 1:1 $SCH limit 99
		qdisc replace dev d0 parent 1:3 handle 23: pfifo
	END
	check_eq "$1: its value outlives a qdisc after a change of another one" "$(shared "$1")" "[$2]"
	tc -n "$a" qdisc replace dev d0 parent 1:3 handle 13: "$SCH" "$1" "$3"
	check "$1: packets are sent" send
	tc -n "$a" qdisc replace dev d0 parent 1:3 handle 23: pfifo
	check_eq "$1: its value outlives a qdisc that has sent packets" "$(shared "$1")" "[$3]"
	check "$1: the kernel refuses a qdisc without options after its init()" refused 1:4
	check_eq "$1: a refused qdisc without options leaves it unchanged" "$(shared "$1")" "[$3]"
	tc -n "$a" qdisc replace dev d0 parent 1:4 handle 14: "$SCH"
	check_eq "$1: a new qdisc without options takes it over" "$(shared "$1")" "[$3]"
	tc -n "$a" qdisc replace dev d0 root handle 2: "$SCH"
	check_eq "$1: a root qdisc has the default" "$(shared "$1")" "$default"
}

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# dcqcn: a qdisc that the kernel refuses leaves the options and ports of its pool as they were
# shellcheck disable=SC2154,SC2317 # setup_ns sets a; check calls functions
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/dcqcn.sh"
need_dcqcn
setup_ns a

# pool DEV: name, buffer and number of ports of the pool of DEV
pool() {
	tc -n "$a" -s -j qdisc show dev "$1" root | jq -c '.[0] | [.options.pool.name, .options.pool.buffer, .pool.ports]'
}

# refused DEV ATTRIBUTE=VALUE...: the kernel refuses a qdisc after its init()
refused() { in_ns "$a" python3 "$LIB_TOP/selftests/lib/sch_refused.py" "$1" root dcqcn "${@:2}"; }

ip -n "$a" link add d0 type dummy
ip -n "$a" link add d1 type dummy
ip -n "$a" link add d2 type dummy
tc -n "$a" qdisc add dev d0 root dcqcn pool one buffer 9000000
tc -n "$a" qdisc add dev d1 root dcqcn pool one
before='["one",9000000,2]'
check_eq "a pool has the buffer of its first port" "$(pool d0)" "$before"
check "the kernel refuses a new port after its init()" refused d2 11.1=one 11.2=7000000
check_eq "a refused port leaves the pool unchanged" "$(pool d0)" "$before"
check "the kernel refuses another qdisc of a port after its init()" refused d1 11.1=one 11.2=7000000
check_eq "a refused qdisc of a port leaves the pool unchanged" "$(pool d0)" "$before"
check "the kernel refuses the first port of a pool after its init()" refused d2 11.1=two 11.2=7000000
tc -n "$a" qdisc add dev d2 root dcqcn pool two
check_eq "a pool that was refused has left no options" "$(pool d2)" '["two",12582912,1]'
tc -n "$a" -batch - <<-END
	qdisc replace dev d2 root handle 2: dcqcn pool one buffer 7000000
	qdisc del dev d2 root
END
check_eq "a new port that is deleted leaves the pool unchanged" "$(pool d0)" "$before"
tc -n "$a" -batch - <<-END
	qdisc add dev d2 root dcqcn pool one buffer 7000000
	qdisc change dev d1 root dcqcn pool one xoff dynamic
	qdisc del dev d2 root
END
check_eq "the options of a port outlive it after a change of another one" "$(pool d0)" '["one",7000000,2]'
tc -n "$a" qdisc add dev d2 root dcqcn pool one buffer 8000000
ip -n "$a" addr add 192.0.2.1/24 dev d2
ip -n "$a" link set d2 up
check "a port sends a packet" in_ns "$a" bash -c 'echo >/dev/udp/192.0.2.2/9'
tc -n "$a" qdisc del dev d2 root
check_eq "the options of a port that has sent packets outlive it" "$(pool d0)" '["one",8000000,2]'
finish

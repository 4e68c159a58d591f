#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# NDP sockets that share a port: which users may share it, and which socket receives a sender's messages.
# shellcheck disable=SC2154 # setup_ns sets h
. "$(dirname "$0")/../lib/lib.sh"
. "$(dirname "$0")/../lib/ndp.sh"
[ -x /usr/bin/python3 ] || skip_all "needs python3"
setup_ns h
loopback_up "$h"
ip -n "$h" -batch - <<-END
	link add d0 type dummy
	link set d0 up
	addr add 10.5.0.1/24 dev d0
END
in_ns "$h" tee /proc/sys/net/ipv6/conf/d0/disable_ipv6 >/dev/null <<<0
ip -n "$h" addr add fe80::2/64 dev d0 nodad
in_ns "$h" "$(dirname "$0")/ndp_reuse.py" >"$TMP/reuse" 2>&1 || not_ok "ndp_reuse.py"
report_lines "$TMP/reuse"

# automatic ports are never shared
in_ns "$h" tee /proc/sys/net/ipv4/ip_local_port_range >/dev/null <<<"40000 40001"
in_ns "$h" /usr/bin/python3 - >"$TMP/reuse" <<-END || not_ok "automatic ports"
	import socket
	socks = [socket.socket(socket.AF_INET, socket.SOCK_RDM, 259) for _ in range(3)]
	bound = 0
	for sock in socks:
	    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
	    try:
	        sock.bind(("", 0))
	        bound += 1
	    except OSError:
	        pass
	print(bound)
END
check_eq "a socket without a port does not get another one's" "$(cat "$TMP/reuse")" 2
finish

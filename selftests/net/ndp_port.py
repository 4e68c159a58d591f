#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Who has NDP's UDP port: prints a line "ok WHAT" or "not ok WHAT" for each check.

ndp_port.py free             no NDP socket was made in this namespace before
ndp_port.py taken            there was one
ndp_port.py serve            sends back what comes by port 61198, until it is killed
ndp_port.py client ADDRESS   with an NDP socket: has `serve` of another host answer
"""
import errno
import socket
import sys

PORT = 61199
SERVED = 61198
NDP = (socket.SOCK_RDM, 261)
FAMILIES = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))
# What NDP would answer, if it had seen it: PROBE, but with wrong checksums
DATA = b"\x13" + bytes(99)


def check(what, right):
    """A line of the result"""
    print("ok" if right else "not ok", what, flush=True)


def refused(family, kind, port=None, option=None):
    """Return: what making a socket, and binding it, fails with"""
    try:
        with socket.socket(family, *kind) as sock:
            if option:
                sock.setsockopt(socket.SOL_SOCKET, option, 1)
            if port:
                sock.bind(("", port))
    except OSError as error:
        return error.errno
    return 0


def bound(family, port=PORT):
    """Return: a UDP socket that has the port, of one family only"""
    sock = socket.socket(family, socket.SOCK_DGRAM)
    if family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    sock.bind(("", port))
    return sock


def free():
    """The port is anybody's, as long as there is no NDP socket."""
    for family, address in FAMILIES:
        with bound(family):
            check(f"{address}: while a UDP socket has the port, there is no NDP socket",
                  refused(socket.AF_INET, NDP) == errno.EADDRINUSE)
            check(f"{address}: nor one of IPv6", refused(socket.AF_INET6, NDP) == errno.EADDRINUSE)
    check("afterwards, there is", refused(socket.AF_INET, NDP) == 0)
    check("and of IPv6", refused(socket.AF_INET6, NDP) == 0)


def taken():
    """The port is NDP's."""
    udp = (socket.SOCK_DGRAM,)
    for family, address in FAMILIES:
        for option in None, socket.SO_REUSEADDR, socket.SO_REUSEPORT:
            check(f"{address}: the port is in use, option {option}",
                  refused(family, udp, PORT, option) == errno.EADDRINUSE)


def serve():
    """Of another host"""
    with bound(socket.AF_INET, SERVED) as sock:
        while True:
            data, sender = sock.recvfrom(1000)
            sock.sendto(data, sender)


def client(address):
    """Answers come from a port that is NDP's here."""
    with socket.socket(socket.AF_INET, *NDP), \
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(0.5)
        for _ in range(20):
            sock.sendto(DATA, (address, SERVED))
            try:
                return check("a server at that port elsewhere is heard", sock.recv(1000) == DATA)
            except (socket.timeout, ConnectionError):
                pass
        return check("a server at that port elsewhere is heard", False)


def main():
    """Command line"""
    if sys.argv[1:2] == ["client"] and len(sys.argv) == 3:
        return client(sys.argv[2])
    modes = {"free": free, "taken": taken, "serve": serve}
    if len(sys.argv) != 2 or sys.argv[1] not in modes:
        sys.exit(__doc__)
    return modes[sys.argv[1]]()


if __name__ == "__main__":
    main()

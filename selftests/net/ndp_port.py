#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks to whom NDP's UDP port belongs. Prints "ok NAME" or "not ok NAME" for each check.

ndp_port.py free             in a namespace that never had an NDP socket
ndp_port.py taken            in a namespace that has had one
ndp_port.py serve            sends back each datagram to port 61198, until it is killed
ndp_port.py client ADDRESS   with an NDP socket: exchanges datagrams with `serve` on another host
"""
import errno
import socket
import sys

PORT = 61199
SERVED = 61198
NDP = (socket.SOCK_RDM, 259)
FAMILIES = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))
# A PROBE with wrong checksums, which NDP would count
DATA = b"\x13" + bytes(99)


def check(name, right):
    """Print the result of a check"""
    print("ok" if right else "not ok", name, flush=True)


def refused(family, kind, port=None, option=None):
    """Return: the error of creating and binding a socket, or 0"""
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
    """Return: a UDP socket bound to the port, for one address family"""
    sock = socket.socket(family, socket.SOCK_DGRAM)
    if family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    sock.bind(("", port))
    return sock


def free():
    """UDP sockets can bind the port while there is no NDP socket."""
    for family, address in FAMILIES:
        with bound(family):
            check(f"no IPv4 NDP socket is created while a UDP socket has the port of {address}",
                  refused(socket.AF_INET, NDP) == errno.EADDRINUSE)
            check(f"no IPv6 NDP socket is created while a UDP socket has the port of {address}",
                  refused(socket.AF_INET6, NDP) == errno.EADDRINUSE)
    check("an IPv4 NDP socket is created once the port is free", refused(socket.AF_INET, NDP) == 0)
    check("an IPv6 NDP socket is created once the port is free", refused(socket.AF_INET6, NDP) == 0)


def taken():
    """UDP sockets cannot bind the port."""
    udp = (socket.SOCK_DGRAM,)
    for family, address in FAMILIES:
        for option in None, socket.SO_REUSEADDR, socket.SO_REUSEPORT:
            check(f"no UDP socket can bind NDP's port of {address} with option {option}",
                  refused(family, udp, PORT, option) == errno.EADDRINUSE)


def serve():
    """Echo server on another host"""
    with bound(socket.AF_INET, SERVED) as sock:
        while True:
            data, sender = sock.recvfrom(1000)
            sock.sendto(data, sender)


def client(address):
    """UDP receives answers from the other host's port 61199, which is NDP's on this host."""
    with socket.socket(socket.AF_INET, *NDP), \
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(0.5)
        for _ in range(20):
            sock.sendto(DATA, (address, SERVED))
            try:
                return check("UDP client receives datagrams from NDP's port of another host", sock.recv(1000) == DATA)
            except (socket.timeout, ConnectionError):
                pass
        return check("UDP client receives datagrams from NDP's port of another host", False)


def main():
    """Parse the command line and run the mode"""
    if sys.argv[1:2] == ["client"] and len(sys.argv) == 3:
        return client(sys.argv[2])
    modes = {"free": free, "taken": taken, "serve": serve}
    if len(sys.argv) != 2 or sys.argv[1] not in modes:
        sys.exit(__doc__)
    return modes[sys.argv[1]]()


if __name__ == "__main__":
    main()

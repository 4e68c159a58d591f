#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tries to forge NDP packets in several ways. Prints "ok NAME" or "not ok NAME" for each.

ndp_guard.py user ADDRESS ADDRESS6   with the rights of any user
ndp_guard.py raw ADDRESS             with CAP_NET_RAW
"""
import errno
import socket
import struct
import sys

PORT = 61199
NDP = 259
# port of the NDP socket at ADDRESS and ADDRESS6
RECEIVER = 1000
IP_FREEBIND = 15
IPV6_FREEBIND = 78
UDP_SEGMENT = 103
IPV6_RTHDR = 57
IPV6_RTHDR_SEGMENTS = 4
MORE_FRAGMENTS = 0x2000
PROBE = b"\x23" + bytes(55)


def refused(what, sock, packet, address):
    """Check that sendto() fails with EPERM, and print the result"""
    error = 0
    with sock:
        try:
            sock.sendto(packet, address)
        except OSError as exc:
            error = exc.errno
    print("ok" if error == errno.EPERM else "not ok", f"{what} is refused (errno {error})",
          flush=True)


def udp(family=socket.AF_INET):
    """Return: a UDP socket"""
    return socket.socket(family, socket.SOCK_DGRAM)


def foreign(family, option, source, address):
    """Check that an NDP socket which is bound to an address of another host cannot send from it"""
    error = 0
    with socket.socket(family, socket.SOCK_RDM, NDP) as sock:
        sock.setsockopt(*option, 1)
        sock.bind((source, 0))
        try:
            sock.sendto(bytes(10), (address, RECEIVER))
        except OSError as exc:
            error = exc.errno
    print("ok" if error else "not ok", f"an NDP socket cannot send from {source} (errno {error})", flush=True)


def user(address, address6):
    """Forge packets by sockets that any user may create"""
    refused("a datagram to NDP's port", udp(), PROBE, (address, PORT))
    refused("a datagram to NDP's port on the loopback", udp(), PROBE, ("127.0.0.1", PORT))
    refused("an IPv6 datagram to NDP's port", udp(socket.AF_INET6), PROBE, (address6, PORT))
    refused("a datagram to NDP's port of a mapped address", udp(socket.AF_INET6), PROBE,
            ("::ffff:" + address, PORT))
    sock = udp()
    sock.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, len(PROBE))
    refused("a GSO packet to NDP's port", sock, PROBE * 10, (address, PORT))
    sock = udp()
    sock.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, bytes([1, 1, 1, 0]))
    refused("a datagram with IPv4 options to NDP's port", sock, PROBE, (address, PORT))
    sock = udp(socket.AF_INET6)
    header = struct.pack("BBBBBBH", 0, 2, IPV6_RTHDR_SEGMENTS, 0, 0, 0, 0)
    sock.setsockopt(socket.IPPROTO_IPV6, IPV6_RTHDR,
                    header + socket.inet_pton(socket.AF_INET6, address6))
    refused("an IPv6 datagram with a routing header to NDP's port", sock, PROBE, (address6, PORT))
    sock = udp()
    sock.bind(("", PORT))
    refused("a datagram from NDP's port", sock, PROBE, (address, 50000))
    with udp() as sock:
        sent = sock.sendto(PROBE, (address, PORT + 1))
    print("ok" if sent == len(PROBE) else "not ok", "a datagram to another port is sent")
    # last: the first NDP socket takes NDP's port
    foreign(socket.AF_INET, (socket.IPPROTO_IP, IP_FREEBIND), "10.0.0.99", address)
    foreign(socket.AF_INET6, (socket.IPPROTO_IPV6, IPV6_FREEBIND), "2001:db8::99", address6)


def raw(address):
    """Forge packets by raw sockets"""
    packet = struct.pack("!HHHH", 50000, PORT, 8 + len(PROBE), 0) + PROBE
    refused("a datagram of a raw socket", socket.socket(socket.AF_INET, socket.SOCK_RAW,
                                                        socket.IPPROTO_UDP), packet, (address, 0))
    refused("a datagram of a raw socket with its own IP header",
            socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW),
            ip_header(address, len(packet), 0) + packet, (address, 0))
    refused("a first fragment of a raw socket",
            socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW),
            ip_header(address, 8, MORE_FRAGMENTS) + packet[:8], (address, 0))


def ip_header(address, length, fragment):
    """Return: the IP header of a UDP datagram, in which the kernel sets source and checksum"""
    return struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + length, 1, fragment, 64,
                       socket.IPPROTO_UDP, 0, bytes(4), socket.inet_aton(address))


def main():
    """Parse the command line and run the mode"""
    modes = {"user": (user, 4), "raw": (raw, 3)}
    mode, count = modes.get(sys.argv[1] if sys.argv[1:] else "", (None, 0))
    if len(sys.argv) != count:
        sys.exit(__doc__)
    mode(*sys.argv[2:])


if __name__ == "__main__":
    main()

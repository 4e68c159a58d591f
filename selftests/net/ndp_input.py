#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Sends PROBEs of an unknown flow, DATA, or other packets to NDP by an ordinary UDP socket.

It sends to port 61198, which as_remote() in selftests/lib/ndp.sh changes to NDP's.

ndp_input.py ADDRESS KIND [FIRST COUNT]
    one          a PROBE
    stranger     a PROBE from an unprivileged port
    begin        DATA of a new flow
    go-on        DATA that continues a flow
    trimmed      DATA cut after 16 bytes
    acked        CONTROL
    refused      ERROR
    asked        COOKIE
    cookie       DATA of a new flow, with a wrong cookie
    gso          ten PROBEs in one GSO packet (UDP_SEGMENT)
    odd-gso      the same in segments that are no headers
    data BYTES   DATA with BYTES of payload, in fragments if that exceeds the MTU
    nocheck      a PROBE without a UDP checksum
    options      a PROBE with IPv4 options
    hopopts      a PROBE with IPv6 hop-by-hop options
    dstopts      a PROBE with IPv6 destination options
    broadcast    a PROBE to a broadcast address
FIRST COUNT: send from COUNT consecutive IPv4 addresses of the host, starting with FIRST
"""
import ipaddress
import socket
import struct
import sys

PORT = 61198
# a path: NDP accepts source ports 512 to 1023
SOURCE = 600
UDP_SEGMENT = 103
SO_NO_CHECK = 11
SO_SNDBUFFORCE = 32
IP_MTU_DISCOVER = 10
IPV6_MTU_DISCOVER = 23
IPV6_HOPOPTS = 54
IPV6_DSTOPTS = 59
PAD4 = bytes([0, 0, 1, 4, 0, 0, 0, 0])


def checksum(data):
    """Return: the Internet checksum (RFC 1071)"""
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total & 0xffff) + (total >> 16)
    return ~((total & 0xffff) + (total >> 16)) & 0xffff


def header(packet_type, flags, payload_len, base, code=0, token=0):
    """Return: 56 bytes of DATA (1), CONTROL (2), PROBE (3), ERROR (4) or COOKIE (5)"""
    seq = base - 1 if packet_type == 3 else base
    first = struct.pack("!BBHIIBB", 0x20 | packet_type, flags, payload_len, 0x12345678, seq, 0, 0)
    msg_len = payload_len.to_bytes(6, "big")
    rest = struct.pack("!HHBBIII", 1000, 1000, code, 0, 0, base if packet_type in (1, 3) else 0, 0)
    rest += bytes(6) + msg_len + struct.pack("!II", 0, token)
    return first + struct.pack("!HH", checksum(first), checksum(rest)) + rest


PACKETS = {
    "begin": header(1, 1, 10, 100) + bytes(10),
    "go-on": header(1, 0, 10, 100) + bytes(10),
    "trimmed": header(1, 1, 10, 100)[:16],
    "acked": header(2, 1, 0, 100, token=1),
    "refused": header(4, 0, 0, 100, code=1),
    "asked": header(5, 0, 0, 100, token=1),
    "cookie": header(1, 1, 10, 100, token=1) + bytes(10),
}


def send_from(sources, address, packet):
    """Send a packet from each source address"""
    for source in sources:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.bind((str(source), SOURCE))
            sock.sendto(packet, (address, PORT))


def main():
    """Parse the command line and send the packet"""
    address, kind = sys.argv[1:3]
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_DGRAM)
    packet = PACKETS.get(kind, header(3, 0, 0, 100))
    if sys.argv[4:]:
        first = ipaddress.ip_address(sys.argv[3])
        send_from([first + i for i in range(int(sys.argv[4]))], address, packet)
        return
    if kind != "stranger":
        sock.bind(("", SOURCE))
    if kind in ("gso", "odd-gso"):
        packet *= 10
        sock.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, 56 if kind == "gso" else 50)
    elif kind == "data":
        size = int(sys.argv[3])
        packet = header(1, 1, size, 100) + b"\0\1" + bytes(size - 2)
        # for many fragments
        sock.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 16777216)
        sock.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, 0)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, IPV6_MTU_DISCOVER, 0)
    elif kind == "nocheck":
        sock.setsockopt(socket.SOL_SOCKET, SO_NO_CHECK, 1)
    elif kind == "options":
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, bytes([1, 1, 1, 0]))
    elif kind == "hopopts":
        sock.setsockopt(socket.IPPROTO_IPV6, IPV6_HOPOPTS, PAD4)
    elif kind == "dstopts":
        sock.setsockopt(socket.IPPROTO_IPV6, IPV6_DSTOPTS, PAD4)
    elif kind == "broadcast":
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    elif kind not in ("one", "stranger") and kind not in PACKETS:
        sys.exit(__doc__)
    sock.sendto(packet, (address, PORT))


if __name__ == "__main__":
    main()

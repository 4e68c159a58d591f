#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Forge closfab packets from another host's address.

Usage: fab_forge.py garbage|numbers|partial|drip|holes|peers|inject FROM TO COUNT
       fab_forge.py epoch FROM TO COUNT COOKIE EPOCH

garbage: random headers and lengths; numbers: valid packets with random sequence numbers, epochs and instances of all
buckets; partial: first cells of packets in buckets that are not used; drip: the cells of one packet, each 1 ms after
the last; holes: packets whose predecessors are missing, 8 in each of 1024 buckets; peers: packets whose predecessors
are missing, each from another address of 10.8.0.0/16; inject: UDP datagrams to port 9 of 10.0.2.2, in valid packets;
epoch: packets of mode conweave with this cookie and epoch. FROM and TO are IPv4 addresses of the underlay.
"""
import itertools
import random
import socket
import struct
import sys
import time

PORT = 8474
DATA, ORDERED, CELL, CONWEAVE = range(4)


def checksum(data):
    """The Internet checksum."""
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ipv4(source, destination, protocol, payload):
    """An IPv4 packet."""
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 0, 0, 64, protocol, 0,
                         socket.inet_aton(source), socket.inet_aton(destination))
    return header[:10] + struct.pack("!H", checksum(header)) + header[12:] + payload


def udp(port, payload):
    """A UDP datagram without checksum."""
    return struct.pack("!HHHH", 50000, port, 8 + len(payload), 0) + payload


def header(op, flags=0, epoch=0, cookie=0, number=0):
    """A header of closfab."""
    return struct.pack("!BBHHHIII", 0x10 | op, flags, 0, epoch, 0x0800, cookie, 0, number)


def inner():
    """An IP packet for d."""
    return ipv4("10.0.1.1", "10.0.2.2", socket.IPPROTO_UDP, udp(9, b"forged"))


def garbage(rng):
    """Random bytes, most of them with a valid version and kind."""
    data = bytearray(rng.randbytes(rng.randrange(80)))
    if data and rng.random() < 0.8:
        data[0] = 0x10 | rng.randrange(8)
    return bytes(data)


def numbers(rng):
    """A valid packet whose numbers are random."""
    op = rng.choice((ORDERED, CELL, CONWEAVE))
    flags = {ORDERED: 0, CELL: 0x20 * rng.randrange(4), CONWEAVE: rng.choice((0, 1, 2, 4))}[op]
    cookie = rng.getrandbits(16) << 16 | rng.randrange(256)
    return header(op, flags, rng.getrandbits(16), cookie, rng.getrandbits(32)) + inner()


BUCKETS = iter(range(4000, 4096))
NUMBERS = itertools.count()


def partial(_):
    """The first cell of a packet."""
    return header(CELL, 0x20, cookie=next(BUCKETS)) + inner()


def drip(_):
    """The next cell of a packet."""
    number = next(NUMBERS)
    if number:
        time.sleep(0.001)
    return header(CELL, 0 if number else 0x20, cookie=3999, number=number) + (b"cell" if number else inner())


def holes(_):
    """A packet that has to wait, of 1400 bytes."""
    number = next(NUMBERS)
    return header(ORDERED, cookie=number // 8 % 1024, number=2 + 2 * (number % 8)) + inner() + bytes(1330)


def inject(_):
    """A valid packet without order."""
    return header(DATA) + inner()


def main(kind, source, destination, count, cookie=0, epoch=0):
    """Send the packets."""
    rng = random.Random(1)

    def in_epoch(_):
        """A packet of a flow that ConWeave reroutes."""
        return header(CONWEAVE, 0, int(epoch), int(cookie)) + inner()

    make = {"garbage": garbage, "numbers": numbers, "partial": partial, "drip": drip, "holes": holes,
            "peers": holes, "inject": inject, "epoch": in_epoch}[kind]
    sock = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    for i in range(int(count)):
        if kind == "peers":
            source = f"10.8.{i >> 8 & 255}.{i & 255}"
        packet = ipv4(source, destination, socket.IPPROTO_UDP, udp(PORT, make(rng)))
        sock.sendto(packet, (destination, 0))


main(*sys.argv[1:])

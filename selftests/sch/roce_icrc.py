#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks the CNPs that roce_talk -x wrote: roce_icrc.py FILE

A line is a packet from its IP header on, in hexadecimal. Exit status 1: a CNP is malformed, or there is none.
"""
import struct
import sys
import zlib
from pathlib import Path


def icrc(packet):
    """ICRC of a packet without its last four bytes, as the InfiniBand specification (A17.3.2) defines it"""
    ones = bytearray(packet[:-4])
    if ones[0] >> 4 == 6:
        ones[0] |= 0x0f
        ones[1:4] = b"\xff\xff\xff"
        ones[7] = 0xff
        udp = 40
    else:
        ones[1] = ones[8] = 0xff
        ones[10:12] = b"\xff\xff"
        udp = 20
    ones[udp + 6:udp + 8] = b"\xff\xff"
    ones[udp + 8 + 4] = 0xff
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + ones))


def check(packet):
    """Return: what is wrong with a CNP, or nothing"""
    ipv6 = packet[0] >> 4 == 6
    udp = 40 if ipv6 else 20
    length, = struct.unpack_from(">H", packet, 4 if ipv6 else 2)
    packet = packet[:length + (40 if ipv6 else 0)]
    bth = packet[udp + 8:]
    if len(packet) != udp + 8 + 32:
        return f"{len(packet)} bytes"
    if struct.unpack_from(">HHH", packet, udp + 2) != (4791, 40, 0):
        return "wrong UDP header"
    if bth[:5] != b"\x81\x00\xff\xff\x40" or any(bth[8:28]):
        return "wrong BTH"
    return "" if bth[28:] == icrc(packet) else "wrong ICRC"


packets = [bytes.fromhex(line) for line in Path(sys.argv[1]).read_text(encoding="ascii").split()]
faults = [fault for fault in map(check, packets) if fault]
print(f"{len(packets)} CNPs, {len(faults)} malformed: {' '.join(sorted(set(faults)))}")
sys.exit(0 if packets and not faults else 1)

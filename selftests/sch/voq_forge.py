#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Send forged credit messages of sch_voq.

Usage: voq_forge.py ADDRESS SOURCE_PORT KIND COUNT [DESTINATION]

KIND: request (of a random VOQ with demand for DESTINATION), retry (the same without demand, answered at once:
prints the number of answers), grant (for a random VOQ), random (bytes), short, lie (more granted than queued), unearned
(more sent than granted: prints the number of answers)
"""
import ipaddress
import os
import random
import socket
import struct
import sys

PORT = 793
REQUEST, GRANT = 1, 2
RETRY = 1


def message(operation, flags=0, queued=1 << 30, granted=0, sent=0, dst="0.0.0.0"):
    """A message without authenticator"""
    address = ipaddress.ip_address(dst)
    if address.version == 4:
        address = ipaddress.ip_address(f"::ffff:{dst}")
    return struct.pack("!BBBBIIIQQQ16s8x", 1, operation, flags, 0, random.getrandbits(32), random.getrandbits(32), 0,
                       queued, granted, sent, address.packed)


def forge(kind, dst):
    """The bytes of a message"""
    if kind == "request":
        return message(REQUEST, dst=dst)
    if kind == "retry":
        return message(REQUEST, RETRY, queued=0, dst=dst)
    if kind == "grant":
        return message(GRANT, granted=1 << 20)
    if kind == "lie":
        return message(REQUEST, granted=1 << 31, dst=dst)
    if kind == "unearned":
        return message(REQUEST, sent=1 << 30, dst=dst)
    if kind == "short":
        return message(REQUEST, dst=dst)[:random.randrange(64)]
    return os.urandom(64)


def main():
    """Send"""
    address, source, kind, count = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
    dst = sys.argv[5] if len(sys.argv) > 5 else "0.0.0.0"
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    answers = 0
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        sock.bind(("", source))
        sock.settimeout(0.2)
        for _ in range(count):
            sock.sendto(forge(kind, dst), (address, PORT))
        try:
            while kind in ("retry", "unearned"):
                sock.recv(100)
                answers += 1
        except TimeoutError:
            pass
    print(answers)


main()

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Add or replace a qdisc with a rate estimator that the kernel refuses.

Usage: sch_refused.py DEVICE PARENT KIND [ATTRIBUTE=VALUE]...

PARENT: root or a class, as 1:2. ATTRIBUTE: number in TCA_OPTIONS; A.B is number B in nest A. VALUE: a u32, or a string.
The kernel reads the estimator after the qdisc's init() has succeeded. Exit status: 0 if it refuses the qdisc. tc(8)
cannot ask for such an estimator.
"""
import errno
import socket
import struct
import sys

RTM_NEWQDISC, NLMSG_ERROR = 36, 2
REQUEST, ACK, REPLACE, CREATE = 1, 4, 0x100, 0x400
TCA_KIND, TCA_OPTIONS, TCA_RATE = 1, 2, 5
NESTED = 0x8000
ROOT = 0xFFFFFFFF
UNUSED_HANDLE = 0xFFF00000
INTERVAL, EWMA_LOG = 9, 1		# the kernel takes intervals up to 3


def attribute(kind, data):
    """A netlink attribute."""
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def parent(text):
    """The number of a class."""
    if text == "root":
        return ROOT
    major, minor = (int(part, 16) for part in text.split(":"))
    return major << 16 | minor


def options(words):
    """The attributes of the qdisc."""
    data, nests = b"", {}
    for word in words:
        path, value = word.split("=")
        numbers = [int(number) for number in path.split(".")]
        value = struct.pack("=I", int(value)) if value.isdigit() else value.encode() + b"\0"
        if len(numbers) == 1:
            data += attribute(numbers[0], value)
        else:
            nests[numbers[0]] = nests.get(numbers[0], b"") + attribute(numbers[1], value)
    return data + b"".join(attribute(NESTED | number, nest) for number, nest in nests.items())


def main(device, where, kind, *words):
    """Send the request."""
    body = struct.pack("=BxxxiIII", 0, socket.if_nametoindex(device), UNUSED_HANDLE, parent(where), 0)
    body += attribute(TCA_KIND, kind.encode() + b"\0")
    body += attribute(NESTED | TCA_OPTIONS, options(words))
    body += attribute(TCA_RATE, struct.pack("=bB", INTERVAL, EWMA_LOG))
    header = struct.pack("=IHHII", 16 + len(body), RTM_NEWQDISC, REQUEST | ACK | REPLACE | CREATE, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as sock:
        sock.send(header + body)
        answer = sock.recv(4096)
    answer_kind, error = struct.unpack_from("=H", answer, 4)[0], struct.unpack_from("=i", answer, 16)[0]
    if answer_kind != NLMSG_ERROR or error != -errno.EINVAL:
        sys.exit(f"the kernel's answer is {error}")


main(*sys.argv[1:])

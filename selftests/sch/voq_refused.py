#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Replace the root qdisc of a device by "voq grant" with a rate estimator that the kernel refuses.

Usage: voq_refused.py DEVICE

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
TCA_VOQ_GRANT = 2
ROOT = 0xFFFFFFFF
UNUSED_HANDLE = 0xFFF00000
INTERVAL, EWMA_LOG = 9, 1		# the kernel takes intervals up to 3


def attribute(kind, data):
    """A netlink attribute."""
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def main(device):
    """Send the request."""
    body = struct.pack("=BxxxiIII", 0, socket.if_nametoindex(device), UNUSED_HANDLE, ROOT, 0)
    body += attribute(TCA_KIND, b"voq\0")
    body += attribute(TCA_OPTIONS, attribute(TCA_VOQ_GRANT, struct.pack("=I", 1)))
    body += attribute(TCA_RATE, struct.pack("=bB", INTERVAL, EWMA_LOG))
    header = struct.pack("=IHHII", 16 + len(body), RTM_NEWQDISC, REQUEST | ACK | REPLACE | CREATE, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as sock:
        sock.send(header + body)
        answer = sock.recv(4096)
    kind, error = struct.unpack_from("=H", answer, 4)[0], struct.unpack_from("=i", answer, 16)[0]
    sys.exit(kind != NLMSG_ERROR or error != -errno.EINVAL)


main(sys.argv[1])

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Print closfab's dumps: a line of NAME=VALUE for each entry.

Usage: fab_dump.py peers|flows
"""
import ipaddress
import socket
import struct
import sys

GENERIC, DUMP, DONE, ERROR = 16, 0x300, 3, 2
CONTROL, GETFAMILY, FAMILY_ID, FAMILY_NAME = 0x10, 3, 1, 2
COMMANDS = {"peers": 1, "flows": 2}
NAMES = (None, "ifindex", "peer", "paths", "rtt_ns", "skew_ns", "wait_ns", "idle_ms", "bucket", "instance", "next",
         "epoch", "held_packets", "held_bytes")


def request(sock, family, command, flags, attributes=b""):
    """Send a request, and yield the payloads of the answers."""
    payload = struct.pack("BBH", command, 1, 0) + attributes
    sock.send(struct.pack("=IHHII", 16 + len(payload), family, 1 | flags, 1, 0) + payload)
    while True:
        data = sock.recv(1 << 16)
        while data:
            length, kind = struct.unpack_from("=IH", data)
            body, data = data[16:length], data[(length + 3) & ~3:]
            if kind == ERROR:
                sys.exit(f"error {struct.unpack_from('=i', body)[0]}")
            if kind == DONE:
                return
            yield body[4:]
        if not flags:
            return


def attributes_of(data):
    """The attributes of an answer."""
    found = {}
    while data:
        length, kind = struct.unpack_from("=HH", data)
        found[kind] = data[4:length]
        data = data[(length + 3) & ~3:]
    return found


def main(what):
    """Print the dump."""
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, GENERIC)
    name = struct.pack("=HH", 4 + 12, FAMILY_NAME) + b"closnet_fab\0"
    family = None
    for body in request(sock, CONTROL, GETFAMILY, 0, name):
        family = struct.unpack("=H", attributes_of(body)[FAMILY_ID])[0]
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, GENERIC)
    for body in request(sock, family, COMMANDS[what], DUMP):
        words = []
        for kind, value in attributes_of(body).items():
            shown = ipaddress.IPv6Address(value) if len(value) == 16 else struct.unpack("=I", value)[0]
            words.append(f"{NAMES[kind]}={shown}")
        print(*words)


main(*sys.argv[1:])

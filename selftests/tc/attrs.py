#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reads and makes the netlink attributes of sch_ndp, in files of raw bytes.

attrs.py dump FILE              print them: NAME:BITS:VALUE ..., names without TCA_NDP_
attrs.py make NAME:BITS:VALUE.. write them to stdout; NAME may be a number
attrs.py xstats VALUE...        write u64's to stdout
"""
import re
import struct
import sys
from pathlib import Path

HEADER = Path(__file__).parents[2] / "include/uapi/linux/pkt_sched_ndp.h"
FORMATS = {0: "", 8: "B", 16: "H", 32: "I", 64: "Q"}


def names():
    """Attribute names in the order of the uAPI's enum"""
    body = re.search(r"enum \{\s*(TCA_NDP_UNSPEC.*?)__TCA_NDP_MAX", HEADER.read_text(), re.S)
    return re.findall(r"TCA_NDP_(\w+)", body.group(1))


def dump(data):
    """NAME:BITS:VALUE for each attribute"""
    words = []
    while data:
        length, number = struct.unpack_from("=HH", data)
        payload = data[4:length]
        value = int.from_bytes(payload, sys.byteorder)
        words.append(f"{names()[number]}:{len(payload) * 8}:{value}")
        data = data[(length + 3) & ~3:]
    return " ".join(words)


def make(word):
    """Bytes of one attribute"""
    name, bits, value = word.split(":")
    number = int(name) if name.isdigit() else names().index(name)
    form = FORMATS[int(bits)]
    payload = struct.pack("=" + form, int(value, 0)) if form else b""
    attr = struct.pack("=HH", 4 + len(payload), number) + payload
    return attr + bytes(-len(attr) % 4)


def main():
    """Command line"""
    command, words = sys.argv[1], sys.argv[2:]
    if command == "dump":
        print(dump(Path(words[0]).read_bytes()))
    elif command == "make":
        sys.stdout.buffer.write(b"".join(make(w) for w in words))
    elif command == "xstats":
        sys.stdout.buffer.write(b"".join(struct.pack("=Q", int(w, 0)) for w in words))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()

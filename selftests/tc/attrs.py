#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reads and writes the netlink attributes of closnet's plug-ins as files of raw bytes.

attrs.py dump KIND FILE              print the attributes: NAME:BITS:VALUE ..., names without their prefix; values of
                                     more than 64 bits in hexadecimal, first byte first; strings as NAME:str:VALUE;
                                     nests as NAME(NAME:BITS:VALUE ...); the peer of a closwire port as
                                     PEER(flags:VALUE ...) with its own settings as LINKINFO(...)
attrs.py make KIND NAME:BITS:VALUE.. write attributes in dump's notation to stdout; NAME may be a number
attrs.py u64 VALUE...                write u64 values to stdout
attrs.py names KIND                  print the attributes' names in their order
KIND is ndp, dcqcn, pcrp, roce, voq, lb or closwire, or one of its nests: "ndp stats" has the attributes TCA_NDP_STATS_*.
"""
import re
import struct
import sys
from pathlib import Path

UAPI = Path(__file__).parents[2] / "include/uapi/linux"
# for each kind: uapi header and prefix of the attributes
KINDS = {
    "ndp": (UAPI / "pkt_sched_ndp.h", "TCA_NDP_"),
    "dcqcn": (UAPI / "pkt_sched_dcqcn.h", "TCA_DCQCN_"),
    "pcrp": (UAPI / "pkt_sched_pcrp.h", "TCA_PCRP_"),
    "roce": (UAPI / "pkt_sched_roce.h", "TCA_ROCE_"),
    "voq": (UAPI / "pkt_sched_voq.h", "TCA_VOQ_"),
    "lb": (UAPI / "tc_act/tc_lb.h", "TCA_LB_"),
    "closwire": (UAPI / "if_closwire.h", "IFLA_CLOSWIRE_"),
}
# (kind, attribute that is a nest): kind of the nest
NESTS = {("ndp stats", queue): "ndp stats queue" for queue in ("DATA", "HEADER", "OTHER")}
NESTS |= {("pcrp", "SPEC"): "pcrp spec", ("pcrp", "MAP"): "pcrp map",
          ("pcrp stats", "SPEC_BYTES"): "pcrp spec", ("pcrp stats", "PRIO_PACKETS"): "pcrp stats prio"}
NESTS |= {("roce stats", queue): "roce stats queue" for queue in ("ROCE", "CNP", "OTHER")}
NESTS |= {("lb", "RATE"): "lb rate", ("lb", "STATS"): "lb stats", ("lb stats", "PASS"): "lb stats pass",
          ("lb stats", "PORT"): "lb stats port"}
NESTS["dcqcn", "POOL"] = "dcqcn pool"
NESTS["dcqcn stats", "POOL"] = "dcqcn stats pool"
NESTS["dcqcn stats", "PRIO"] = "dcqcn stats prio"
STRINGS = {("dcqcn pool", "NAME")}
FORMATS = {"0": "", "8": "B", "16": "H", "32": "I", "64": "Q"}
# words in a nest: attributes, or nests of attributes
WORDS = re.compile(r"\w+\([^()]*\)|\S+")
NLA_F_NESTED = 1 << 15
# attributes of a peer: values of IFLA_*, which the kernel never changes
IFNAME, MTU, LINKINFO, NUM_TX_QUEUES = 3, 4, 18, 31
INFO_KIND, INFO_DATA = 1, 2


def names(kind):
    """Return: attribute names in the order of the uapi enum"""
    kind, *nests = kind.split()
    header, prefix = KINDS[kind]
    prefix += "".join(f"{nest.upper()}_" for nest in nests)
    body = re.search(r"enum \{\s*(" + prefix + r"UNSPEC.*?)__" + prefix + "MAX",
                     header.read_text(), re.S)
    return re.findall(prefix + r"(\w+)", body.group(1))


def attributes(data):
    """Yield pairs (number, payload)"""
    while data:
        length, number = struct.unpack_from("=HH", data)
        yield number, data[4:length]
        data = data[(length + 3) & ~3:]


def text(payload):
    """Return: a string without its NUL byte, if it has one"""
    return payload.rstrip(b"\0").decode()


def dump_peer(kind, data):
    """Return: struct ifinfomsg and the attributes of a link as text"""
    words = [f"flags:{struct.unpack_from('=BBHiII', data)[4]:#x}"]
    for number, payload in attributes(data[16:]):
        if number == IFNAME:
            words.append(f"IFNAME:{text(payload)}")
        elif number == LINKINFO:
            info = dict(attributes(payload))
            words.append(f"LINKINFO({text(info[INFO_KIND])}: {dump(kind, info[INFO_DATA])})")
        else:
            name = {MTU: "MTU", NUM_TX_QUEUES: "NUM_TX_QUEUES"}.get(number, number)
            words.append(f"{name}:{int.from_bytes(payload, sys.byteorder)}")
    return " ".join(words)


def dump(kind, data):
    """Return: NAME:BITS:VALUE for each attribute"""
    words = []
    for number, payload in attributes(data):
        name = names(kind)[number & ~NLA_F_NESTED]
        if name == "PEER":
            words.append(f"PEER({dump_peer(kind, payload)})")
        elif number & NLA_F_NESTED:
            words.append(f"{name}({dump(NESTS[kind, name], payload)})")
        elif (kind, name) in STRINGS:
            words.append(f"{name}:str:{text(payload)}")
        elif len(payload) > 8:
            words.append(f"{name}:{len(payload) * 8}:0x{payload.hex()}")
        else:
            value = int.from_bytes(payload, sys.byteorder)
            words.append(f"{name}:{len(payload) * 8}:{value}")
    return " ".join(words)


def make_payload(bits, value):
    """Return: the bytes of a value"""
    if bits == "str":
        return value.encode() + b"\0"
    if bits not in FORMATS:
        return int(value, 0).to_bytes(int(bits) // 8, "big")
    return struct.pack("=" + FORMATS[bits], int(value, 0)) if FORMATS[bits] else b""


def make(kind, word):
    """Return: the bytes of one attribute"""
    nest = re.fullmatch(r"(\w+)\((.*)\)", word)
    if nest:
        name, words = nest.groups()
        payload = b"".join(make(NESTS[kind, name], w) for w in WORDS.findall(words))
    else:
        name, bits, value = word.split(":")
        payload = make_payload(bits, value)
    number = int(name) if name.isdigit() else names(kind).index(name)
    if nest:
        number |= NLA_F_NESTED
    attr = struct.pack("=HH", 4 + len(payload), number) + payload
    return attr + bytes(-len(attr) % 4)


def main():
    """Parse the command line and run the command"""
    command, words = sys.argv[1], sys.argv[2:]
    if command == "dump":
        print(dump(words[0], Path(words[1]).read_bytes()))
    elif command == "make":
        sys.stdout.buffer.write(b"".join(make(words[0], w) for w in words[1:]))
    elif command == "names":
        print("\n".join(names(words[0])))
    elif command == "u64":
        sys.stdout.buffer.write(b"".join(struct.pack("=Q", int(w, 0)) for w in words))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Sends batches that no sender makes to NDP, as UDP GSO packets of a packet socket (PACKET_VNET_HDR).

ndp_whole.py DEVICE SOURCE-MAC DESTINATION-MAC 4|6 KIND

The host 10.0.0.1 or 2001:db8::1 sends to 10.0.0.2 or 2001:db8::2. KIND:
    controls     ten CONTROLs of an unknown flow
    trimmed      ten DATA packets of an unknown flow without payload
    strangers    four DATA packets of an unknown flow, with payload
    returned     four DATA packets from port 61199
    unprivileged four CONTROLs from an unprivileged port
    many         65 CONTROLs
    flows        DATA of four new flows
    parts        DATA of a new flow whose parts overlap
    cut          DATA of a new flow, the second of four packets trimmed
    tail         DATA of a new flow, the last of four packets trimmed
    begin        a message of four packets on a new flow
    wasteful     messages that nearly fill the receive buffer; then one of two packets that take twice their memory
    random SEED  500 batches of random segments with random headers, some of them nearly valid
Prints the number of batches that the kernel accepted.
"""
import random
import socket
import struct
import sys

from ndp_input import checksum, header

SOL_PACKET = 263
PACKET_VNET_HDR = 15
NEEDS_CSUM = 1
GSO_UDP_L4 = 5
UDP_PORT = 61199
CONTROL = header(2, 1, 0, 100, token=1)


def data(seq=0, offset=0, msg_len=4000, flow=1, payload=1000, syn=1, msg=0):
    """Return: DATA and its payload"""
    first = struct.pack("!BBHIIBB", 0x21, syn, payload, flow, seq, 0, 0)
    rest = struct.pack("!HHBBIII", 1000, 1000, 0, 0, msg, 0, 0)
    rest += offset.to_bytes(6, "big") + msg_len.to_bytes(6, "big") + struct.pack("!II", 0, 0)
    head = first + struct.pack("!HH", checksum(first), checksum(rest)) + rest
    return head + bytes([seq & 0xff]) * payload


class Sender:
    """A packet socket"""
    def __init__(self, device, source, destination, version):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.socket.bind((device, 0))
        self.socket.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
        self.macs = bytes.fromhex((destination + source).replace(":", ""))
        self.version = version
        self.accepted = 0

    def addresses(self):
        """Return: source and destination"""
        if self.version == "4":
            return bytes([10, 0, 0, 1, 10, 0, 0, 2])
        return b"".join(socket.inet_pton(socket.AF_INET6, f"2001:db8::{i}") for i in (1, 2))

    def pseudo_sum(self, length):
        """Return: the sum that the UDP checksum begins with"""
        if self.version == "4":
            pseudo = self.addresses() + struct.pack("!HH", 17, length)
        else:
            pseudo = self.addresses() + struct.pack("!II", length, 17)
        return ~checksum(pseudo) & 0xffff

    def send(self, payload, segment, sport=600, linear=None):
        """Send one batch; @linear: bytes of its linear part, default: headers of lower layers"""
        length = 8 + len(payload)
        udp = struct.pack("!HHHH", sport, UDP_PORT, length, self.pseudo_sum(length))
        if self.version == "4":
            ip = struct.pack("!BBHIBBH", 0x45, 0, 20 + length, 0, 64, 17, 0) + self.addresses()
            ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
            ether = self.macs + b"\x08\x00"
        else:
            ip = struct.pack("!IHBB", 6 << 28, length, 17, 64) + self.addresses()
            ether = self.macs + b"\x86\xdd"
        start = len(ether) + len(ip)
        vnet = struct.pack("=BBHHHH", NEEDS_CSUM, GSO_UDP_L4, linear or start + 8, segment, start, 6)
        try:
            self.socket.send(vnet + ether + ip + udp + payload)
            self.accepted += 1
        except OSError as error:
            # kernels refuse batches with too many segments
            print(f"# {len(payload)} bytes, segments of {segment}: {error}", file=sys.stderr)


def random_batch(rng):
    """Return: payload, length of segments, and of the linear part"""
    segment = rng.choice([1, 15, 16, 17, 55, 56, 57, 64, 100, 156, 1056, 1400])
    count = rng.choice([2, 3, 8, 63, 64, 65, 128])
    flow, at, out = rng.randrange(4), rng.randrange(3), b""
    for i in range(count):
        size = max(1, segment - 56)
        seq = at + i if rng.random() < 0.97 else rng.randrange(1100)
        packet = bytearray(data(seq, seq * size, 100000, flow, size))
        if rng.random() < 0.05:
            packet = bytearray(CONTROL + bytes(size))
        if rng.random() < 0.05:
            packet[rng.randrange(56)] ^= 1 << rng.randrange(8)
        out += packet[:segment]
    out = out[:rng.choice([60000, len(out) - rng.randrange(min(segment, 60))])][:60000]
    return out, segment, rng.choice([None, None, 200, len(out)])


def send_wasteful(sender):
    """The first packet is the linear part and needs a page more than it has, the other one has a page"""
    for i in range(8):
        sender.send(data(i, 0, 8000, 70, 8000, msg=i), 9000)
    payload = data(8, 0, 4100, 70, 4000, msg=8) + data(9, 4000, 4100, 70, 100, msg=8)
    sender.send(payload, 4056, linear=len(payload) - 156 + (42 if sender.version == "4" else 62))


BATCHES = {
    "controls": ([CONTROL] * 10, 56),
    "trimmed": ([data()[:56]] * 10, 56),
    "strangers": ([data(i, 1000 * i, flow=60, syn=0) for i in range(4)], 1056),
    "returned": ([data(i, 1000 * i) for i in range(4)], 1056),
    "unprivileged": ([CONTROL] * 4, 56),
    "many": ([CONTROL] * 65, 56),
    "flows": ([data(0, 0, 1000, 10 + i) for i in range(4)], 1056),
    "parts": ([data(i, 999 * i, 4000, 20) for i in range(4)], 1056),
    "cut": ([data(0, 0, 8000, 30), data(1, 1000, 8000, 30, 2000)[:1056],
             data(2, 2000, 8000, 30), data(3, 3000, 8000, 30)], 1056),
    "tail": ([data(i, 1000 * i, 4000, 40) for i in range(3)] + [data(3, 3000, 4000, 40)[:500]], 1056),
    "begin": ([data(i, 1000 * i, 4000, 50) for i in range(4)], 1056),
}


def main():
    """Parse the command line and send"""
    sender = Sender(*sys.argv[1:5])
    kind = sys.argv[5]
    if kind == "random":
        rng = random.Random(int(sys.argv[6]))
        for _ in range(500):
            payload, segment, linear = random_batch(rng)
            sender.send(payload, segment, linear=linear)
    elif kind == "wasteful":
        send_wasteful(sender)
    else:
        packets, segment = BATCHES[kind]
        sport = {"returned": UDP_PORT, "unprivileged": 2000}.get(kind, 600)
        sender.send(b"".join(packets), segment, sport)
    print(sender.accepted)


if __name__ == "__main__":
    main()

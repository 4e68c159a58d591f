#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Forge a marked TCP segment of a connection, as a host can that knows its addresses and ports.

Usage: dcqcn_forge.py DEV

Prints "waits", waits for a data packet over IPv4 that leaves by DEV, sends a segment of 100 bytes with the same
addresses and ports and congestion experienced, and prints "sent". Its sequence number is 2^31 behind that of the
packet: no receive window has it.
"""
import socket
import struct
import sys

IP = struct.Struct("!BBHHHBBH4s4s")
TCP = struct.Struct("!HHIIBBHHH")
CE = 3
PSH_ACK = 0x18


def checksum(data):
    """The Internet checksum."""
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def forged(packet):
    """A marked segment of the packet's connection; the kernel completes the IP header."""
    source, destination = packet[12:16], packet[16:20]
    at = (packet[0] & 0xF) * 4
    sport, dport, seq, ack = TCP.unpack_from(packet, at)[:4]
    payload = bytes(100)

    def tcp(check):
        return TCP.pack(sport, dport, (seq + (1 << 31)) & 0xFFFFFFFF, ack, 5 << 4, PSH_ACK, 1000, check, 0) + payload

    pseudo = source + destination + struct.pack("!HH", socket.IPPROTO_TCP, TCP.size + len(payload))
    return IP.pack(0x45, CE, 0, 0, 0, 64, socket.IPPROTO_TCP, 0, source, destination) + tcp(checksum(pseudo + tcp(0)))


def main(device):
    """Send the segment."""
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    tap.bind((device, 3))
    print("waits", flush=True)
    while True:
        packet, (_, protocol, kind, *_) = tap.recvfrom(65536)
        if kind == socket.PACKET_OUTGOING and protocol == 0x0800 and packet[9] == socket.IPPROTO_TCP and \
           len(packet) > 1000:
            break
    raw.sendto(forged(packet), (socket.inet_ntoa(packet[16:20]), 0))
    print("sent", flush=True)


main(sys.argv[1])

# SPDX-License-Identifier: GPL-2.0-only
"""Cost of a packet that closfab or vxlan carries: a part of table.py."""
import re
import sys

BASE = "vxlan"
GOAL = 1.5          # of BASE, both ends together, for reorder

WAYS = {
    "forward": "no tunnel",
    "vxlan": "vxlan",
    "reorder-random": "closfab: reorder, random",
    "reorder-rr": "closfab: reorder, rr",
    "reorder-quality": "closfab: reorder, quality",
    "reorder-drill": "closfab: reorder, drill",
    "reorder-key": "closfab: reorder, rr, key",
    "conweave": "closfab: conweave",
    "cell-700": "closfab: two cells, quality",
}
PACKETS = {"udp4": "IPv4", "udp6": "IPv6"}


def read(path, lines):
    """{way: {packet: (send, receive)}}, medians and means"""
    costs = {}
    for way, packet, rest in lines:
        m = re.fullmatch(r"send (\d+) (\d+) receive (\d+) (\d+) used (\d)", rest)
        # vxlan's route of lwtunnel caches the path of its first packet
        if not m or int(m[5]) < 2 and way != BASE:
            sys.exit(f"{path}: {way} {packet}: not sent by several paths: {rest}")
        costs.setdefault(way, {})[packet] = tuple(int(n) for n in m.groups()[:4])
    return costs


def total(cost):
    """The mean of both ends"""
    return cost[1] + cost[3]


def tables(costs):
    head = ["tunnel"]
    for packet in PACKETS.values():
        head += [packet + ": send", packet + ": receive", packet + ": both", packet + ": of vxlan"]
    rows = []
    for way, by_packet in costs.items():
        row = [WAYS[way]]
        for packet in PACKETS:
            cost = by_packet[packet]
            row += [cost[1], cost[3], total(cost), f"{total(cost) / total(costs[BASE][packet]):.2f}"]
        rows.append(row)
    yield "cost", "A packet: mean instructions of the sending and the receiving leaf", 1, head, rows


def goals(costs):
    """(text, met)"""
    for packet, text in PACKETS.items():
        ratio, way = max((total(by_packet[packet]) / total(costs[BASE][packet]), way)
                         for way, by_packet in costs.items() if way.startswith("reorder-") and way != "reorder-key")
        yield f"{text}: reorder at most {ratio:.2f} of vxlan ({WAYS[way]}), at most {GOAL}", ratio <= GOAL


def records(costs):
    yield ["tunnel", "packet", "send: median", "send: mean", "receive: median", "receive: mean"]
    for way, by_packet in costs.items():
        for packet, cost in by_packet.items():
            yield [way, packet, *cost]

# SPDX-License-Identifier: GPL-2.0-only
"""Cost of a forwarded packet with act_lb, the kernel's own forwarding, and BPF: a part of table.py."""
import re
import sys

BASE = "stack-l4"   # chooses by addresses and ports, as act_lb's flows
GOAL = 0.8          # of BASE

WAYS = {
    "single": "kernel, one next hop",
    "stack-l3": "kernel, hash of addresses",
    "stack-l4": "kernel, hash of addresses and ports",
    "stack-nic": "kernel, the NIC's hash",
    "flowtable": "nft flowtable",
    "bpf": "BPF: bpf_fib_lookup(), bpf_redirect()",
    "lb-single": "act_lb: one next hop, left to the kernel",
    "lb-tell": "act_lb: packet, quality, glb tell",
    "lb-choose": "act_lb: packet, quality, glb choose",
}
PACKETS = {"udp4": "IPv4", "udp6": "IPv6"}


def name(way):
    if way in WAYS:
        return WAYS[way]
    _, granularity, select = way.split("-")
    return f"act_lb: {granularity}, {select}"


def read(path, lines):
    """{way: {packet: (median, mean)}}"""
    costs = {}
    for way, packet, rest in lines:
        m = re.fullmatch(r"1514 median (\d+) mean (\d+) used (\d)", rest)
        if not m or (int(m[3]) > 1) == way.endswith("single"):
            sys.exit(f"{path}: {way} {packet}: not forwarded by several next hops: {rest}")
        costs.setdefault(way, {})[packet.removesuffix("-hashed")] = int(m[1]), int(m[2])
    return costs


def tables(costs):
    head = ["forwarding"]
    for packet in PACKETS.values():
        head += [packet, packet + ": mean", packet + ": of the kernel"]
    rows = []
    for way, by_packet in costs.items():
        row = [name(way)]
        for packet in PACKETS:
            median, mean = by_packet[packet]
            row += [median, mean, f"{mean / costs[BASE][packet][1]:.2f}"]
        rows.append(row)
    yield "cost", "A forwarded packet: median and mean, and the mean relative to the kernel's with ports", 1, head, rows


def goals(costs):
    """(text, met)"""
    for packet, text in PACKETS.items():
        ratio, way = max((by_packet[packet][1] / costs[BASE][packet][1], way) for way, by_packet in costs.items()
                         if way.startswith("lb-"))
        yield (f"{text}: act_lb at most {ratio:.2f} of the kernel ({name(way)}), at most {GOAL}", ratio <= GOAL)


def records(costs):
    yield ["forwarding", "packet", "median", "mean"]
    for way, by_packet in costs.items():
        for packet, cost in by_packet.items():
            yield [way, packet, *cost]

# SPDX-License-Identifier: GPL-2.0-only
"""Cost of a request and its response over NDP, TCP and UDP: a part of table.py."""
import re
import sys

CASES = {"ndp": "NDP", "ndp-tso": "NDP, gso_packets 64", "tcp": "TCP, warm connection", "udp": "UDP"}
BASE = "tcp"
GOAL_SIZE, GOAL = 1000, 1.1     # bytes; NDP's instructions over TCP's


def read(path, lines):
    """{(mtu, size): {case: instructions of a request and its response}}"""
    costs = {}
    for case, mtu, size, rest in lines:
        m = re.fullmatch(r"instructions (\d+) rpcs (\d+) idle (\d+)", rest)
        if not m:
            sys.exit(f"{path}: not a line of rpc: {rest}")
        costs.setdefault((int(mtu), int(size)), {})[case] = int(m[1]) / int(m[2])
    return costs


def tables(costs):
    head = ["MTU", "bytes"] + list(CASES.values()) + ["NDP of TCP"]
    rows = [[mtu, size] + [f"{by_case[case]:.0f}" if case in by_case else "" for case in CASES] +
            [f"{by_case['ndp'] / by_case[BASE]:.2f}"] for (mtu, size), by_case in costs.items()]
    yield "cost", "Instructions of the whole machine for a request and its response", 2, head, rows


def goals(costs):
    """(text, met)"""
    for (mtu, size), by_case in costs.items():
        if size == GOAL_SIZE:
            ratio = by_case["ndp"] / by_case[BASE]
            yield f"MTU {mtu}, {size} bytes: NDP {ratio:.2f} of TCP, at most {GOAL}", ratio <= GOAL


def records(costs):
    yield ["mtu", "bytes", "sockets", "instructions"]
    for key, by_case in costs.items():
        for case, cost in by_case.items():
            yield [*key, case, f"{cost:.0f}"]

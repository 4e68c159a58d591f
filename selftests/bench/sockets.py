# SPDX-License-Identifier: GPL-2.0-only
"""Cost of a byte with NDP, TCP and UDP sockets: a part of table.py."""
import re
import sys

# baselines
BASES = {"tcp": "TCP without TSO", "tcp-tso": "TCP with TSO"}
# (case of NDP, baseline, minimum share of the baseline's throughput by MTU). AIMS may be missed, GOALS may not.
AIMS = (("ndp-tso", "tcp-tso", {1500: 0.5}),)
GOALS = (("ndp", "tcp", {1500: 1.0, 9000: 1.0}), ("ndp-tso", "tcp-tso", {1500: 0.2, 9000: 0.5}))

CASES = {
    "ndp": "NDP",
    "ndp-tso": "NDP, gso_packets 64, TSO",
    "tcp": "TCP",
    "tcp-gso": "TCP, GSO and GRO",
    "tcp-tso": "TCP, TSO, never cut",
    "udp": "UDP",
    "udp-tso": "UDP, GSO, never cut",
}


def read(path, lines):
    """{(mtu, flows, case): (bytes of payload per packet, instructions, bytes)}"""
    costs = {}
    for case, mtu, flows, payload, rest in lines:
        m = re.fullmatch(r"instructions (\d+) bytes (\d+) idle (\d+)", rest)
        if not m:
            sys.exit(f"{path}: not a line of streams: {rest}")
        costs[int(mtu), int(flows), case] = (int(payload), int(m[1]), int(m[2]))
    return costs


def a_byte(costs, *key):
    _, instructions, size = costs[key]
    return instructions / size


def setups(costs):
    return sorted({key[:2] for key in costs})


def tables(costs):
    head = ["sockets", "MTU", "flows", "a packet", "a MB", "Gbit/s at 1 GIPS", "of TCP's", "of TSO's"]
    rows = []
    for mtu, flows in setups(costs):
        for case, name in CASES.items():
            payload, *_ = costs[mtu, flows, case]
            mine = a_byte(costs, mtu, flows, case)
            rows.append([name, mtu, flows, f"{mine * payload:.0f}", f"{mine * 1e6:.0f}", f"{8 / mine:.2f}"] +
                        [f"{a_byte(costs, mtu, flows, base) / mine:.2f}" for base in BASES])
    yield "cost", "Instructions of the whole machine", 1, head, rows


def ratios(costs, bounds):
    """(text, met)"""
    for mtu, flows in setups(costs):
        for case, base, least in bounds:
            if mtu not in least:
                continue
            ratio = a_byte(costs, mtu, flows, base) / a_byte(costs, mtu, flows, case)
            yield (f"MTU {mtu}, {flows} flow{'s' * (flows > 1)}: {CASES[case]} has {ratio:.2f} of the throughput "
                   f"of {BASES[base]}, at least {least[mtu]}", ratio >= least[mtu])


def goals(costs):
    yield from ratios(costs, GOALS)


def aims(costs):
    yield from ratios(costs, AIMS)


def records(costs):
    yield ["mtu", "flows", "sockets", "payload", "instructions", "bytes"]
    for key, numbers in costs.items():
        yield [*key, *numbers]

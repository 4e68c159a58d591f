# SPDX-License-Identifier: GPL-2.0-only
"""Costs of a host's CPU, from the instructions that `selftests/bench/run sockets` counts.

The benchmark counts the instructions of a whole machine, in which one program sends a stream to another, per data packet
on the wire. Here they are split among what a closwire port can charge for (closwire_cpu.c):

    packets     each packet that a host sends or receives: data of GSO or GRO counts as one, an acknowledgment, too
    bytes       of these packets
    frames      received frames of TCP that GRO merges, or could merge

The costs of packets and bytes are fitted to the benchmark's rows of different MTU and offloads, that of frames is the
difference between two rows. Each host has half of them. Documentation/concepts/lab.rst, "CPU cost", has the limits.
"""
import csv
import os
import re

from closlab import experiment
from closlab.params import BadValue

BENCH = os.path.join(experiment.TOP, "Documentation", "experiments", "bench-sockets-cost.csv")
TCP, TSO, GRO, NDP = "TCP", "TCP, TSO, never cut", "TCP, GSO and GRO", "NDP"
TCP_HEADERS, NDP_HEADERS = 52, 84   # bytes of a packet of the benchmark that are no payload
GSO_BYTES = 65536 - 1 - 320         # of a GSO packet of TCP: gso_max_size less MAX_TCP_HEADER
# acknowledgments per packet: TCP's for two segments, or one of GSO; NDP's for the packets of a burst
ACK_SEGMENTS, ACK_NDP = 2, 16
HOSTS = 2
KB = 1024


def read(path=BENCH):
    """Return: {(sockets, MTU, flows): instructions per packet}."""
    with open(path, encoding="ascii", newline="") as f:
        return {(row["sockets"], int(row["MTU"]), int(row["flows"])): int(row["a packet"]) for row in csv.DictReader(f)}


def equations(bench, protocol):
    """Return: [(packets, bytes, instructions)], the cost of a data packet with its share of acknowledgments."""
    found = []
    for (sockets, mtu, _), cost in bench.items():
        if protocol == "tcp" and sockets == TCP:
            found.append((1 + 1 / ACK_SEGMENTS, mtu - TCP_HEADERS, cost))
        elif protocol == "tcp" and sockets == TSO:
            segments = GSO_BYTES // (mtu - TCP_HEADERS)
            found.append((2, segments * (mtu - TCP_HEADERS), segments * cost))
        elif protocol == "ndp" and sockets == NDP:
            found.append((1 + 1 / ACK_NDP, mtu - NDP_HEADERS, cost))
    return found


def fit(rows):
    """Return: costs a of a packet and b of a byte, with the least sum of squares of the relative errors of ROWS."""
    rows = [(packets / cost, size / cost) for packets, size, cost in rows]
    pp, pb, bb = (sum(x[i] * x[j] for x in rows) for i, j in ((0, 0), (0, 1), (1, 1)))
    p, b = (sum(x[i] for x in rows) for i in (0, 1))
    det = pp * bb - pb * pb
    return (p * bb - b * pb) / det, (b * pp - p * pb) / det


def frame(bench):
    """Return: instructions for a frame that is cut by GSO and merged by GRO, mean over MTUs and flows."""
    extra = [cost - bench[(TSO, mtu, flows)] for (sockets, mtu, flows), cost in bench.items() if sockets == GRO]
    return sum(extra) / len(extra)


def instructions(bench, protocol):
    """Return: {closwire's option: instructions of a host}."""
    packet, byte = fit(equations(bench, protocol))
    costs = {"cpu_packet": packet, "cpu_frame": frame(bench) if protocol == "tcp" else 0, "cpu_kb": byte * KB}
    return {option: cost / HOSTS for option, cost in costs.items()}


def hertz(text):
    """Return: clock rate, instructions per second; TEXT: like "3ghz"."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)ghz", text)
    if not match or not 0.1 <= float(match[1]) <= 100:
        raise BadValue('bad clock rate "%s" (0.1ghz to 100ghz)' % text)
    return float(match[1]) * 1e9


def costs(text):
    """Return: {protocol: {closwire's option: ns}} of hosts with the clock rate TEXT, an instruction per cycle."""
    rate, bench = hertz(text), read()
    return {protocol: {option: round(count * 1e9 / rate) for option, count in instructions(bench, protocol).items()}
            for protocol in ("tcp", "ndp")}


def job(text):
    """Return: what --cpu TEXT adds to a job; nothing without it."""
    return {"cpu": costs(text)} if text else {}

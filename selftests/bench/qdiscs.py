# SPDX-License-Identifier: GPL-2.0-only
"""Cost of a packet in sch_ndp, sch_dcqcn, sch_pcrp, sch_roce and other qdiscs: a part of table.py."""
import re
import sys

BASE = "prio-2"
GOAL_UNCONGESTED = 1.15  # of BASE
# (case, packets, maximum): cost of a trim in units of an enqueue and a dequeue of the same packet
TRIMS = (
    ("cut in place, checksum complete", ("udp4", "udp6", "tcp4"), 2.0),
    ("cut in place, checksum left to the device", ("udp4-partial", "tcp4-partial"), 2.5),
    ("payload in a page, or a clone", ("udp4-frags", "udp4-cloned", "udp4-local"), 5.0),
    ("a clone with payload in a page", ("tcp4-local",), 7.5),
)
# qdiscs of hosts, which distinguish flows or classes; fq is also in the table of BASE
HOSTS = ("fq", "htb", "pcrp", "pcrp-nosrpt", "roce")

QDISCS = {
    "prio-2": "prio, 2 bands",
    "prio-3": "prio, 3 bands",
    "prio-2-u32": "prio, 2 bands, u32 filter on UDP port",
    "pfifo": "pfifo",
    "red": "red",
    "red-marks": "red, marks all",
    "fq_codel": "fq_codel",
    "fq": "fq",
    "htb": "htb, one class",
    "ndp": "ndp match udp_port",
    "ndp-all": "ndp match all",
    "ndp-dscp": "ndp match dscp",
    "dcqcn": "dcqcn, marks none",
    "dcqcn-draws": "dcqcn, draws",
    "dcqcn-marks": "dcqcn, marks all",
    "dcqcn-pool": "dcqcn pool, marks none",
    "dcqcn-pool-marks": "dcqcn pool, marks all",
    "pcrp": "pcrp",
    "pcrp-nosrpt": "pcrp nosrpt",
    "roce": "roce",
}
PACKETS = {
    "udp4": "IPv4 UDP",
    "udp6": "IPv6 UDP",
    "tcp4": "IPv4 TCP",
    "udp4-frags": "IPv4 UDP, payload in a page",
    "udp4-cloned": "IPv4 UDP, cloned",
    "udp4-partial": "IPv4 UDP, checksum left to the device",
    "tcp4-partial": "IPv4 TCP, checksum left to the device",
    "udp4-local": "IPv4 UDP of a local socket: payload in a page, checksum left to the device",
    "tcp4-local": "IPv4 TCP of a local socket: payload in a page, checksum left to the device, cloned",
    "udp4-short": "IPv4 UDP, 106 bytes: control",
    "udp4-port9": "IPv4 UDP, not NDP's",
    "udp4-ect": "IPv4 UDP, ECT(0)",
    "udp4-flows": "IPv4 UDP, 1000 flows",
    "roce4": "IPv4 RoCEv2",
    "roce4-qps": "IPv4 RoCEv2, 1000 queue pairs",
}


def read(path, lines):
    """{(qdisc, pattern, packet): {"same"|"other": (enqueue, dequeue)}}"""
    costs = {}
    for qdisc, pattern, packet, rest in lines:
        m = re.fullmatch(r"(same|other) (\d+) enqueue (\d+) dequeue (\d+)", rest)
        if not m:
            sys.exit(f"{path}: not a line of qdisc_bench: {rest}")
        if pattern == "trim" and int(m[2]) != 128:
            sys.exit(f"{path}: {qdisc} {packet}: a packet of {m[2]} bytes came out, not a header")
        costs.setdefault((qdisc, pattern, packet), {})[m[1]] = (int(m[3]), int(m[4]))
    return costs


def only(by_line):
    """(enqueue, dequeue) of a pattern whose steps are all of one kind"""
    (cost,) = by_line.values()
    return cost


def uncongested(costs):
    head = ["qdisc", "packet", "enqueue", "dequeue", "sum", "of prio", "sum, 4 waiting", "of prio, 4 waiting"]
    rows = []
    for (qdisc, pattern, packet), by_line in costs.items():
        if pattern != "empty" or packet == "udp4-ect" or qdisc in HOSTS[1:]:
            continue
        row = [QDISCS[qdisc], PACKETS[packet], *only(by_line)]
        for p in ("empty", "standing"):
            cost = sum(only(costs[qdisc, p, packet]))
            row += [cost, f"{cost / sum(only(costs[BASE, p, 'udp4'])):.2f}"]
        rows.append(row)
    return head, rows


def trims(costs):
    """(qdisc, packet, trimmed: arrival or tail, (enqueue, dequeue), sum for an untrimmed packet)"""
    for (qdisc, pattern, packet), by_line in costs.items():
        if pattern == "trim":
            for line, which in (("same", "arrival"), ("other", "tail")):
                plain = sum(only(costs[qdisc, "standing", packet]))
                yield qdisc, packet, which, by_line[line], plain


def trimming(costs):
    head = ["qdisc", "packet", "trimmed", "enqueue", "dequeue", "sum", "not trimmed", "a trim",
            "of not trimmed"]
    rows = []
    for qdisc, packet, which, cost, plain in trims(costs):
        extra = sum(cost) - plain
        rows.append([QDISCS[qdisc], PACKETS[packet], which, *cost, sum(cost), plain, extra,
                     f"{extra / plain:.2f}"])
    return head, rows


def marking(costs):
    """The table of ECN-capable packets"""
    head = ["qdisc", "waiting", "enqueue", "dequeue", "sum", "of red", "of fq_codel"]
    waiting = {"empty": "none", "standing": "4"}
    rows = []
    for (qdisc, pattern, packet), by_line in costs.items():
        if packet != "udp4-ect":
            continue
        cost = only(by_line)
        base = [sum(only(costs[peer, pattern, packet])) for peer in ("red", "fq_codel")]
        rows.append([QDISCS[qdisc], waiting[pattern], *cost, sum(cost)] +
                    [f"{sum(cost) / peer:.2f}" for peer in base])
    return head, rows


def hosts(costs):
    head = ["qdisc", "packet", "waiting", "enqueue", "dequeue", "sum", "of fq"]
    waiting = {"empty": "none", "standing": "4", "many": "1000, each of another flow"}
    peer = {"empty": "udp4", "standing": "udp4", "many": "udp4-flows"}     # packets of fq
    rows = []
    for (qdisc, pattern, packet), by_line in costs.items():
        if qdisc not in HOSTS:
            continue
        cost = only(by_line)
        base = sum(only(costs["fq", pattern, peer[pattern]]))
        rows.append([QDISCS[qdisc], PACKETS[packet], waiting[pattern], *cost, sum(cost), f"{sum(cost) / base:.2f}"])
    return head, rows


def goals(costs):
    """(text, met)"""
    worst = max(sum(only(by_line)) / sum(only(costs[BASE, pattern, "udp4"]))
                for (qdisc, pattern, packet), by_line in costs.items()
                if qdisc.startswith("ndp") and pattern != "trim" and packet == "udp4")
    yield (f"uncongested: {worst:.2f} of prio with two bands, at most {GOAL_UNCONGESTED}",
           worst <= GOAL_UNCONGESTED)
    for case, packets, most in TRIMS:
        worst = max((sum(cost) - plain) / plain for _, packet, _, cost, plain in trims(costs)
                    if packet in packets)
        yield (f"a trim, {case}: {worst:.2f} of an enqueue and dequeue, at most {most}",
               worst <= most)


def tables(costs):
    yield "uncongested", "A packet in an empty queue, and behind four", 2, *uncongested(costs)
    yield "trims", "Trims, beside an enqueue and dequeue of the same packet", 2, *trimming(costs)
    yield "marking", "ECN-capable packets: sch_dcqcn beside red and fq_codel", 2, *marking(costs)
    yield "hosts", "sch_pcrp and sch_roce beside fq and htb", 2, *hosts(costs)


def records(costs):
    yield ["qdisc", "pattern", "packet", "out", "enqueue", "dequeue"]
    for key, by_line in costs.items():
        for line, cost in by_line.items():
            yield [*key, line, *cost]

# SPDX-License-Identifier: GPL-2.0-only
"""Cost of an ACK with tcp_timely, tcp_dcqcn and other congestion controls: a part of table.py."""
import re
import sys

NONE = "bench_none"
BASE = "bbr"
JUDGED = "timely"
GOAL = 1.2  # of BASE

CONTROLS = {
    "bench_none": "none",
    "reno": "reno",
    "cubic": "cubic",
    "dctcp": "dctcp",
    "bbr": "bbr",
    "bbr-probed": "bbr, tcp_timely loaded",
    "timely": "timely, source hw",
    "timely-sw": "timely, source sw",
    "timely-rtt": "timely, source rtt",
    "dcqcn": "dcqcn, both modules loaded",
    "cubic-probed": "cubic, both modules loaded",
}
PATTERNS = {
    "burst": "an ACK per burst",
    "pair": "an ACK per two segments",
    "dup": "duplicate ACK",
}
MARKS = {
    "ece": "an ACK per burst, one in 8 with ECE",
    "data": "received segment",
    "marked": "received segment, one in 8 marked",
}


def read(path, lines):
    """{(control, pattern): {kind: (steps, median, mean)}}"""
    costs = {}
    for control, pattern, rest in lines:
        m = re.fullmatch(r"(\w+) (\d+) median (\d+) mean (\d+)", rest)
        if not m:
            sys.exit(f"{path}: not a line of ack_bench: {rest}")
        costs.setdefault((control, pattern), {})[m[1]] = tuple(map(int, m.groups()[1:]))
    return costs


def total(costs, control, pattern):
    """Mean of all ACKs"""
    lines = costs[control, pattern].values()
    return sum(steps * mean for steps, _, mean in lines) / sum(steps for steps, _, _ in lines)


def own(costs, control, pattern):
    return total(costs, control, pattern) - total(costs, NONE, pattern)


def tables(costs):
    head = ["congestion control"]
    for name in PATTERNS.values():
        head += [name, name + ": own", name + ": own, of bbr's"]
    rows = []
    for control, name in CONTROLS.items():
        if (control, "burst") not in costs:
            continue
        row = [name]
        for pattern in PATTERNS:
            mine, base = own(costs, control, pattern), own(costs, BASE, pattern)
            row += [f"{total(costs, control, pattern):.0f}", f"{mine:.0f}", f"{mine / base:.2f}"]
        rows.append(row)
    yield "cost", "An ACK, and the control's own part: mean", 1, head, rows

    kinds = {"burst": "a whole burst", "part": "a part of a burst", "rest": "the end of a burst", "dup": "duplicate"}
    head = ["congestion control"]
    for name in kinds.values():
        head += [name + ": median", name + ": mean"]
    rows = []
    for control, name in CONTROLS.items():
        if (control, "burst") not in costs:
            continue
        by_kind = {}
        for pattern in PATTERNS:
            by_kind.update(costs[control, pattern])
        rows.append([name] + [x for kind in kinds for x in by_kind[kind][1:]])
    yield "parts", "An ACK, by the segments that it acknowledges", 1, head, rows

    head = ["congestion control"]
    for name in MARKS.values():
        head += [name, name + ": marked ones"]
    rows = []
    for control, name in CONTROLS.items():
        if (control, "data") not in costs:
            continue
        row = [name]
        for pattern, marked in (("ece", "ece"), ("data", ""), ("marked", "marked")):
            by_kind = costs.get((control, pattern), {})
            row.append(f"{total(costs, control, pattern):.0f}" if by_kind else "")
            row.append(by_kind[marked][2] if marked in by_kind else "")
        rows.append(row)
    yield "marks", "ACKs with ECE and marked segments: mean", 1, head, rows


def goals(costs):
    """(text, met)"""
    for what, cost in (("own part", own), ("all of an ACK", total)):
        for pattern in ("burst", "pair"):
            ratio = cost(costs, JUDGED, pattern) / cost(costs, BASE, pattern)
            yield f"{what}, {PATTERNS[pattern]}: {ratio:.2f} of bbr, at most {GOAL}", ratio <= GOAL


def records(costs):
    yield ["control", "pattern", "ack", "count", "median", "mean"]
    for key, by_kind in costs.items():
        for kind, numbers in by_kind.items():
            yield [*key, kind, *numbers]

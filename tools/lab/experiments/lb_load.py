# SPDX-License-Identifier: GPL-2.0-only
"""Completion times on a leaf-spine fabric by way of load balancing: realistic sizes, a slow spine, a failed link.

Flows start as a Poisson process between any two hosts. All schemes have the same flows at the same times. The load is
that of the hosts' links, headers included. Schemes and fabrics are those of lb-permutation; `wcmp` is the kernel's ECMP
with weights in proportion to the rates of the uplinks.

A flow's slowdown is its time over the ideal time on an idle path. Means and quantiles are those of a run; intervals are
over runs with different flows. Flows between the first leaf, which a failed link concerns, and others are also shown
alone.
"""
from closlab import lb
from closlab.params import Param
from closlab.results import log_axis, mean

PARAMS = [
    *lb.NETWORK_PARAMS,
    Param("fabrics", "word", "symmetric,slow,failed", "fabrics", several=True, choices=lb.FABRICS),
    Param("transports", "word", "dctcp", "transports", several=True, choices=lb.TRANSPORTS),
    Param("sizes", "word", "alistorage2019", "flow size distributions", several=True),
    Param("loads", "number", "0.6,0.8", "loads of the hosts' links", several=True),
    Param("flows", "count", "1000", "approximate number of flows of a run"),
    Param("runs", "count", "5", "number of runs of each case"),
    Param("drain", "time", "1s", "time limit for unfinished flows"),
    *lb.PORT_PARAMS,
    *lb.TCP_PARAMS,
]
SMALL = {"leaves": "2", "spines": "2", "hosts": "2", "fabrics": "slow", "loads": "0.6", "flows": "30", "runs": "1"}
SCHEMES = ("ecmp", "wcmp", "letflow", "flowlet-quality", "random", "rr", "drill", "quality", "glb")
MEMORY = 4  # GiB


def cases(params):
    return [(fabric, transport, sizes, load) for fabric in params.fabrics for transport in params.transports
            for sizes in params.sizes for load in params.loads]


def name_of(case):
    return "%s-%s-%s-%g" % case


# ---- in the guest

def guest(lab):
    p = lab.params
    lab.expect(p.runs * sum(lb.poisson_ns(p, sizes, load) for *_, sizes, load in cases(p)))
    for fabric in p.fabrics:
        for transport in p.transports:
            net = lb.fabric(fabric, p.leaves, p.spines, p.hosts, p.rate, p.delay, p.mtu)
            lb.build(lab, net, transport, p.limit, p.buffer, p.k)
            now = lb.counts(lab, net)
            for case in cases(p):
                for number in range(p.runs if case[:2] == (fabric, transport) else 0):
                    now = lb.poisson(lab, net, name_of(case), number, *case[1:], now)
            lb.remove(net)


# ---- on the host

def of_first(params, row):
    """Return: does the flow cross between the first leaf and another one?"""
    return [(int(row[end][1:]) - 1) // params.hosts for end in ("src", "dst")].count(0) == 1


def report(run):
    p = run.params
    some, first = ({(scheme, case): [lb.Slowdowns(run, scheme, name_of(case), number, case[1], keep)
                                     for number in range(p.runs)] for scheme in run.schemes for case in cases(p)}
                   for keep in (lambda row: True, lambda row: of_first(p, row)))
    rows = []
    for case in cases(run.params):
        for scheme in run.schemes:
            points = some[scheme, case]
            rows.append(case + (scheme, lb.with_interval([r.mean for r in points]),
                                lb.with_interval([r.p99 for r in points]), lb.with_interval(gains(some, scheme, case)),
                                lb.with_interval(gains(first, scheme, case)),
                                mean([r.again for r in points]), mean([r.count["gaps"] for r in points]),
                                mean([r.count["moves"] for r in points])))
    run.text("Slowdown of the flows; ecmp's p99 over the scheme's, run by run: of all flows, of those of the first leaf", "")
    head = ("fabric", "transport", "sizes", "load", "scheme", "mean", "p99", "ecmp over it", "first leaf", "rtx %",
            "gaps", "moves")
    run.table(head, rows)
    with open(run.path("lb-load.csv"), "w", encoding="utf-8") as f:
        for row in [head] + rows:
            f.write(",".join(cell if isinstance(cell, str) else "%.3g" % cell for cell in row) + "\n")
    run.claim("done", "number of unfinished flows", sum(r.unfinished for runs in some.values() for r in runs), "== 0")
    if not run.small and {"ecmp", "quality"} <= set(run.schemes):
        claims(run, some)
        draw(run, some)


def gains(some, scheme, case):
    """Return: for each run, ecmp's p99 over the scheme's."""
    own = some[scheme, case]
    return [base.p99 / point.p99 for point, base in zip(own, some.get(("ecmp", case), own))]


def claims(run, some):
    for case in cases(run.params):
        for scheme in run.schemes:
            if scheme in ("ecmp", "wcmp"):
                continue
            ratio = mean(gains(some, scheme, case))
            ident = name_of(case) + "-" + scheme
            if scheme == "quality" and case[0] not in ("symmetric", "fat-tree"):
                run.claim(ident, "p99 slowdown: ecmp over quality", ratio, ">= 2")
            else:
                run.claim(ident, "p99 slowdown: ecmp over %s" % scheme, ratio, ">= 0.98")


def draw(run, some):
    p = run.params
    todo = [case for case in cases(p) if case[1:3] == (p.transports[0], p.sizes[0])]
    _, axes = run.figure("lb-load", 1, len(p.fabrics), (3.3 * len(p.fabrics), 3.2))
    width = 0.8 / len(run.schemes)
    for axis, fabric in zip(axes if len(p.fabrics) > 1 else [axes], p.fabrics):
        for i, scheme in enumerate(run.schemes):
            values = [[r.p99 for r in some[scheme, case]] for case in todo if case[0] == fabric]
            axis.bar([x + (i - len(run.schemes) / 2 + 0.5) * width for x in range(len(values))],
                     [mean(v) for v in values], width, yerr=lb.errors(values),
                     color=run.colour(scheme), label=scheme, error_kw={"linewidth": 0.7})
        axis.set(title=fabric)
        log_axis(axis.yaxis)
        axis.set_xticks(range(len(p.loads)), ["load %g" % load for load in p.loads])
    (axes if len(p.fabrics) == 1 else axes[0]).set_ylabel("p99 slowdown, " + p.transports[0])
    (axes if len(p.fabrics) == 1 else axes[-1]).legend(fontsize=6, loc="center left", bbox_to_anchor=(1.02, 0.5))

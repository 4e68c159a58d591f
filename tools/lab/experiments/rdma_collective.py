# SPDX-License-Identifier: GPL-2.0-only
"""Collectives by RDMA WRITE with immediate data: completion time with ECMP, PFC alone, and DCQCN.

Each host of a leaf-spine fabric is a rank. In `all-to-all`, each sends `bytes` / N to each other rank, all at once. In
`ring`, an all-reduce of `bytes` per rank, each sends 2 (N - 1) / N of them to its successor, at another leaf; the steps
overlap, as with pipelined chunks, so each rank sends one flow. Connections are open before. Schemes:

    ecmp    switches drop above their share of memory; no congestion control
    pfc     they pause instead
    dcqcn   they mark and pause; sch_roce at the hosts

Up to `pairs` queue pairs in all, transport is rxe; above, the traffic generator's model of a NIC with go-back-N, which
needs no memory for N^2 queue pairs.
"""
from closlab import lb, rdma, topo
from closlab.params import Param
from closlab.results import mean

PARAMS = [
    Param("fabrics", "count", "4,8", "leaves, spines and hosts at a leaf, a fabric each", several=True),
    Param("rate", "rate", "40gbit", "rate of all links"),
    Param("delay", "time", "1us", "delay of each link"),
    Param("pairs", "count", "1000", "largest number of queue pairs with rxe"),
    Param("collectives", "word", "all-to-all,ring", "collectives", several=True, choices=("all-to-all", "ring")),
    Param("bytes", "size", "4M", "data of a rank"),
    Param("runs", "count", "5", "number of runs of each case"),
    Param("window", "count", "128", "packets of a queue pair of the model without acknowledgment"),
    Param("jitter", "time", "20us", "interval in which the flows start"),
    Param("longest", "time", "20ms", "estimate of a run's time, for the display of progress"),
]
SMALL = {"fabrics": "2", "bytes": "100k", "runs": "1"}
SCHEMES = ("ecmp", "pfc", "dcqcn")
MEMORY = 8  # GiB


def cases(params):
    return [(size, collective) for size in params.fabrics for collective in params.collectives]


def transport(params, case):
    ranks = case[0] ** 2
    return "roce" if ranks * (ranks - 1 if case[1] == "all-to-all" else 1) <= params.pairs else "gbn"


def sent_bytes(params, case):
    """Return: bytes that each rank sends."""
    ranks = case[0] ** 2
    return (params.bytes // ranks if case[1] == "all-to-all" else 2 * params.bytes // ranks) * (ranks - 1)


# ---- in the guest

def build(lab, case):
    p, size = lab.params, case[0]
    net = topo.leaf_spine(size, size, size, p.rate, p.delay, mtu=rdma.MTU)
    controlled = lab.scheme == "dcqcn"
    rdma.build_dcqcn(lab, net, transport(p, case), "pmax 20%" if controlled else rdma.without_marks(), controlled,
                     xoff=None if lab.scheme == "ecmp" else "xoff dynamic beta 8")
    return net


def patterns(params, net, case):
    """Return: words of the traffic generator."""
    size, collective = case
    names = [host.name for host in net.hosts()]
    kind = transport(params, case)
    # the timeout is above the time of a window at a small share of the rate
    more = ["transport=" + kind, "ack_timeout=9"] + \
        (["message=1M"] if kind == "roce" else ["window=%d" % params.window])
    # the ranks in turn from each leaf
    ring = [names[leaf * size + i] for i in range(size) for leaf in range(size)]
    # the i-th source sends to the i-th destination
    steps = range(1, 2) if collective == "ring" else range(1, len(ring))
    words = []
    for step in steps:
        words += ["--", "bulk", "src=" + ",".join(ring), "dst=" + ",".join(ring[step:] + ring[:step]), "bytes=%d" % (
            sent_bytes(params, case) // len(steps)), "stagger=0", "connect=before", "jitter=%dns" % params.jitter,
            *more]
    return words[1:]


def guest(lab):
    p = lab.params
    lab.expect(len(cases(p)) * p.runs * p.longest)
    for case in cases(p):
        net = build(lab, case)
        for number in range(p.runs):
            lab.traffic(net, "--seed", 1000 * lab.seed + number, "--drain", "1s", "--flows",
                        lab.path("flows-%d-%s-%d.csv" % (*case, number)), *patterns(p, net, case))
        rdma.remove(net)


# ---- on the host

class Case:
    """Runs of a case: effective bandwidth, a share of a host's link; time until the last flow ended, ms."""

    def __init__(self, run, scheme, case):
        p = run.params
        self.shares, self.times, self.failed = [], [], 0
        for number in range(p.runs):
            rows = run.csv(scheme, "flows-%d-%s-%d.csv" % (*case, number)).rows()
            self.failed += sum(row["state"] != "done" for row in rows)
            end = max(row["start_ns"] + row["fct_ns"] for row in rows if row["state"] == "done")
            self.times.append(end / 1e6)
            self.shares.append(sent_bytes(p, case) * 8e9 / (p.rate * rdma.SHARE) / end)


HEAD = ("ranks", "collective", "transport", "scheme", "time ms", "effective bandwidth", "over ecmp", "failed")


def report(run):
    p = run.params
    found = {(scheme, case): Case(run, scheme, case) for scheme in run.schemes for case in cases(p)}
    rows = []
    for case in cases(p):
        for scheme in run.schemes:
            own = found[scheme, case]
            base = found.get(("ecmp", case), own)
            ratios = [a / b for a, b in zip(own.shares, base.shares)]
            rows.append((case[0] ** 2, case[1], transport(p, case), scheme, lb.with_interval(own.times),
                         lb.with_interval(own.shares), lb.with_interval(ratios), own.failed))
    run.table(HEAD, rows)
    rdma.write_table(run.path("rdma-collective.csv"), HEAD, rows)
    run.claim("failed", "flows that did not end", sum(case.failed for case in found.values()), "== 0")
    if run.small or set(run.schemes) != set(SCHEMES):
        return
    for case in cases(p):
        run.claim("dcqcn-%d-%s" % (case[0] ** 2, case[1]), "%d ranks, %s: bandwidth with DCQCN over PFC alone" % (
            case[0] ** 2, case[1]), mean(found["dcqcn", case].shares) / mean(found["pfc", case].shares), ">= 1")
    draw(run, found)


def draw(run, found):
    _, axis = run.figure("rdma-collective", 1, 1, (8, 3.4))
    todo = cases(run.params)
    width = 0.8 / len(run.schemes)
    for i, scheme in enumerate(run.schemes):
        some = [found[scheme, case] for case in todo]
        axis.bar([x + (i - len(run.schemes) / 2 + 0.5) * width for x in range(len(todo))],
                 [mean(c.shares) for c in some], width, yerr=lb.errors([c.shares for c in some]),
                 color=run.colour(scheme), label=scheme, error_kw={"linewidth": 0.7})
    axis.set_xticks(range(len(todo)), ["%s\n%d ranks" % (case[1], case[0] ** 2) for case in todo])
    axis.set(ylabel="effective bandwidth", ylim=(0, 1.05))
    axis.legend(fontsize=7)

# SPDX-License-Identifier: GPL-2.0-only
"""An oversubscribed network with the NDP transport: completion times, and where packets are trimmed.

After Fig. 23 of the NDP paper (SIGCOMM 2017): its core has a fourth of the hosts'
capacity, and each host has some flows all the time, to any others, a new one for each
that ended. Here it is a leaf-spine network, sizes are those of `sizes`, and each
flow has a socket of its own. Number n of the flows of a host is the same in all
schemes; how many of them there are depends on how fast they are. Schemes:

    ndp         trimming ports of `limit` packets, a header queue of the same memory
    ndp-srpt    the same; a receiver pulls that flow first which has least to send
    dctcp       each flow has one path; ports of `buffer` bytes that mark what exceeds `k`

Flows that begin in the warm-up do not count; what is unfinished when no more begin is
waited for.
"""
import math

from closlab import ndp, pcrp, topo
from closlab.params import Param
from closlab.results import mean, quantile

PARAMS = [
    Param("leaves", "count", "4", "switches that hosts are at"),
    Param("spines", "count", "2", "switches above them; a leaf has a link of the rate to each"),
    Param("hosts", "count", "8", "at each leaf"),
    Param("mtu", "size", "9000", "of all links"),
    Param("rate", "rate", "10gbit", "of all links"),
    Param("delay", "time", "2us", "of each link"),
    Param("sizes", "word", "hadoop", "distribution"),
    Param("flows", "count", "5,10", "of each host, all the time", several=True),
    Param("warmup", "time", "3ms", "before the measurement"),
    Param("time", "time", "10ms", "of the measurement: flows begin"),
    Param("drain", "time", "10s", "at most, for what is unfinished"),
    Param("limit", "count", "8", "packets that a trimming port queues"),
    Param("paths", "count", "64", "UDP source ports, of which ECMP makes paths"),
    Param("window", "count", "0", "packets of NDP's initial window; 0: the module's default"),
    Param("buffer", "size", "1M", "of TCP's port"),
    Param("k", "size", "98k", "above which it marks"),
    Param("rto_min", "time", "5ms", "TCP's shortest timeout"),
]
SMALL = {"leaves": "2", "spines": "1", "hosts": "2", "flows": "1", "warmup": "100us", "time": "500us"}
SCHEMES = ("ndp", "ndp-srpt", "dctcp")
NDP = SCHEMES[:2]
POLICIES = {"ndp": 0, "ndp-srpt": 2}    # net.ndp.pull_policy

TIERS = {"up": "leaf, up", "spine": "spine, down", "down": "leaf, to the host"}


# ---- in the guest

def network(params):
    return topo.leaf_spine(params.leaves, params.spines, params.hosts, params.rate, params.delay, mtu=params.mtu)


def guest(lab):
    p = lab.params
    net = network(p)
    frame = p.mtu + ndp.FRAME_HEADER
    for port in net.switch_ports():
        port.ring = 2       # what waits is to be in the qdisc
        port.qdisc = ndp.qdisc(p.limit, p.mtu) if lab.scheme in NDP else \
            ndp.beside(lab.scheme, frame, p.rate, p.buffer // frame, p.k // frame)
    for port in net.host_ports():
        port.ring, port.qdisc = 4, ndp.HOST_QDISC if lab.scheme in NDP else "fq"
    lab.expect(len(p.flows) * (p.warmup + p.time))
    if lab.scheme in NDP:
        ndp.build(lab, net, paths=p.paths, pull_policy=POLICIES[lab.scheme], initial_window=p.window or None)
    else:
        net.host_sysctls["ipv4/tcp_rto_min_us"] = str(p.rto_min // 1000)
        net.build()
    now = pcrp.counts(net)
    counts = ndp.counts(net) if lab.scheme in NDP else None
    for number in p.flows:
        lab.sample("ports-%d.csv" % number, p.time, net.switch_ports(), p.warmup)
        lab.traffic(net, "--time", "%dns" % (p.warmup + p.time), "--drain", "%dns" % p.drain,
                    "--flows", lab.path("flows-%d.csv" % number), "closed", "concurrency=%d" % number,
                    "cdf=" + pcrp.cdf(p.sizes), ndp.transport(lab.scheme))
        now = pcrp.write_hosts(lab.path("hosts-%d.csv" % number), net, now)
        if counts:
            counts = ndp.write_counts(lab.path("counts-%d.csv" % number), net, counts)


# ---- on the host

def tier(port):
    """Of a port of a switch, by its name NODE/NEIGHBOUR."""
    node, _, neighbour = port.partition("/")
    return "spine" if node.startswith("spine") else "up" if neighbour.startswith("spine") else "down"


class Case(pcrp.Flows):
    """Flows that began after the warm-up; and of the ports, while it was measured

    trims   {tier: packets trimmed}
    up      what the leaves sent up, of what those links carry
    """

    def __init__(self, run, scheme, number):
        p = run.params
        super().__init__(run, scheme, str(number), keep=lambda row: row["start_ns"] != "" and
                         row["start_ns"] >= p.warmup)
        self.count = lambda name: ndp.count(run, scheme, number, name)
        self.fct = [row["fct_ns"] / 1e3 for row in self.done]
        ports = run.csv(scheme, "ports-%d.csv" % number).rows()
        first = min(row["time_ns"] for row in ports)
        last = min(row["time_ns"] for row in ports if row["time_ns"] > first)
        self.trims = {name: 0 for name in TIERS}
        sent = 0
        for row in ports:
            sign = (row["time_ns"] == last) - (row["time_ns"] == first)
            self.trims[tier(row["port"])] += sign * row["trims"]
            sent += sign * row["sent_bytes"] * (tier(row["port"]) == "up")
        self.up = sent * 8e9 / ((last - first) * p.leaves * p.spines * p.rate)


def report(run):
    some = {(scheme, number): Case(run, scheme, number) for scheme in run.schemes for number in run.params.flows}
    run.text("Completion times, us", "")
    run.table(("flows of a host", "scheme", "done", "median", "mean", "p90", "p99", "<= 10 KB: p99", "> 1 MB: mean",
               "links up, of their rate", "timeouts"),
              [(number, scheme) + row(scheme, some[scheme, number]) for number in run.params.flows
               for scheme in run.schemes])
    trimming = [(number, scheme, some[scheme, number]) for number in run.params.flows for scheme in NDP
                if scheme in run.schemes]
    run.text("Trimmed, % of all packets sent, those sent again too; and where, % of that while it was measured:", "")
    run.table(("flows of a host", "scheme", "trimmed %") + tuple(name + ", %" for name in TIERS.values()),
              [(number, scheme) + trims(case) for number, scheme, case in trimming])
    run.claim("done", "flows that did not end", sum(len(case.all) - len(case.done) for case in some.values()), "== 0")
    for scheme in NDP:
        if scheme in run.schemes:
            run.claim(scheme + "-timeouts", scheme + ": timeouts, in all cases", sum(
                case.count(ndp.TIMEOUTS) for _, name, case in trimming if name == scheme), "== 0")
    if not run.small and "dctcp" in run.schemes:
        for number, scheme, case in trimming:
            other = some["dctcp", number]
            for name, q in (("median", 0.5), ("p99", 0.99)):
                run.claim("%s-%d-%s" % (scheme, number, name), "%d flows of each host: %s time with dctcp over "
                          "with %s" % (number, name, scheme), quantile(other.fct, q) / quantile(case.fct, q), "> 1")
        draw(run, some)


def row(scheme, case):
    timeouts = case.count(ndp.TIMEOUTS) if scheme in NDP else case.total("TcpExtTCPTimeouts")
    longer = [r["fct_ns"] / 1e3 for r in case.among(*pcrp.CLASSES[-1][1:])]
    shorter = [r["fct_ns"] / 1e3 for r in case.among(*pcrp.CLASSES[0][1:])]
    return (len(case.done), quantile(case.fct, 0.5), mean(case.fct), quantile(case.fct, 0.9), quantile(case.fct, 0.99),
            quantile(shorter or [math.nan], 0.99), mean(longer or [math.nan]), case.up, timeouts)


def trims(case):
    total = sum(case.trims.values())
    sent = case.count(ndp.NEW) + case.count(ndp.RTX)
    return (100 * case.count(ndp.NACKED) / sent,) + tuple(100 * case.trims[name] / max(1, total) for name in TIERS)


def draw(run, some):
    """Distribution of the times, a part for each number of flows."""
    numbers = run.params.flows
    _, axes = run.figure("ndp-oversubscribed", 1, len(numbers), (4.2 * len(numbers), 3.2))
    for column, number in enumerate(numbers):
        axis = axes[column] if len(numbers) > 1 else axes
        for scheme in run.schemes:
            times = sorted(some[scheme, number].fct)
            axis.step(times, [(i + 1) / len(times) for i in range(len(times))], color=run.colour(scheme), label=scheme,
                      where="post")
        axis.set(xscale="log", title="%d flows of each host" % number, xlabel="us", ylabel="share of the flows")
    axis.legend(fontsize=7)

# SPDX-License-Identifier: GPL-2.0-only
"""A permutation on a fat tree with the NDP transport: goodput of each host relative to its link's capacity.

After Fig. 14 of the NDP paper (SIGCOMM 2017). Each host of a k-ary fat tree sends to one host and receives from one
host all the time. Each tier of the network has the capacity of all hosts' links, so all hosts could have the full rate
if packets were spread evenly. Schemes:

    ndp       trimming ports of `limit` packets; packets of each flow use `paths` UDP source ports in turn, which the
              switches' ECMP maps to paths
    ndp-few   the same with `few` ports
    dctcp     each flow has one path, chosen by ECMP; ports mark above `k` packets

Goodput counts acknowledged data. Fair goodput is the payload rate of a link that carries nothing but full packets.
"""
import math

from closlab import ndp, topo
from closlab.params import Param
from closlab.results import jain, mean, quantile
from closlab.tcp import AROUND, SERIES, goodputs

PARAMS = [
    Param("arity", "count", "4", "k of the fat tree, which has k^3/4 hosts"),
    Param("mtu", "size", "9000", "MTU of all links"),
    Param("permutations", "count", "4", "number of permutations, run in sequence"),
    Param("rate", "rate", "10gbit", "rate of all links"),
    Param("delay", "time", "1us", "delay of each link"),
    Param("warmup", "time", "5ms", "time before the measurement"),
    Param("time", "time", "20ms", "duration of the measurement"),
    Param("jitter", "time", "100us", "interval in which the flows start"),
    Param("limit", "count", "8", "data queue of a trimming port, packets"),
    Param("paths", "count", "256", "UDP source ports of ndp"),
    Param("few", "count", "64", "UDP source ports of ndp-few"),
    Param("window", "count", "0", "NDP's initial window, packets; 0: the module's default"),
    Param("gso", "count", "0", "packets in a batch, which takes one path; 0: the module's default"),
    Param("buffer", "count", "200", "buffer of TCP's port, packets"),
    Param("k", "count", "30", "marking threshold of dctcp's port, packets"),
]
SMALL = {"arity": "2", "permutations": "1", "warmup": "1ms", "time": "2ms"}
SCHEMES = ("ndp", "ndp-few", "dctcp")
MEMORY = 4  # GiB

TIERS = {"ea": "edge, up", "ac": "aggregation, up", "ca": "core", "ae": "aggregation, down", "eh": "edge, down"}


def guest(lab):
    p = lab.params
    net = topo.fat_tree(p.arity, p.rate, p.delay, mtu=p.mtu)
    for port in net.switch_ports():
        port.ring = 2       # packets queue in the qdisc
        port.qdisc = port_qdisc(p, lab.scheme)
    lab.expect(p.permutations * (p.warmup + p.time))
    every = math.gcd(p.warmup, p.time) // SERIES
    if lab.scheme == "dctcp":
        net.build()
        counts = None
    else:
        ndp.build(lab, net, paths=p.few if lab.scheme == "ndp-few" else p.paths, initial_window=p.window or None,
                  gso_packets=p.gso or None)
        counts = ndp.counts(net)
    for number in range(p.permutations):
        lab.sample("ports-%d.csv" % number, p.time, net.switch_ports(), p.warmup)
        lab.traffic(net, "--seed", 1000 * lab.seed + number, "--time", "%dns" % (p.warmup + p.time), "--drain", "0ns",
                    "--series", lab.path("series-%d.csv" % number), "--every", "%dns" % every,
                    "permutation", "jitter=%dns" % p.jitter, ndp.transport(lab.scheme))
        if counts:
            counts = ndp.write_counts(lab.path("counts-%d.csv" % number), net, counts)


def port_qdisc(params, scheme):
    """Return: qdisc of all switch ports."""
    if scheme != "dctcp":
        return ndp.qdisc(params.limit)
    return ndp.beside(scheme, params.mtu + ndp.FRAME_HEADER, params.rate, params.buffer, params.k)


# ---- on the host

def fair(params, scheme):
    """Return: the payload rate of a link with full packets, bit/s."""
    return params.rate * (params.mtu - ndp.headers(scheme)) / (params.mtu + AROUND)


class Permutation:
    """Results of one permutation during the measurement.

    shares  goodput of each flow relative to fair
    trims   {tier: trimmed packets}
    packets acknowledged packets
    """

    def __init__(self, run, scheme, number):
        p = run.params
        series = run.csv(scheme, "series-%d.csv" % number)
        self.shares = [g / fair(p, scheme) for g in goodputs(series, p.warmup, p.warmup + p.time, "acked_bytes")]
        ports = run.csv(scheme, "ports-%d.csv" % number).rows()
        first, last = min(row["time_ns"] for row in ports), max(row["time_ns"] for row in ports)
        self.trims = {tier: 0 for tier in TIERS}
        for row in ports:
            node, _, neighbour = row["port"].partition("/")
            sign = (row["time_ns"] == last) - (row["time_ns"] == first)
            self.trims[node[0] + neighbour[0]] += sign * row["trims"]
        payload = p.mtu - ndp.headers(scheme)
        self.packets = sum(self.shares) * fair(p, scheme) * (last - first) / 8e9 / payload
        self.count = lambda name: ndp.count(run, scheme, number, name)


def report(run):
    points = {scheme: [Permutation(run, scheme, number) for number in range(run.params.permutations)]
              for scheme in run.schemes}
    run.text("Goodput of the flows relative to fair (%.4g Gbit/s with NDP)" % (fair(run.params, "ndp") / 1e9), "")
    run.table(("scheme", "permutation", "mean", "min", "p10", "Jain"),
              [(scheme, number, mean(p.shares), min(p.shares), quantile(p.shares, 0.1), jain(p.shares))
               for scheme, some in points.items() for number, p in enumerate(some)])
    trimming = {scheme: some for scheme, some in points.items() if scheme != "dctcp"}
    run.text("Trimmed, % of acknowledged packets, by tier; retransmissions, including the warm-up:", "")
    run.table(("scheme",) + tuple(TIERS.values()) + ("rtx %", "timeouts"),
              [(scheme,) + tuple(100 * sum(p.trims[tier] for p in some) / sum(p.packets for p in some)
                                 for tier in TIERS) +
               (100 * sum(p.count(ndp.RTX) for p in some) / sum(p.count(ndp.NEW) for p in some),
                sum(p.count(ndp.TIMEOUTS) for p in some)) for scheme, some in trimming.items()])
    for scheme, some in trimming.items():
        claim(run, scheme, some)
    if set(run.schemes) == set(SCHEMES) and not run.small:
        run.claim("beside-dctcp", "smallest ratio of ndp's mean goodput to dctcp's",
                  min(mean(a.shares) / mean(b.shares) for a, b in zip(points["ndp"], points["dctcp"])), ">= 1.3")
        draw(run, points)


def claim(run, scheme, some):
    run.claim(scheme + "-mean", "%s: smallest mean goodput of a permutation, relative to fair" % scheme,
              min(mean(p.shares) for p in some), ">= 0.92")
    run.claim(scheme + "-least", "%s: smallest goodput of a flow, relative to fair" % scheme,
              min(min(p.shares) for p in some), ">= 0.85")
    run.claim(scheme + "-timeouts", "%s: number of timeouts" % scheme, sum(p.count(ndp.TIMEOUTS) for p in some), "== 0")


def draw(run, points):
    _, axis = run.figure("ndp-permutation", size=(5, 3.4))
    for scheme, some in points.items():
        shares = sorted(share for p in some for share in p.shares)
        axis.plot([(i + 1) / len(shares) for i in range(len(shares))], shares, color=run.colour(scheme), label=scheme)
    axis.set_ylim(0, 1.05)
    axis.set_xlabel("flows of all permutations, in order of their goodput")
    axis.set_ylabel("goodput relative to fair")
    axis.legend(loc="lower right")

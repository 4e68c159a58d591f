# SPDX-License-Identifier: GPL-2.0-only
"""In-order spraying: the goodput of one TCP connection over several paths between two leaves.

A host at one leaf sends to a host at the other one, and back, by one connection each way.

    ecmp              the kernel's hash: a connection has one path
    spray             act_lb: each packet by the best path; the receiving host restores the order
    reorder-random, reorder-rr, reorder-drill, reorder    closfab: each packet by a path; the other leaf restores the
                      order. "reorder" chooses by quality
    cell              closfab: cells of `cell` bytes
    conweave          closfab: the connection moves when its path is congested

Fabrics: `symmetric`: four paths with `rate`; `slow`: one of them has a quarter; `wan`: two links of 100 and 40 Mbit/s
with one-way delays of 20 and 45 ms.
"""
import math

from closlab import fab, lb, topo
from closlab.params import Param
from closlab.results import mean
from closlab.tcp import AROUND, SERIES, goodputs

FABRICS = ("symmetric", "slow", "wan")
PARAMS = [
    Param("spines", "count", "4", "paths"),
    Param("mtu", "size", "1500", "MTU of the hosts"),
    Param("rate", "rate", "10gbit", "rate of a path; hosts have 5 times that"),
    Param("delay", "time", "1us", "delay of each link"),
    Param("fabrics", "word", "symmetric,slow,wan", "fabrics", several=True, choices=FABRICS),
    Param("transports", "word", "cubic,dctcp", "transports", several=True, choices=("cubic", "dctcp")),
    Param("runs", "count", "5", "number of runs of each case"),
    Param("warmup", "time", "5ms", "time before the measurement"),
    Param("time", "time", "10ms", "duration of the measurement"),
    Param("wan_warmup", "time", "10s", "the same for the WAN"),
    Param("wan_time", "time", "20s", "the same for the WAN"),
    Param("buffer", "count", "400", "buffer of a port, packets"),
    Param("wan_buffer", "count", "1000", "buffer of a port of the WAN, packets"),
    Param("k", "count", "65", "marking threshold of dctcp's port, packets"),
    Param("cell", "count", "512", "size of cells, bytes"),
]
SMALL = {"spines": "2", "fabrics": "symmetric", "transports": "dctcp", "runs": "1", "warmup": "500us", "time": "500us"}
SCHEMES = ("ecmp", "spray", "reorder-random", "reorder-rr", "reorder-drill", "reorder", "cell", "conweave")
MEMORY = 4  # GiB
WAN = ((100_000_000, 20_000_000), (40_000_000, 45_000_000))     # rate, one-way delay in ns


def words_of(scheme, p, kind):
    """Return: options of closfab, or None."""
    # the wait must be above the skew, and the memory above its bandwidth-delay product
    more = " wait_max 200ms limit 64000000 flow_limit 16000000" if kind == "wan" else ""
    if scheme.startswith("reorder"):
        return "mode reorder select %s%s" % (scheme.partition("-")[2] or "quality", more)
    if scheme == "cell":
        return "mode cell cell_size %d select quality%s" % (p.cell, more)
    return "mode conweave" if scheme == "conweave" else None


def cases(params):
    """The WAN has no ECN."""
    return [(kind, transport) for kind in params.fabrics for transport in params.transports
            if kind != "wan" or transport == "cubic"]


def times(params, kind):
    return (params.wan_warmup, params.wan_time) if kind == "wan" else (params.warmup, params.time)


def rates(params, kind):
    """Return: the rates of the paths."""
    if kind == "wan":
        return [rate for rate, _ in WAN]
    found = [params.rate] * params.spines
    if kind == "slow":
        found[-1] //= lb.SLOW
    return found


# ---- in the guest

def network(p, kind):
    net = topo.leaf_spine(2, len(rates(p, kind)), 1, 5 * max(rates(p, kind)), p.delay, mtu=p.mtu)
    for number, rate in enumerate(rates(p, kind)):
        for port in net.nodes["spine%d" % (number + 1)].ports.values():
            for end in (port, port.peer):
                end.rate = rate
                if kind == "wan":
                    end.delay = WAN[number][1] // 2
    return net


def counts(lab, net):
    sums = lb.counts(lab, net) | {"disordered": fab.disordered(net)} | fab.uplinks(net)
    return sums | (fab.counts(net) if words_of(lab.scheme, lab.params, "") else {})


def guest(lab):
    p = lab.params
    lab.expect(sum(p.runs * sum(times(p, kind)) for kind, _ in cases(p)))
    for kind, transport in cases(p):
        words = words_of(lab.scheme, p, kind)
        warmup, duration = times(p, kind)
        for number in range(p.runs):
            net = network(p, kind)
            lb.build(lab, net, transport, 8, p.wan_buffer if kind == "wan" else p.buffer, p.k,
                     seed=100 * lab.seed + number, rto_min=200_000_000 if kind == "wan" else 5_000_000,
                     words="granularity packet select quality" if lab.scheme == "spray" else None,
                     prepare=fab.prefer_control)
            if words:
                fab.attach(lab, net, words)
            before = counts(lab, net)
            case = "%s-%s-%d.csv" % (kind, transport, number)
            lab.traffic(net, "--seed", 1000 * lab.seed + number, "--time", "%dns" % (warmup + duration), "--drain",
                        "0ns", "--flows", lab.path("flows-" + case), "--series", lab.path("series-" + case), "--every",
                        "%dns" % (math.gcd(warmup, duration) // SERIES), "permutation", "jitter=0ns",
                        lb.transport_words(transport))
            lb.write_counts(lab, net, lab.path("counts-" + case), before, counts)
            lb.remove(net)


# ---- on the host

class Run:
    """A run.

    shares      goodput of each connection relative to the sum of the paths' rates
    count       {counter: value}, including the warm-up
    disordered  segments that receivers queued out of order, % of all
    again       retransmitted segments, % of all
    late        packets that closfab delivered out of order, % of all
    imbalance   difference of bytes between the most and the least loaded uplink of a leaf, % of their mean
    """

    def __init__(self, run, scheme, kind, transport, number):
        p = run.params
        case = "%s-%s-%d.csv" % (kind, transport, number)
        warmup, duration = times(p, kind)
        rate = sum(rates(p, kind)) * (p.mtu - lb.headers(transport)) / (p.mtu + AROUND)
        found = goodputs(run.csv(scheme, "series-" + case), warmup, warmup + duration, "acked_bytes")
        self.shares = [goodput / rate for goodput in found]
        self.count = lb.read_counts(run, scheme, "counts-" + case)
        packets = sum(found) * (warmup + duration) / 8e9 / (p.mtu - lb.headers(transport)) or 1
        self.disordered = 100 * self.count["disordered"] / packets
        self.again = 100 * self.count["TcpRetransSegs"] / packets
        self.late = 100 * sum(self.count.get(name, 0)
                              for name in ("rx_late", "rx_unheld", "rx_stray", "rx_unordered")) / packets
        self.imbalance = max(imbalance([value for name, value in self.count.items()
                                        if name.startswith("leaf%d-" % leaf)]) for leaf in (1, 2))


def imbalance(loads):
    return 100 * (max(loads) - min(loads)) / (mean(loads) or 1)


def report(run):
    p = run.params
    some = {(scheme, *case): [Run(run, scheme, *case, number) for number in range(p.runs)]
            for scheme in run.schemes for case in cases(p)}
    rows = []
    for kind, transport in cases(p):
        paths = sum(rates(p, kind)) / max(rates(p, kind))
        for scheme in run.schemes:
            points = some[scheme, kind, transport]
            shares = [mean(point.shares) for point in points]
            rows.append((kind, transport, scheme, lb.with_interval(shares), "%.2f" % (mean(shares) * paths),
                         min(min(point.shares) for point in points), mean([point.disordered for point in points]),
                         mean([point.again for point in points]), mean([point.late for point in points]),
                         mean([point.imbalance for point in points])))
    run.text("Goodput of one connection, relative to the sum of the paths and to the fastest path", "")
    run.table(("fabric", "transport", "scheme", "of the sum", "of a path", "slowest", "disordered %", "rtx %",
               "late %", "imbalance %"), rows)
    with open(run.path("inorder-spray.csv"), "w", encoding="utf-8") as f:
        f.write("fabric,transport,scheme,of the sum,of a path,slowest,out of order at the host %,retransmitted %,"
                "out of order behind the tunnel %,imbalance of uplinks %\n")
        for row in rows:
            f.write(",".join(cell if isinstance(cell, str) else "%.3g" % cell for cell in row) + "\n")
    if not run.small and {"reorder", "cell"} <= set(run.schemes):
        claims(run, some)
        draw(run, some)


def claims(run, some):
    for kind, transport in cases(run.params):
        points = some["reorder", kind, transport]
        paths = sum(rates(run.params, kind)) / max(rates(run.params, kind))
        name = "%s-%s" % (kind, transport)
        share = mean([mean(point.shares) for point in points])
        if kind == "symmetric":
            run.claim(name, "%s: reorder, relative to one path" % name, share * paths, ">= 3.7")
            run.claim(name + "-cell", "%s: cell, imbalance of the uplinks, %%" % name,
                      max(point.imbalance for point in some["cell", kind, transport]), "<= 2")
        else:
            run.claim(name, "%s: reorder, relative to the sum of the paths" % name, share,
                      ">= 0.9" if kind == "wan" else ">= 0.925")
        run.claim(name + "-order", "%s: reorder, packets out of order behind the tunnel, %%" % name,
                  max(point.late for point in points), "<= 0.1")


def draw(run, some):
    p = run.params
    _, axes = run.figure("inorder-spray", 1, len(cases(p)), (2.6 * len(cases(p)), 3.2))
    for axis, (kind, transport) in zip(axes if len(cases(p)) > 1 else [axes], cases(p)):
        for i, scheme in enumerate(run.schemes):
            values = [mean(point.shares) for point in some[scheme, kind, transport]]
            axis.bar(i, mean(values), 0.8, yerr=lb.errors([values]), color=run.colour(scheme))
        axis.set(title="%s, %s" % (kind, transport), ylim=(0, 1.05))
        axis.set_xticks(range(len(run.schemes)), run.schemes, rotation=90, fontsize=7)
    (axes if len(cases(p)) == 1 else axes[0]).set_ylabel("goodput, of the sum of paths")

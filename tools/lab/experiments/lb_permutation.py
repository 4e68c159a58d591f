# SPDX-License-Identifier: GPL-2.0-only
"""Permutations on a leaf-spine fabric: how much of it does each way of load balancing use?

Each host sends to one host and receives from one host all the time. The leaves choose among the spines by the kernel's
ECMP (ecmp), or by act_lb:

    letflow, flowlet-quality    flowlets, by chance or by the quality of the uplinks
    random, rr, drill, quality  packets, by chance, in turn, by two queues and the last best one, by quality
    flow-quality                flows, by quality when they begin
    glb                         packets, by quality of the uplinks and of the spines' ports

Fabrics: `symmetric`; `slow`, in which the links of one spine have a quarter of the rate; `failed`, in which a leaf has
lost a link and all routes know it; `halved`, in which this link has half of its rate and routes are the same; `remote`,
in which the link from one spine to one leaf has a quarter of its rate. The goodput of all flows is relative to the
fluid bound: no flow has more than a host's link, and no leaf more than its uplinks, in each direction.
"""
import math

from closlab import lb
from closlab.params import Param
from closlab.results import mean
from closlab.tcp import AROUND, SERIES, goodputs

PARAMS = [
    *lb.NETWORK_PARAMS,
    Param("fabrics", "word", "symmetric,slow,failed", "fabrics", several=True, choices=lb.FABRICS[:-1]),
    Param("transports", "word", "dctcp,gbn", "transports", several=True, choices=lb.TRANSPORTS),
    Param("permutations", "count", "5", "number of permutations, run in sequence"),
    Param("warmup", "time", "2ms", "time before the measurement"),
    Param("time", "time", "3ms", "duration of the measurement"),
    Param("jitter", "time", "100us", "interval in which the flows start"),
    *lb.PORT_PARAMS,
    *lb.TCP_PARAMS,
]
SMALL = {"leaves": "2", "spines": "2", "hosts": "2", "fabrics": "slow", "transports": "cubic", "permutations": "1",
         "warmup": "500us", "time": "500us"}
SCHEMES = ("ecmp", "letflow", "flowlet-quality", "random", "rr", "drill", "quality", "flow-quality",
           "glb")
MEMORY = 4  # GiB


def cases(params):
    return [(fabric, transport) for fabric in params.fabrics for transport in params.transports]


# ---- in the guest

def guest(lab):
    p = lab.params
    lab.expect(len(cases(p)) * p.permutations * (p.warmup + p.time))
    for fabric, transport in cases(p):
        net = lb.fabric(fabric, p.leaves, p.spines, p.hosts, p.rate, p.delay, p.mtu)
        lb.build(lab, net, transport, p.limit, p.buffer, p.k)
        now = lb.counts(lab, net)
        for number in range(p.permutations):
            case = "%s-%s-%d.csv" % (fabric, transport, number)
            lb.vary_hashes(net, 1000 * lab.seed + number)
            every = math.gcd(p.warmup, p.time) // SERIES
            lab.traffic(net, "--seed", 1000 * lab.seed + number, "--time", "%dns" % (p.warmup + p.time),
                        "--drain", "0ns", "--flows", lab.path("flows-" + case), "--series",
                        lab.path("series-" + case), "--every", "%dns" % every, "permutation",
                        "jitter=%dns" % p.jitter, lb.transport_words(transport))
            now = lb.write_counts(lab, net, lab.path("counts-" + case), now)
        lb.remove(net)


# ---- on the host

class Permutation:
    """Results of one permutation during the measurement.

    share    goodput of all flows relative to the fluid bound
    shares   goodput of each flow relative to a host's link
    count    {counter: value}, including the warm-up
    """

    def __init__(self, run, scheme, fabric, transport, number):
        p = run.params
        case = "%s-%s-%d.csv" % (fabric, transport, number)
        rate = p.rate * (p.mtu - lb.headers(transport)) / (p.mtu + AROUND)
        self.shares = [g / rate for g in goodputs(run.csv(scheme, "series-" + case), p.warmup, p.warmup + p.time,
                                                  "received_bytes" if transport in lb.OF_RDMA else "acked_bytes")]
        leaf_of = lambda name: (int(name[1:]) - 1) // p.hosts
        rows = run.csv(scheme, "flows-" + case).rows()
        pairs = [(leaf_of(row["src"]), leaf_of(row["dst"])) for row in rows]
        self.share = sum(self.shares) / lb.bound(fabric, p.leaves, p.spines, p.hosts, pairs)
        self.count = lb.read_counts(run, scheme, "counts-" + case)
        packets = sum(self.shares) * rate * (p.warmup + p.time) / 8e9 / (p.mtu - lb.headers(transport))
        self.again = 100 * lb.again(transport, rows, self.count) / packets


def report(run):
    p = run.params
    some = {(scheme, *case): [Permutation(run, scheme, *case, number) for number in range(p.permutations)]
            for scheme in run.schemes for case in cases(p)}
    rows = []
    for fabric, transport in cases(p):
        for scheme in run.schemes:
            points = some[scheme, fabric, transport]
            of = lambda name: sum(point.count.get(name, 0) for point in points) / len(points)
            rows.append((fabric, transport, scheme, lb.with_interval([point.share for point in points]),
                         min(point.share for point in points), min(min(point.shares) for point in points),
                         mean([point.again for point in points]), of("TcpExtTCPSACKReorder"), of("gaps"), of("moves")))
    run.text("Goodput of all flows relative to the fluid bound; means of the permutations", "")
    run.table(("fabric", "transport", "scheme", "of the bound", "least", "slowest flow", "rtx %", "reordered",
               "gaps", "moves"), rows)
    write(run, rows)
    if not run.small:
        claims(run, some)
        draw(run, some)


def write(run, rows):
    """Write the table as a CSV file for the page."""
    with open(run.path("lb-permutation.csv"), "w", encoding="utf-8") as f:
        f.write("fabric,transport,scheme,of the bound,least,slowest flow,retransmitted %,reordering events,gaps,"
                "moves\n")
        for row in rows:
            f.write(",".join(cell if isinstance(cell, str) else "%.3g" % cell for cell in row) + "\n")


def claims(run, some):
    def share(scheme, fabric, transport):
        return mean([point.share for point in some[scheme, fabric, transport]])

    for fabric, transport in cases(run.params):
        if not {"ecmp", "quality"} <= set(run.schemes):
            continue
        name = "%s-%s" % (fabric, transport)
        for scheme in run.schemes:
            if scheme != "ecmp":
                run.claim("%s-%s" % (name, scheme), "%s, %s: %s over ecmp" % (fabric, transport, scheme),
                          share(scheme, fabric, transport) / share("ecmp", fabric, transport), ">= 0.98")
        if transport == "ndp":
            run.claim(name + "-fills", "%s, ndp: quality, relative to the bound" % fabric,
                      share("quality", fabric, transport), ">= 0.95")


def draw(run, some):
    p = run.params
    _, axes = run.figure("lb-permutation", 1, len(p.fabrics), (3.3 * len(p.fabrics), 3.2))
    width = 0.8 / len(run.schemes)
    for axis, fabric in zip(axes if len(p.fabrics) > 1 else [axes], p.fabrics):
        for i, scheme in enumerate(run.schemes):
            values = [[point.share for point in some[scheme, fabric, transport]] for transport in p.transports]
            axis.bar([x + (i - len(run.schemes) / 2 + 0.5) * width for x in range(len(values))],
                     [mean(v) for v in values], width, yerr=lb.errors(values),
                     color=run.colour(scheme), label=scheme, error_kw={"linewidth": 0.7})
        axis.set(title=fabric, ylim=(0, 1.05))
        axis.set_xticks(range(len(p.transports)), p.transports)
    (axes if len(p.fabrics) == 1 else axes[0]).set_ylabel("goodput relative to the fluid bound")
    (axes if len(p.fabrics) == 1 else axes[-1]).legend(fontsize=6, loc="center left", bbox_to_anchor=(1.02, 0.5))

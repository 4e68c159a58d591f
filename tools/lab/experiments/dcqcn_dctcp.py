# SPDX-License-Identifier: GPL-2.0-only
"""DCQCN's queue beside DCTCP's, with incast at 40 Gbit/s.

Y. Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, compares both with 20 senders to one
host: DCQCN's queue is shorter at the same throughput. DCTCP marks above 160 KB there, as recommended for 40 Gbit/s,
because bursts of packets would reduce the throughput with a lower threshold.

    dcqcn   tcp_dcqcn; the port marks by the paper's curve, or with a larger `pmax`, as in dcqcn-fair
    dctcp   Linux' dctcp; the port marks above each `k`

The port has sch_dcqcn in both schemes, with PFC behind it, because DCQCN flows start at line rate.
"""
from closlab import dcqcn, topo
from closlab.params import Param
from closlab.results import mean, quantile
from closlab.tcp import SERIES, Window

PARAMS = [
    Param("rate", "rate", "40gbit", "rate of all links"),
    Param("delay", "time", "1500ns", "delay of each link; four delays are most of the RTT"),
    Param("flows", "count", "2,8,20", "numbers of flows, each from its own host, a case each", several=True,
          held_out=("2", "20")),
    Param("pmax", "count", "1,20", "pmax of dcqcn's marking, %, a case each", several=True),
    Param("k", "size", "160k,40k", "dctcp's marking thresholds, a case each; the first is the paper's", several=True),
    Param("jitter", "time", "1ms", "interval in which the flows start"),
    Param("warmup", "time", "60ms", "time before the measurement"),
    Param("time", "time", "20ms", "duration of the measurement"),
    Param("every", "time", "10us", "interval between queue samples"),
]
SMALL = {"flows": "2", "pmax": "1", "k": "160k", "jitter": "100us", "warmup": "2ms", "time": "2ms", "every": "100us"}
SCHEMES = ("dcqcn", "dctcp")


def cases(params, scheme):
    """Return: [(name, flows, pmax in % or K in bytes)]."""
    name, values = ("pmax", params.pmax) if scheme == "dcqcn" else ("k", params.k)
    return [("n%d-%s%d" % (n, name, value), n, value) for value in values for n in params.flows]


# ---- in the guest

def guest(lab):
    p = lab.params
    dcqcn.load(lab)
    net = topo.star(max(p.flows) + 1, p.rate, p.delay)
    dcqcn.switch_qdiscs(net)
    net.build()
    todo = cases(p, lab.scheme)
    lab.expect(len(todo) * (p.warmup + p.time))
    for name, flows, value in todo:
        words = "pmax %d%%" % value if lab.scheme == "dcqcn" else dcqcn.marking(value, value)
        topo.run("tc", "-n", "switch", "qdisc", "change", "dev", "h1", "root", "dcqcn", *words.split())
        lab.sample("queue-%s.csv" % name, p.every, [net.nodes["switch"].port("h1")], p.warmup)
        lab.traffic(net, "--time", "%dns" % (p.warmup + p.time), "--drain", "1ms",
                    "--series", lab.path("series-%s.csv" % name), "--every", "%dns" % (p.time // SERIES),
                    "bulk", "src=h2-h%d" % (flows + 1), "dst=h1", "cc=" + lab.scheme, "jitter=%dns" % p.jitter)
        dcqcn.drain()


# ---- on the host

class Case(Window):
    """Results of one number of flows; queue in KB."""

    def __init__(self, run, scheme, name, flows, value):
        p = run.params
        super().__init__(run, scheme, name, p.rate, p.warmup, p.warmup + p.time)
        self.scheme, self.name, self.flows, self.value = scheme, name, flows, value
        self.goodput = sum(self.goodputs)

    def quantile(self, q):
        return quantile(self.queue_bytes, q) / 1e3

    def row(self):
        return (self.scheme, self.name, self.goodput / 1e9, self.share, self.jain, mean(self.queue_bytes) / 1e3,
                self.quantile(0.5), self.quantile(0.9), self.quantile(0.99), max(self.queue_bytes) / 1e3, self.marks,
                self.drops)


def report(run):
    some = {scheme: [Case(run, scheme, *case) for case in cases(run.params, scheme)] for scheme in run.schemes}
    run.text("Queue in KB", "")
    run.table(("scheme", "case", "Gbit/s", "of max", "Jain", "queue: mean", "p50", "p90", "p99", "max", "marks",
               "drops"),
              [c.row() for found in some.values() for c in found])
    run.claim("drops", "number of dropped packets", sum(c.drops for found in some.values() for c in found), "== 0")
    if not run.small and set(SCHEMES) == set(run.schemes):
        claim(run, some)
        draw(run, some)


def claim(run, some):
    for c in some["dcqcn"]:
        other = next(d for d in some["dctcp"] if (d.flows, d.value) == (c.flows, run.params.k[0]))
        text = "%d flows, pmax %d %%: " % (c.flows, c.value)
        run.claim("goodput-%d-%d" % (c.flows, c.value), text + "goodput of dcqcn over goodput of dctcp",
                  c.goodput / other.goodput, "0.99..1.01")
        run.claim("p90-%d-%d" % (c.flows, c.value), text + "p90 of dctcp's queue, K = %d KB, over p90 of dcqcn's" % (
            other.value // 1000), other.quantile(0.9) / c.quantile(0.9), "> 1")


def draw(run, some):
    _, axes = run.figure("dcqcn-dctcp", 1, len(run.params.flows), (13.5, 3.4))
    shares = [i / 200 for i in range(201)]
    for axis, flows in zip(axes, run.params.flows):
        for scheme, found in some.items():
            lines = [c for c in found if c.flows == flows]
            for c, style in zip(lines, ("-", "--", ":")):
                axis.plot([c.quantile(q) for q in shares], shares, style, color=run.colour(scheme),
                          label="dcqcn, pmax %d %%" % c.value if scheme == "dcqcn" else "dctcp, K = %d KB" % (
                              c.value // 1000))
        axis.set(xlabel="queue, KB", ylabel="cumulative share of samples", title="%d flows" % flows, xlim=(0, None))
    axes[-1].legend(loc="center left", bbox_to_anchor=(1.02, 0.5))

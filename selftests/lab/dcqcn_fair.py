# SPDX-License-Identifier: GPL-2.0-only
"""DCQCN's flows at one port, 2 to 64 of them at 10 to 100 Gbit/s: shares, throughput, and the queue of the fluid model.

The paper: Y. Zhu et al., "Congestion Control for Large-Scale RDMA Deployments",
SIGCOMM 2015: flows to one host get equal shares, 39 of 40 Gbit/s at least, none
starves. The model: Y. Zhu et al., "ECN or Delay: Lessons Learnt from Analysis of
DCQCN and TIMELY", CoNEXT 2016: rates rest where each packet is marked with
probability p* (closlab.dcqcn.fixed_point()), that is with a queue of

    q* = kmin + p* / pmax (kmax - kmin)     if p* < pmax

and there is no rest beyond. tcp_dcqcn and sch_dcqcn have their defaults, which are
the paper's; R_AI is a thousandth of the line's rate, 40 Mbit/s at 40 Gbit/s. The
scheme is the rate of all links. Hosts are around one switch, whose ports share
a buffer, with PFC behind the marks.
"""
from closlab import dcqcn, topo
from closlab.params import RATES, Param, scaled
from closlab.results import mean, quantile
from closlab.tcp import FRAME, SERIES, WIRE, Window

PARAMS = [
    Param("delay", "time", "1500ns", "of each link; four of them are most of the RTT"),
    Param("hosts", "count", "16", "that send"),
    Param("flows", "count", "2,4,8,16,32,64", "numbers of flows, a case each", several=True),
    Param("jitter", "time", "1ms", "the flows start within"),
    Param("warmup", "time", "200ms", "before the measurement"),
    Param("time", "time", "100ms", "of the measurement"),
    Param("every", "time", "20us", "between two samples of the queue"),
]
SMALL = {"hosts": "2", "flows": "2", "jitter": "100us", "warmup": "2ms", "time": "2ms", "every": "100us"}
SCHEMES = ("10gbit", "40gbit", "100gbit")


def rate_of(scheme):
    return scaled(scheme, RATES, "rate")


# ---- in the guest

def guest(lab):
    p = lab.params
    dcqcn.load(lab)
    net = topo.star(p.hosts + 1, rate_of(lab.scheme), p.delay)
    dcqcn.switch_qdiscs(net)
    net.build()
    lab.expect(len(p.flows) * (p.warmup + p.time))
    for flows in p.flows:
        lab.sample("queue-n%d.csv" % flows, p.every, [net.nodes["switch"].port("h1")], p.warmup)
        lab.traffic(net, "--time", "%dns" % (p.warmup + p.time), "--drain", "1ms",
                    "--series", lab.path("series-n%d.csv" % flows), "--every", "%dns" % (p.time // SERIES),
                    "bulk", "src=h2-h%d" % (p.hosts + 1), "dst=h1", "flows=%d" % flows, "cc=dcqcn",
                    "jitter=%dns" % p.jitter)


# ---- on the host

class Case(Window):
    """Of a number of flows; p: share of packets marked; rest: p*; rest_bytes: q*, or None if p* is beyond pmax."""

    def __init__(self, run, scheme, flows):
        p, rate = run.params, rate_of(scheme)
        super().__init__(run, scheme, "n%d" % flows, rate, p.warmup, p.warmup + p.time)
        self.scheme, self.flows, self.goodput = scheme, flows, sum(self.goodputs)
        self.least = min(self.goodputs) * flows / self.goodput if self.goodput else 0
        self.p = self.marks * FRAME / self.sent_bytes
        self.rest = dcqcn.fixed_point(rate, rate * dcqcn.AI, WIRE, flows)
        self.rest_bytes = None
        if self.rest < dcqcn.PMAX:
            self.rest_bytes = dcqcn.KMIN + self.rest / dcqcn.PMAX * (dcqcn.KMAX - dcqcn.KMIN)

    def row(self):
        queue = self.queue_bytes
        return (self.scheme, self.flows, self.goodput / 1e9, self.share, self.jain, self.least, 100 * self.p,
                100 * self.rest, mean(queue) / 1e3, quantile(queue, 0.05) / 1e3, quantile(queue, 0.95) / 1e3,
                self.rest_bytes / 1e3 if self.rest_bytes else "-", self.pauses, self.drops)


def report(run):
    cases = {scheme: [Case(run, scheme, flows) for flows in run.params.flows] for scheme in run.schemes}
    run.text("Queue in KB; least: the least share of a flow, 1 would be an equal one; of the model, p* and q*", "")
    run.table(("rate", "flows", "Gbit/s", "of most", "Jain", "least", "marked %", "p* %", "queue: mean", "p5", "p95", "q*",
               "pauses", "drops"), [c.row() for some in cases.values() for c in some])
    for scheme, some in cases.items():
        run.claim("drops-" + scheme, "%s: packets dropped" % scheme, sum(c.drops for c in some), "== 0")
        if run.small:
            continue
        run.claim("share-" + scheme, "%s: share of the line, the worst number of flows" % scheme,
                  min(c.share for c in some), ">= 0.975")
        run.claim("jain-" + scheme, "%s: Jain's index, the worst number of flows" % scheme, min(c.jain for c in some),
                  ">= 0.95")
        run.claim("least-" + scheme, "%s: the least of all flows' shares, of an equal one" % scheme,
                  min(c.least for c in some), ">= 0.5")
        for c in some:
            if c.rest_bytes:
                run.claim("queue-%s-%d" % (scheme, c.flows), "%s, %d flows: mean queue over q*" % (scheme, c.flows),
                          mean(c.queue_bytes) / c.rest_bytes, "0.5..2")
    if set(SCHEMES) == set(run.schemes):
        draw(run, cases)


def draw(run, cases):
    _, axes = run.figure("dcqcn-fair", 1, 3, (12, 3.4))
    for scheme, some in cases.items():
        flows, colour = [c.flows for c in some], run.colour(scheme)
        axes[0].plot(flows, [c.share for c in some], "o-", color=colour, label=scheme)
        axes[1].plot(flows, [c.jain for c in some], "o-", color=colour, label=scheme)
        axes[1].plot(flows, [c.least for c in some], "^:", color=colour)
        axes[2].plot(flows, [mean(c.queue_bytes) / 1e3 for c in some], "o-", color=colour, label=scheme)
        rests = [(c.flows, c.rest_bytes / 1e3) for c in some if c.rest_bytes]
        axes[2].plot(*zip(*rests), "x--", color=colour)
    axes[0].axhline(0.975, color="#666666", linewidth=0.8, linestyle=":")
    axes[2].axhline(dcqcn.KMAX / 1e3, color="#666666", linewidth=0.8, linestyle=":")
    axes[0].set(ylabel="goodput, of the most possible", ylim=(0.8, 1.02), title="Throughput")
    axes[1].set(ylabel="Jain's index (dotted: least share)", ylim=(0, 1.05), title="Shares")
    axes[2].set(ylabel="mean queue, KB", ylim=(0, None), title="Queue (x: fluid model)")
    for axis in axes:
        axis.set(xscale="log", xlabel="flows")
        axis.set_xticks(run.params.flows, [str(n) for n in run.params.flows])
        axis.minorticks_off()
        axis.legend()

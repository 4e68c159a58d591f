# SPDX-License-Identifier: GPL-2.0-only
"""DCQCN flows at one port, 2 to 64 of them at 10 to 100 Gbit/s: shares, throughput, and the queue of the fluid model.

The paper: Y. Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015: flows to one host get
equal shares and use the link. The model: Y. Zhu et al., "ECN or Delay: Lessons Learnt from Analysis of DCQCN and
TIMELY", CoNEXT 2016: rates are stable if each packet is marked with probability p* (closlab.dcqcn.fixed_point()), that
is with a queue of

    q* = kmin + p* / pmax (kmax - kmin)     if p* < pmax

There is no fixed point for larger p*. tcp_dcqcn has the paper's parameters, with R_AI a thousandth of the link's rate
(40 Mbit/s at 40 Gbit/s) and bursts of `seg_kb`. The port marks by the paper's curve, or with a larger pmax. The scheme
is the rate of all links. The hosts are at one switch, whose ports share a buffer, with PFC behind the marking.
"""
from closlab import dcqcn, topo
from closlab.params import RATES, Param, scaled
from closlab.results import mean, quantile
from closlab.tcp import FRAME, SERIES, WIRE, Window

PARAMS = [
    Param("delay", "time", "1500ns", "delay of each link; four delays are most of the RTT"),
    Param("hosts", "count", "16", "number of senders"),
    Param("flows", "count", "2,4,8,16,32,64", "numbers of flows", several=True, held_out=("2", "64")),
    Param("pmax", "count", "1,20", "pmax of the marking, %: the paper's, HPCC's simulator's", several=True),
    Param("seg_kb", "count", "4", "burst size, KB, at least two packets"),
    Param("jitter", "time", "1ms", "interval in which the flows start"),
    Param("warmup", "time", "60ms",
          "time before the measurement; above 40 Gbit/s, shorter for the same number of frames"),
    Param("time", "time", "20ms", "duration of the measurement, scaled in the same way"),
    Param("every", "time", "20us", "interval between queue samples"),
]
SMALL = {"hosts": "2", "flows": "2", "pmax": "1", "jitter": "100us", "warmup": "2ms", "time": "2ms", "every": "100us"}
SCHEMES = ("10gbit", "40gbit", "100gbit")
MEMORY = 4  # GiB
TICKS_KB = (1, 10, 100, 1000, 10000)


def rate_of(scheme):
    return scaled(scheme, RATES, "rate")


def spans(params, scheme):
    """Return: (warm-up, measurement), ns."""
    return tuple(ns * 40 * topo.GBIT // max(rate_of(scheme), 40 * topo.GBIT) for ns in (params.warmup, params.time))


def cases(params):
    """Return: [(name, pmax in %, flows)]."""
    return [("pmax%d-n%d" % (pmax, n), pmax, n) for pmax in params.pmax for n in params.flows]


# ---- in the guest

def guest(lab):
    p = lab.params
    dcqcn.load(lab, p.seg_kb)
    net = topo.star(p.hosts + 1, rate_of(lab.scheme), p.delay)
    dcqcn.switch_qdiscs(net)
    net.build()
    todo = cases(p)
    warmup, span = spans(p, lab.scheme)
    lab.expect(len(todo) * (warmup + span))
    for name, pmax, flows in todo:
        topo.run("tc", "-n", "switch", "qdisc", "change", "dev", "h1", "root", "dcqcn", "pmax", "%d%%" % pmax)
        lab.sample("queue-%s.csv" % name, p.every, [net.nodes["switch"].port("h1")], warmup)
        lab.traffic(net, "--time", "%dns" % (warmup + span), "--drain", "1ms",
                    "--series", lab.path("series-%s.csv" % name), "--every", "%dns" % (span // SERIES),
                    "bulk", "src=h2-h%d" % (p.hosts + 1), "dst=h1", "flows=%d" % flows, "cc=dcqcn",
                    "jitter=%dns" % p.jitter)
        dcqcn.drain()


# ---- on the host

class Case(Window):
    """Results of one number of flows; p: marked share of packets; rest: p*; rest_bytes: q*, or None if p* > pmax."""

    def __init__(self, run, scheme, name, pmax, flows):
        rate, (warmup, span) = rate_of(scheme), spans(run.params, scheme)
        super().__init__(run, scheme, name, rate, warmup, warmup + span)
        self.scheme, self.name, self.pmax, self.flows = scheme, name, pmax / 100, flows
        self.goodput = sum(self.goodputs)
        self.least = min(self.goodputs) * flows / self.goodput
        self.p = self.marks * FRAME / self.sent_bytes
        self.rest = dcqcn.fixed_point(rate, rate * dcqcn.AI, WIRE, flows)
        self.rest_bytes = None
        if self.rest < self.pmax:
            self.rest_bytes = dcqcn.KMIN + self.rest / self.pmax * (dcqcn.KMAX - dcqcn.KMIN)

    def row(self):
        queue = self.queue_bytes
        return (self.scheme, self.pmax * 100, self.flows, self.goodput / 1e9, self.share, self.jain, self.least,
                100 * self.p, 100 * self.rest, mean(queue) / 1e3, quantile(queue, 0.05) / 1e3,
                quantile(queue, 0.95) / 1e3, self.rest_bytes / 1e3 if self.rest_bytes else "-", self.drops)


def report(run):
    some = {scheme: [Case(run, scheme, *case) for case in cases(run.params)] for scheme in run.schemes}
    run.text("Queue in KB; min share: the smallest share of a flow, 1 if shares are equal; p* and q* of the model", "")
    run.table(("rate", "pmax %", "flows", "Gbit/s", "of max", "Jain", "min share", "marked %", "p* %", "queue: mean",
               "p5",
               "p95", "q*", "drops"), [c.row() for found in some.values() for c in found])
    run.claim("drops", "number of dropped packets", sum(c.drops for found in some.values() for c in found), "== 0")
    if run.small:
        return
    for scheme, found in some.items():
        for pmax in run.params.pmax:
            claim(run, "%s-%d" % (scheme, pmax), "%s, pmax %d %%" % (scheme, pmax),
                  [c for c in found if c.pmax == pmax / 100])
    if set(SCHEMES) == set(run.schemes):
        draw(run, some)


def claim(run, ident, text, some):
    run.claim("share-" + ident, text + ": smallest utilization of the link", min(c.share for c in some),
              ">= 0.975")
    run.claim("jain-" + ident, text + ": smallest Jain's index", min(c.jain for c in some), ">= 0.95")
    run.claim("least-" + ident, text + ": smallest share of a flow, relative to an equal share",
              min(c.least for c in some),
              ">= 0.5")
    resting = [c for c in some if c.rest_bytes]
    run.claim("rest-" + ident, text + ": smallest utilization of the link with p* < pmax",
              min(c.share for c in resting),
              ">= 0.975")
    for c in resting:
        run.claim("queue-%s-%d" % (ident, c.flows), "%s, %d flows: mean queue over q*" % (text, c.flows),
                  mean(c.queue_bytes) / c.rest_bytes, "0.5..2")


def draw(run, some):
    _, axes = run.figure("dcqcn-fair", len(run.params.pmax), 3, (13.2, 3.2 * len(run.params.pmax)))
    for line, pmax in zip(axes, run.params.pmax):
        for scheme, found in some.items():
            cs, colour = [c for c in found if c.pmax == pmax / 100], run.colour(scheme)
            flows = [c.flows for c in cs]
            line[0].plot(flows, [c.share for c in cs], "o-", color=colour, label=scheme.replace("gbit", " Gbit/s"))
            line[1].plot(flows, [c.jain for c in cs], "o-", color=colour)
            line[1].plot(flows, [c.least for c in cs], "^:", color=colour)
            line[2].plot(flows, [mean(c.queue_bytes) / 1e3 for c in cs], "o-", color=colour)
            line[2].plot(*zip(*[(c.flows, c.rest_bytes / 1e3) for c in cs if c.rest_bytes]), "x--", color=colour)
        line[0].axhline(0.975, color="#666666", linewidth=0.8, linestyle=":")
        line[2].axhline(dcqcn.KMAX / 1e3, color="#666666", linewidth=0.8, linestyle=":")
        line[0].set(ylabel="goodput, relative to the maximum", ylim=(0.8, 1.02), title="Throughput, pmax %d %%" % pmax)
        line[1].set(ylabel="Jain's index (dotted: smallest share)", ylim=(0, 1.05), title="Shares")
        line[2].set(ylabel="mean queue, KB", yscale="log", ylim=(TICKS_KB[0] / 2, TICKS_KB[-1]),
                    title="Queue (x: fluid model)")
        line[2].set_yticks(TICKS_KB, TICKS_KB)
        line[2].minorticks_off()
        line[2].legend(*line[0].get_legend_handles_labels(), loc="center left", bbox_to_anchor=(1.02, 0.5))
        for axis in line:
            axis.set(xscale="log", xlabel="flows")
            axis.set_xticks(run.params.flows, [str(n) for n in run.params.flows])
            axis.set_xticks([], minor=True)

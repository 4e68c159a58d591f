# SPDX-License-Identifier: GPL-2.0-only
"""Known properties of DCTCP in the lab: queue, throughput and fairness of its flows, beside cubic and bbr.

The paper: M. Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010: figures 1 and 13 (queue), 12 (its analysis), 14
(throughput and the threshold K).

Hosts at one switch send one flow each to the same host. Schemes:

    dctcp, cubic, bbr   one case for each number of `flows`; the port marks above K packets (dctcp), or is a drop-tail
                        FIFO; bbr's hosts have fq
    threshold           `sweep_flows` dctcp flows, for each K of `sweep`
    analysis            dctcp for each number of `analysis_flows`, on hosts without TSO, because the paper's analysis
                        assumes packets without bursts
"""
import math

from closlab import topo
from closlab.params import Param
from closlab.results import COLOURS, jain, mean, quantile

PARAMS = [
    Param("rate", "rate", "10gbit", "rate of all links"),
    Param("delay", "time", "24us", "delay of each link; an RTT has four"),
    Param("flows", "count", "2,8,16,24,40", "numbers of flows, a case each", several=True, held_out=("2", "64")),
    Param("k", "count", "65", "marking threshold of the port, packets"),
    Param("buffer", "size", "700k", "buffer of the port"),
    Param("warmup", "time", "100ms", "time before the measurement"),
    Param("time", "time", "200ms", "duration of the measurement"),
    Param("jitter", "time", "10ms", "interval in which the flows start"),
    Param("every", "time", "20us", "interval between queue samples"),
    Param("sweep", "count", "2,5,10,20,40,65,100", "thresholds of the scheme threshold", several=True),
    Param("sweep_flows", "count", "2", "flows of the scheme threshold"),
    Param("analysis_k", "count", "40", "threshold of the scheme analysis"),
    Param("analysis_flows", "count", "2,10,40", "numbers of flows of the scheme analysis", several=True),
]
SMALL = {"rate": "1gbit", "k": "20", "flows": "2", "warmup": "10ms", "time": "10ms", "jitter": "1ms", "every": "100us",
         "sweep": "20", "analysis_flows": "2"}
SCHEMES = ("dctcp", "cubic", "bbr", "threshold", "analysis")

FRAME = 1514
WIRE = FRAME + 24
DATA = 1448
ACK_WIRE = 14 + 52 + 24
SERIES = 10     # flow samples in the warm-up and in the measurement


def cases(params, scheme):
    """Return: [(name, flows, K)] of a scheme."""
    if scheme == "analysis":
        return [("n%d" % n, n, params.analysis_k) for n in params.analysis_flows]
    if scheme == "threshold":
        return [("k%d" % k, params.sweep_flows, k) for k in params.sweep]
    return [("n%d" % n, n, params.k) for n in params.flows]


# ---- in the guest

def port_qdisc(scheme, params, k):
    """Return: the port's qdisc.

    To mark as in the paper, red has nearly equal thresholds and a short memory: burst == min/avpkt gives W = 1/2, so
    that each arrival halves the weight of the past.
    """
    if scheme in ("cubic", "bbr"):
        return "bfifo limit %d" % params.buffer
    return "red limit %d min %d max %d avpkt %d burst %d bandwidth %dbit probability 1 ecn" % (
        params.buffer, k * FRAME, k * FRAME + 1, FRAME, k, params.rate)


def guest(lab):
    p = lab.params
    todo = cases(p, lab.scheme)
    net = topo.star(max(flows for _, flows, _ in todo) + 1, p.rate, p.delay)
    net.build(host_qdisc="fq" if lab.scheme == "bbr" else None)
    # a ring of two frames, so that packets queue in the qdisc
    topo.run("ip", "-n", "switch", "link", "set", "h1", "type", "closwire", "ring", "2")
    if lab.scheme == "analysis":
        for host in net.hosts():
            topo.run("ip", "-n", host.name, "link", "set", "eth0", "gso_max_segs", "1")
    every = math.gcd(p.warmup, p.time) // SERIES
    lab.expect(len(todo) * (p.warmup + p.time))
    cc = lab.scheme if lab.scheme in ("cubic", "bbr") else "dctcp"
    for name, flows, k in todo:
        topo.run("tc", "-n", "switch", "qdisc", "add", "dev", "h1", "root", *port_qdisc(lab.scheme, p, k).split())
        lab.sample("queue-%s.csv" % name, p.every, [net.nodes["switch"].port("h1")])
        lab.traffic(net, "--time", "%dns" % (p.warmup + p.time), "--drain", "1ms",
                    "--series", lab.path("series-%s.csv" % name), "--every", "%dns" % every,
                    "bulk", "src=h2-h%d" % (flows + 1), "dst=h1", "cc=" + cc, "jitter=%dns" % p.jitter)
        topo.run("tc", "-n", "switch", "qdisc", "del", "dev", "h1", "root")


# ---- on the host

class Case:
    """Results of one case: queue in packets, goodput in bit/s."""

    def __init__(self, run, scheme, name, flows, k):
        p = run.params
        self.scheme, self.flows, self.k = scheme, flows, k
        samples = run.csv(scheme, "queue-%s.csv" % name).rows()
        before = [s for s in samples if s["time_ns"] <= p.warmup][-1]
        samples = [s for s in samples if p.warmup < s["time_ns"] <= p.warmup + p.time]
        self.times_ms = [(s["time_ns"] - p.warmup) / 1e6 for s in samples]
        self.queue = [s["bytes"] / FRAME for s in samples]
        self.drops = samples[-1]["drops"] - before["drops"]
        self.mean = mean(self.queue)
        series = run.csv(scheme, "series-%s.csv" % name)
        first, last = min(t for t in series["time_ns"] if t >= p.warmup), max(series["time_ns"])
        start, end = ({row["flow"]: row["received_bytes"] for row in series.where(time_ns=at).rows()}
                      for at in (first, last))
        self.goodputs = [(end[flow] - start[flow]) * 8e9 / (last - first) for flow in sorted(end)]
        self.goodput = sum(self.goodputs)
        self.share = self.goodput / (p.rate * DATA / WIRE)
        self.jain = jain(self.goodputs)

    def quantile(self, q):
        return quantile(self.queue, q)


def bdp(params):
    """Return: C x RTT, packets that the links hold without a queue."""
    rtt_ns = 4 * params.delay + 2 * (WIRE + ACK_WIRE) * 8e9 / params.rate
    return params.rate * rtt_ns / (WIRE * 8e9)


def analysis(params, case):
    """Return: (lowest, highest) queue of N synchronized flows, packets, by section 3.3 of the paper."""
    top = case.k + case.flows
    return top - math.sqrt(2 * case.flows * (bdp(params) + case.k)) / 2, top


def report(run):
    all_cases = {scheme: [Case(run, scheme, *case) for case in cases(run.params, scheme)] for scheme in run.schemes}
    run.text("C x RTT is %.1f packets, the buffer %.1f. Queue in packets of %d bytes" % (
        bdp(run.params), run.params.buffer / FRAME, FRAME), "")
    run.table(("scheme", "flows", "K", "Gbit/s", "of max", "Jain", "queue: mean", "p5", "p50", "p95", "max", "drops"),
              [(c.scheme, c.flows, c.k if marks(c) else "-", c.goodput / 1e9, c.share, c.jain, c.mean, c.quantile(0.05),
                c.quantile(0.5), c.quantile(0.95), max(c.queue), c.drops) for some in all_cases.values() for c in some])
    if "dctcp" in run.schemes:
        claim_dctcp(run, all_cases["dctcp"])
    if {"dctcp", "cubic"} <= set(run.schemes):
        claim_cubic(run, all_cases["dctcp"], all_cases["cubic"])
    if "analysis" in run.schemes:
        report_analysis(run, all_cases["analysis"])
    if "threshold" in run.schemes and not run.small:
        claim_threshold(run, all_cases["threshold"])
    if set(SCHEMES) == set(run.schemes):
        draw(run, all_cases)


def marks(case):
    return case.scheme not in ("cubic", "bbr")


def claim_dctcp(run, some):
    run.claim("dctcp-goodput", "smallest share of the maximum goodput",
              min(c.share for c in some), ">= 0.99")
    run.claim("dctcp-drops", "number of dropped packets", sum(c.drops for c in some), "== 0")
    run.claim("dctcp-jain", "smallest Jain's index", min(c.jain for c in some), ">= 0.9")
    for c in some:
        run.claim("dctcp-queue-%d" % c.flows, "%d flows: mean queue over K" % c.flows, c.mean / c.k, "0.75..1.25")
        run.claim("dctcp-top-%d" % c.flows, "%d flows: 95th percentile of the queue over K + N" %
                  c.flows, c.quantile(0.95) / (c.k + c.flows), "0.85..1.15")


def claim_cubic(run, dctcp, cubic):
    run.claim("cubic-queue", "smallest ratio of cubic's mean queue to dctcp's",
              min(b.mean / a.mean for a, b in zip(dctcp, cubic)), ">= 5")
    run.claim("cubic-goodput", "smallest ratio of dctcp's goodput to cubic's", min(
        a.goodput / b.goodput for a, b in zip(dctcp, cubic)), ">= 0.98")
    if not run.small:
        run.claim("cubic-buffer", "smallest share of the buffer that cubic's queue reaches",
                  min(max(c.queue) for c in cubic) * FRAME / run.params.buffer, ">= 0.95")


def report_analysis(run, some):
    run.text("The paper's analysis, and the lab without bursts (no TSO):", "")
    run.table(("flows", "K", "analysis: min", "max", "measured: p5", "mean", "p95", "max"),
              [(c.flows, c.k) + tuple("%.1f" % q for q in analysis(run.params, c) + (
                  c.quantile(0.05), c.mean, c.quantile(0.95), max(c.queue))) for c in some])
    for c in some:
        run.claim("analysis-%d" % c.flows, "%d flows without TSO: mean queue, in the range of the analysis" % c.flows,
                  c.mean, "%.1f..%.1f" % analysis(run.params, c))


def claim_threshold(run, some):
    if some[0].k < bdp(run.params) / 7:
        run.claim("threshold-low", "share of the maximum goodput with K = %d, far below C x RTT / 7" %
                  some[0].k,
                  some[0].share, "<= 0.9")
    enough = [c.share for c in some if c.k >= run.params.k]
    run.claim("threshold-enough", "smallest share of the maximum goodput with K >= %d" % run.params.k, min(enough),
              ">= 0.99")


def draw(run, all_cases):
    _, axes = run.figure("dctcp-known", 2, 2, size=(10, 7))
    draw_time(axes[0][0], run, all_cases)
    run.of_one_run.append(axes[0][0])
    draw_cdf(axes[0][1], run, all_cases)
    draw_analysis(axes[1][0], run, all_cases)
    draw_threshold(axes[1][1], run, all_cases["threshold"])


def draw_time(axes, run, all_cases):
    for scheme in ("cubic", "bbr", "dctcp"):
        c = all_cases[scheme][0]
        step = max(1, len(c.queue) // 600)
        axes.plot(c.times_ms[::step], c.queue[::step], color=run.colour(scheme), linewidth=1, label=scheme)
    axes.set_xlabel("time, ms")
    axes.set_ylabel("queue, packets")
    axes.set_ylim(0, 1.25 * run.params.buffer / FRAME)
    axes.set_title("Queue over time, %d flows" % c.flows)
    axes.legend(ncols=3, loc="upper center")


def draw_cdf(axes, run, all_cases):
    shares = [i / 200 for i in range(201)]
    for scheme in ("dctcp", "bbr", "cubic"):
        for c, style in ((all_cases[scheme][0], "-"), (all_cases[scheme][-1], "--")):
            axes.plot([c.quantile(q) for q in shares], shares, style, color=run.colour(scheme),
                      label="%s, %d flows" % (scheme, c.flows))
    axes.axvline(run.params.k, color="#666666", linewidth=0.8)
    axes.text(run.params.k, 1.06, "K", ha="center")
    axes.set_xlabel("queue, packets")
    axes.set_ylabel("cumulative share of samples")
    axes.set_title("Distribution of the queue", pad=14)
    axes.legend(loc="center", bbox_to_anchor=(0.49, 0.7))


def draw_analysis(axes, run, all_cases):
    some = all_cases["analysis"] + all_cases["dctcp"]
    for x, c in enumerate(some):
        low, high = analysis(run.params, c)
        colour = run.colour(c.scheme)
        axes.fill_between((x - 0.35, x + 0.35), low, high, color="#cccccc", linewidth=0,
                          label="analysis, min to max" if not x else None)
        axes.plot([x, x], [c.quantile(0.05), c.quantile(0.95)], color=colour)
        axes.plot(x, c.mean, "o", color=colour, label={
            0: "K = %d, no TSO: mean, p5 to p95" % c.k, len(all_cases["analysis"]): "K = %d, TSO" % c.k}.get(x))
    axes.set_xticks(range(len(some)), [c.flows for c in some])
    axes.set_xlim(-0.6, len(some) - 0.4)
    axes.set_ylim(0, 1.6 * max(c.quantile(0.95) for c in some))
    axes.set_xlabel("dctcp flows")
    axes.set_ylabel("queue, packets")
    axes.set_title("Queue and the paper's analysis")
    axes.legend(loc="upper left")


def draw_threshold(axes, run, some):
    axes.plot([c.k for c in some], [c.goodput / 1e9 for c in some], "o-", color=run.colour("threshold"),
              label="%d dctcp flows" % some[0].flows)
    maximum = run.params.rate * DATA / WIRE / 1e9
    axes.axhline(maximum, color="#666666", linewidth=0.8, linestyle="--", label="maximum")
    axes.axvline(bdp(run.params) / 7, color=COLOURS[1], linewidth=0.8, linestyle=":", label="C x RTT / 7")
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    axes.set_xlabel("K, packets")
    axes.set_ylabel("goodput, Gbit/s")
    axes.set_title("Throughput and the threshold")
    axes.legend(loc="lower right")

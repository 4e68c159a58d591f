# SPDX-License-Identifier: GPL-2.0-only
"""40 flows to one host over PFC: without congestion control, and with TIMELY, DCQCN and DCTCP over the same buffer.

The incast of timely-incast, over a lossless switch. R. Mittal et al., "TIMELY",
SIGCOMM 2015: the RTT's 99th percentile is 9 times below that with priority flow
control alone.

    none        tcp_dcqcn, and the port does not mark: flows stay at line rate, and
                only PFC holds them
    timely      tcp_timely, mode patched, beta 0.05; or mode classic, its default
    dcqcn       tcp_dcqcn, the port marks by the paper's line
    dctcp       the port marks above a queue of `k` bytes

Two thresholds of PFC for each: `static`, each input's equal share of the
buffer, and `dynamic`, beta = 8 times what is free.

RTT is as in timely-incast: the path's own and what the queue at the port takes to
drain. PFC makes packets wait in the hosts, too, which is not in it; what TCP has
smoothed (tcp_info) has that.
"""
import math

from closlab import dcqcn, topo
from closlab.params import Param
from closlab.results import mean, quantile
from closlab.tcp import SERIES, WIRE, Module, Window

PARAMS = [
    Param("rate", "rate", "10gbit", "of all links"),
    Param("delay", "time", "4us", "of each link; four of them are the RTT"),
    Param("hosts", "count", "10", "that send"),
    Param("flows", "count", "40", "of them all"),
    Param("k", "size", "80k", "dctcp's threshold"),
    Param("beta", "number", "0.05", "of timely's mode patched"),
    Param("jitter", "time", "10ms", "the flows start within"),
    Param("warmup", "time", "250ms", "before the measurement"),
    Param("time", "time", "100ms", "of the measurement"),
    Param("every", "time", "20us", "between two samples of the queue"),
]
SMALL = {"hosts": "2", "flows": "4", "warmup": "4ms", "time": "4ms", "jitter": "500us", "every": "100us"}
SCHEMES = ("none", "classic", "patched", "dcqcn", "dctcp")
TIMELY = ("classic", "patched")
THRESHOLDS = {"static": "xoff auto", "dynamic": "xoff dynamic beta 8"}
ACK_WIRE = 14 + 52 + 24


# ---- in the guest

def guest(lab):
    p = lab.params
    dcqcn.load(lab)
    words = {"dcqcn": dcqcn.marking(), "dctcp": dcqcn.marking(p.k, p.k)}.get(
        lab.scheme, dcqcn.marking(dcqcn.NEVER, dcqcn.NEVER))
    net = topo.star(p.hosts + 1, p.rate, p.delay)
    dcqcn.switch_qdiscs(net, words)
    net.build(rx_stamps=lab.scheme in TIMELY)
    if lab.scheme in TIMELY:
        Module(lab, "tcp_timely").set(mode=lab.scheme, **({"beta": p.beta} if lab.scheme == "patched" else {}))
    lab.expect(len(THRESHOLDS) * (p.warmup + p.time))
    for name, xoff in THRESHOLDS.items():
        topo.run("tc", "-n", "switch", "qdisc", "change", "dev", "h1", "root", "dcqcn", "pool", "switch", *xoff.split())
        measure(lab, net, name)
        dcqcn.drain()


def measure(lab, net, name):
    p = lab.params
    cc = {"none": "dcqcn", "classic": "timely", "patched": "timely"}.get(lab.scheme, lab.scheme)
    every = math.gcd(p.warmup, p.time) // SERIES
    lab.sample("queue-%s.csv" % name, p.every, [net.nodes["switch"].port("h1")], p.warmup)
    # XOFF leaves by the senders' ports
    lab.sample("inputs-%s.csv" % name, p.time, [net.nodes["switch"].port("h%d" % (i + 2)) for i in range(p.hosts)],
               p.warmup)
    lab.traffic(net, "--time", "%dns" % (p.warmup + p.time), "--drain", "1ms",
                "--series", lab.path("series-%s.csv" % name), "--every", "%dns" % every,
                "bulk", "src=h2-h%d" % (p.hosts + 1), "dst=h1", "flows=%d" % p.flows, "jitter=%dns" % p.jitter,
                "connect=before", "cc=" + cc)


# ---- on the host

def base_us(params):
    """The path's RTT without a queue: of a full frame, and its acknowledgement."""
    return (4 * params.delay + 2 * (WIRE + ACK_WIRE) * 8e9 / params.rate) / 1e3


class Case(Window):
    """With a threshold; RTTs in us, srtts: what TCP had smoothed."""

    def __init__(self, run, scheme, name):
        p = run.params
        begin, end = p.warmup, p.warmup + p.time
        super().__init__(run, scheme, name, p.rate, begin, end)
        self.scheme, self.name, self.goodput = scheme, name, sum(self.goodputs)
        self.rtts = [base_us(p) + us for us in self.queue_us]
        self.p99 = quantile(self.rtts, 0.99)
        series = run.csv(scheme, "series-%s.csv" % name)
        self.srtts = [us for at, us in zip(series["time_ns"], series["srtt_us"]) if begin < at <= end]
        inputs = run.csv(scheme, "inputs-%s.csv" % name)
        self.pauses = sum(inputs.where(time_ns=end)["pauses"]) - sum(inputs.where(time_ns=begin)["pauses"])

    def row(self):
        return (self.scheme, self.name, self.goodput / 1e9, self.share, self.jain, mean(self.rtts),
                quantile(self.rtts, 0.5), self.p99, max(self.rtts), mean(self.srtts), quantile(self.srtts, 0.99),
                self.marks, self.pauses, self.drops)


def report(run):
    some = {scheme: {name: Case(run, scheme, name) for name in THRESHOLDS} for scheme in run.schemes}
    run.text("RTT in us; the path's is %.1f" % base_us(run.params), "")
    run.table(("scheme", "t_PFC", "Gbit/s", "of most", "Jain", "RTT: mean", "p50", "p99", "max", "TCP's srtt: mean", "p99",
               "marks", "pauses", "drops"), [c.row() for found in some.values() for c in found.values()])
    run.claim("drops", "packets dropped", sum(c.drops for found in some.values() for c in found.values()), "== 0")
    if not run.small and set(SCHEMES) == set(run.schemes):
        claim(run, some)
        draw(run, some)


def claim(run, some):
    none = some["none"]
    run.claim("none-pauses", "no congestion control: pause frames, the lesser of the thresholds",
              min(c.pauses for c in none.values()), "> 0")
    for scheme in SCHEMES[1:]:
        for name, c in some[scheme].items():
            run.claim("p99-%s-%s" % (scheme, name), "%s: RTT's p99 without congestion control over that of %s" % (
                name, scheme), none[name].p99 / c.p99, ">= 9")
            run.claim("srtt-%s-%s" % (scheme, name), "%s: the same of TCP's own RTT" % name,
                      quantile(none[name].srtts, 0.99) / quantile(c.srtts, 0.99), ">= 9")
        run.claim("goodput-" + scheme, "%s: goodput over that without congestion control, the worse" % scheme,
                  min(c.goodput / none[name].goodput for name, c in some[scheme].items()), ">= 0.99")
    run.claim("dcqcn-jain", "dcqcn: Jain's index of the flows, the worse", min(c.jain for c in some["dcqcn"].values()),
              ">= 0.95")
    run.claim("dcqcn-pauses", "dcqcn: pause frames", sum(c.pauses for c in some["dcqcn"].values()), "== 0")


def draw(run, some):
    _, axes = run.figure("dcqcn-incast", 1, 2, (10, 3.6))
    shares = [i / 200 for i in range(201)]
    for x, (scheme, found) in enumerate(some.items()):
        for c, style in zip(found.values(), ("-", ":")):
            axes[0].plot([quantile(c.rtts, q) for q in shares], shares, style, color=run.colour(scheme),
                         label=scheme if style == "-" else None)
        axes[1].bar([x - 0.2, x + 0.2], [c.p99 for c in found.values()], 0.38, color=run.colour(scheme),
                    hatch=["", "//"], edgecolor="white")
    axes[0].set(xscale="log", xlabel="RTT, us (dotted: dynamic threshold)", ylabel="samples with at most that",
                title="Distribution of the RTT, %d flows" % run.params.flows)
    axes[0].legend(loc="lower right")
    axes[1].set(yscale="log", ylim=(10, None), ylabel="RTT's p99, us", title="RTT's p99 (hatched: dynamic threshold)")
    axes[1].set_xticks(range(len(some)), list(some))

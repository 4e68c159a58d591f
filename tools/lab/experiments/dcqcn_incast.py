# SPDX-License-Identifier: GPL-2.0-only
"""40 flows to one host over PFC: without congestion control, and with TIMELY, DCQCN and DCTCP over the same buffer.

The incast of timely-incast over a lossless switch. R. Mittal et al., "TIMELY", SIGCOMM 2015: the RTT's 99th percentile
is 9 times lower than with priority flow control alone.

    none        tcp_dcqcn, and the port does not mark: flows stay at line rate, and only PFC limits them
    timely      tcp_timely: mode patched with beta 0.05, or mode classic, its default
    dcqcn       tcp_dcqcn; the port marks by the paper's curve
    dctcp       the port marks above a queue of `k` bytes

Each scheme runs with two PFC thresholds: `static`, an equal share of the buffer for each input, and `dynamic`,
beta = 8 times the free memory.

The RTT is computed as in timely-incast: the path's RTT plus the time to drain the queue at the port. It excludes the
time that packets wait in paused hosts, which TCP's smoothed RTT (tcp_info) includes.
"""
import math

from closlab import dcqcn, topo
from closlab.params import Param
from closlab.results import mean, quantile
from closlab.tcp import SERIES, WIRE, Module, Window

PARAMS = [
    Param("rate", "rate", "10gbit", "rate of all links"),
    Param("delay", "time", "4us", "delay of each link; an RTT has four"),
    Param("hosts", "count", "10", "number of senders"),
    Param("flows", "count", "40", "flows of all hosts together"),
    Param("k", "size", "80k", "dctcp's marking threshold"),
    Param("beta", "number", "0.05", "beta of timely's mode patched"),
    Param("jitter", "time", "10ms", "interval in which the flows start"),
    Param("warmup", "time", "250ms", "time before the measurement"),
    Param("time", "time", "100ms", "duration of the measurement"),
    Param("every", "time", "20us", "interval between queue samples"),
]
SMALL = {"hosts": "2", "flows": "4", "warmup": "4ms", "time": "4ms", "jitter": "500us", "every": "100us"}
SCHEMES = ("none", "classic", "patched", "dcqcn", "dctcp")
TIMELY = ("classic", "patched")
THRESHOLDS = {"static": "xoff auto", "dynamic": "xoff dynamic beta 8"}
ACK_WIRE = 14 + 52 + 24
TICKS_US = (20, 50, 100, 200, 500, 1000, 2000)


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
    # XOFF frames are sent by the ports to the senders
    lab.sample("inputs-%s.csv" % name, p.time, [net.nodes["switch"].port("h%d" % (i + 2)) for i in range(p.hosts)],
               p.warmup)
    lab.traffic(net, "--time", "%dns" % (p.warmup + p.time), "--drain", "1ms",
                "--series", lab.path("series-%s.csv" % name), "--every", "%dns" % every,
                "bulk", "src=h2-h%d" % (p.hosts + 1), "dst=h1", "flows=%d" % p.flows, "jitter=%dns" % p.jitter,
                "connect=before", "cc=" + cc)


# ---- on the host

def base_us(params):
    """Return: RTT of a full frame and its ACK without a queue, µs."""
    return (4 * params.delay + 2 * (WIRE + ACK_WIRE) * 8e9 / params.rate) / 1e3


class Case(Window):
    """Results with one threshold; RTTs in µs, srtts: TCP's smoothed RTTs."""

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
    run.text("RTT in µs; the path's is %.1f" % base_us(run.params), "")
    run.table(("scheme", "t_PFC", "Gbit/s", "of max", "Jain", "RTT: mean", "p50", "p99", "max", "TCP's srtt: mean",
               "p99",
               "marks", "pauses", "drops"), [c.row() for found in some.values() for c in found.values()])
    run.claim("drops", "number of dropped packets", sum(c.drops for found in some.values() for c in found.values()),
              "== 0")
    if not run.small and set(SCHEMES) == set(run.schemes):
        claim(run, some)
        draw(run, some)


def claim(run, some):
    none = some["none"]
    run.claim("none-pauses", "no congestion control: fewest pause frames of both thresholds",
              min(c.pauses for c in none.values()), "> 0")
    for scheme in SCHEMES[1:]:
        for name, c in some[scheme].items():
            run.claim("p99-%s-%s" % (scheme, name), "%s: RTT's p99 without congestion control over %s's" % (
                name, scheme), none[name].p99 / c.p99, ">= 9")
            run.claim("srtt-%s-%s" % (scheme, name), "%s: p99 of TCP's RTT without congestion control over %s's" % (
                name, scheme),
                      quantile(none[name].srtts, 0.99) / quantile(c.srtts, 0.99), ">= 9")
        run.claim("goodput-" + scheme, "%s: smallest goodput over goodput without congestion control" % scheme,
                  min(c.goodput / none[name].goodput for name, c in some[scheme].items()), ">= 0.99")
    run.claim("dcqcn-jain", "dcqcn: smallest Jain's index", min(c.jain for c in some["dcqcn"].values()),
              ">= 0.95")
    run.claim("dcqcn-pauses", "dcqcn: number of pause frames", sum(c.pauses for c in some["dcqcn"].values()), "== 0")


def draw(run, some):
    _, axes = run.figure("dcqcn-incast", 1, 2, (11, 3.6))
    shares = [i / 200 for i in range(201)]
    for x, (scheme, found) in enumerate(some.items()):
        for c, style in zip(found.values(), ("-", ":")):
            axes[0].plot([quantile(c.rtts, q) for q in shares], shares, style, color=run.colour(scheme),
                         label=scheme if style == "-" else None)
        axes[1].bar([x - 0.2, x + 0.2], [c.p99 for c in found.values()], 0.38, color=run.colour(scheme),
                    hatch=["", "//"], edgecolor="white")
    axes[0].set(xscale="log", xlabel="RTT, µs (dotted: dynamic threshold)", ylabel="cumulative share of samples",
                title="Distribution of the RTT, %d flows" % run.params.flows)
    axes[0].set_xticks(TICKS_US, TICKS_US)
    axes[0].minorticks_off()
    axes[1].set(yscale="log", ylim=(10, 3000), ylabel="RTT's p99, µs", title="RTT's p99 (hatched: dynamic threshold)")
    axes[1].set_yticks(TICKS_US, TICKS_US)
    axes[1].minorticks_off()
    axes[1].set_xticks(range(len(some)), list(some))
    axes[1].legend(*axes[0].get_legend_handles_labels(), loc="center left", bbox_to_anchor=(1.02, 0.5))

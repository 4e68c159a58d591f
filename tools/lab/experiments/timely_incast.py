# SPDX-License-Identifier: GPL-2.0-only
"""TIMELY's main result: 40 flows to one host. Throughput, RTT and fairness beside dctcp, cubic and bbr.

The paper: R. Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015: 10 clients with 4
connections each to one server in one rack, segments of 16 KB. It reports that TIMELY's RTT at the 99th percentile is 9
times lower than with priority flow control alone, and 13 times lower than the kernel's DCTCP, with a throughput within
1 %.

Each scheme runs with two buffers: `lossy` and `deep`. The deep one drops no packet and represents a lossless fabric:
outstanding data waits as long in one FIFO as in several that pause each other.

    classic, patched    tcp_timely with hardware timestamps and segments of each `seg_kb`; classic with each `alpha`,
                        patched with each `beta`
    dctcp               the port marks above a queue of each `k` bytes
    cubic, bbr          bbr's hosts have fq

The RTT is measured alike for all schemes, outside the hosts: the path's RTT plus the time to drain the queue at the
switch's port, sampled every `every`. While the port is never idle, the mean of these samples equals the packets' mean
by Little's law. The sender's own values are reported beside it: TCP's smoothed RTT (tcp_info) and TIMELY's samples.
"""
import math

from closlab import topo
from closlab.params import Param
from closlab.results import mean, quantile
from closlab.tcp import DATA, FRAME, SERIES, WIRE, Module, Window

PARAMS = [
    Param("rate", "rate", "10gbit", "rate of all links"),
    Param("delay", "time", "4us", "delay of each link; an RTT has four"),
    Param("hosts", "count", "10", "number of senders"),
    Param("flows", "count", "40", "flows of all hosts together"),
    Param("lossy", "size", "512k", "buffer of the port that may drop packets"),
    Param("deep", "size", "1G", "buffer of the port that drops no packet"),
    Param("seg_kb", "count", "16,64", "timely's segment sizes, KB, a case each", several=True),
    Param("alpha", "number", "0.05,0.02,0.875", "classic's weights of a new RTT difference, a case each: "
          "tcp_timely's default, the authors' code, CoNEXT 2016", several=True),
    Param("beta", "number", "0.008,0.05", "patched's beta, a case each: CoNEXT 2016, one for a shorter queue",
          several=True),
    Param("qdisc", "word", "pfifo_fast", "qdisc of timely's hosts", choices=("pfifo_fast", "fq")),
    Param("k", "size", "98410,80k", "dctcp's marking thresholds, a case each: 65 packets, the paper's", several=True),
    Param("warmup", "time", "400ms",
          "time before the measurement, in which nicclock learns the NICs' clocks and rates settle"),
    Param("time", "time", "200ms", "duration of the measurement"),
    Param("jitter", "time", "10ms", "interval in which the flows start"),
    Param("every", "time", "20us", "interval between queue samples"),
]
SMALL = {"hosts": "2", "flows": "4", "seg_kb": "16", "alpha": "0.05", "beta": "0.008", "k": "80k", "warmup": "4ms",
         "time": "4ms", "jitter": "500us", "every": "100us"}
SCHEMES = ("classic", "patched", "dctcp", "cubic", "bbr")
TIMELY = ("classic", "patched")

ACK_WIRE = 14 + 52 + 24
SHOWN = 500     # RTT samples that are drawn
TICKS_US = (10, 100, 1000, 10000)


def cases(params, scheme):
    """Return: [(name, buffer size, settings)] of a scheme."""
    some = {"classic": [{"seg_kb": seg, "alpha": alpha} for seg in params.seg_kb for alpha in params.alpha],
            "patched": [{"seg_kb": seg, "beta": beta} for seg in params.seg_kb for beta in params.beta],
            "dctcp": [{"k": k} for k in params.k]}.get(scheme, [{}])
    return [("-".join([name] + ["%s%g" % pair for pair in values.items()]), size, values)
            for name, size in (("lossy", params.lossy), ("deep", params.deep)) for values in some]


# ---- in the guest

def port_qdisc(params, size, k=None, **_):
    """Return: the port's qdisc; one that marks is as in dctcp_known.py."""
    if k is None:
        return "bfifo limit %d" % size
    return "red limit %d min %d max %d avpkt %d burst %d bandwidth %dbit probability 1 ecn" % (
        size, k, k + 1, FRAME, math.ceil(k / FRAME), params.rate)


def guest(lab):
    p = lab.params
    net = topo.star(p.hosts + 1, p.rate, p.delay)
    net.build(host_qdisc={"bbr": "fq", "classic": p.qdisc, "patched": p.qdisc}.get(lab.scheme), rx_stamps=True)
    # a ring of two frames, so that packets queue in the qdisc
    topo.run("ip", "-n", "switch", "link", "set", "h1", "type", "closwire", "ring", "2")
    timely = Module(lab, "tcp_timely") if lab.scheme in TIMELY else None
    todo = cases(p, lab.scheme)
    lab.expect(len(todo) * (p.warmup + p.time))
    for name, size, values in todo:
        topo.run("tc", "-n", "switch", "qdisc", "add", "dev", "h1", "root", *port_qdisc(p, size, **values).split())
        if timely:
            timely.set(mode=lab.scheme, **values)
            lab.trace("samples-%s.csv" % name, "timely:timely_sample")
        measure(lab, net, name)
        topo.run("tc", "-n", "switch", "qdisc", "del", "dev", "h1", "root")


def measure(lab, net, name):
    p = lab.params
    lab.sample("queue-%s.csv" % name, p.every, [net.nodes["switch"].port("h1")], p.warmup)
    every = math.gcd(p.warmup, p.time) // SERIES
    lab.traffic(net, "--time", "%dns" % (p.warmup + p.time), "--drain", "0ns",
                "--series", lab.path("series-%s.csv" % name), "--every", "%dns" % every,
                "bulk", "src=h2-h%d" % (p.hosts + 1), "dst=h1", "flows=%d" % p.flows, "jitter=%dns" % p.jitter,
                "connect=before", "cc=" + ("timely" if lab.scheme in TIMELY else lab.scheme))


# ---- on the host

def base_us(params):
    """Return: RTT of a full frame and its ACK without a queue, µs."""
    return (4 * params.delay + 2 * (WIRE + ACK_WIRE) * 8e9 / params.rate) / 1e3


class Case:
    """Results of one case; RTTs in µs.

    own     timely's samples in the measurement; None for other schemes
    by_nic  share of these samples with the NIC's timestamps
    srtt    mean of TCP's smoothed RTT
    """

    def __init__(self, run, scheme, name, size, values):
        p = run.params
        begin, end = p.warmup, p.warmup + p.time
        self.scheme, self.name, self.size, self.values = scheme, name, size, values
        self.window = Window(run, scheme, name, p.rate, begin, end)
        self.goodput = sum(self.window.goodputs)
        self.rtts = [base_us(p) + us for us in self.window.queue_us]
        self.times_ms = [i * p.every / 1e6 for i in range(len(self.rtts))]
        self.p99 = self.rtt(0.99)
        series = run.csv(scheme, "series-%s.csv" % name)
        self.srtt = mean([us for at, us in zip(series["time_ns"], series["srtt_us"]) if begin < at <= end])
        self.own = None
        if scheme in TIMELY:
            samples = [s for s in run.csv(scheme, "samples-%s.csv" % name).rows() if begin < s["time_ns"] <= end]
            self.own = [s["rtt_ns"] / 1e3 for s in samples]
            self.by_nic = mean([s["source"] == "hw" for s in samples])

    def rtt(self, q):
        return quantile(self.rtts, q)

    def row(self):
        return (self.scheme, self.name, self.goodput / 1e9, self.window.share, self.window.jain, mean(self.rtts),
                self.rtt(0.5), self.p99, max(self.rtts), self.srtt,
                mean(self.own) if self.own else "-", quantile(self.own, 0.99) if self.own else "-", self.window.drops)


def report(run):
    all_cases = {scheme: [Case(run, scheme, *case) for case in cases(run.params, scheme)] for scheme in run.schemes}
    run.text("RTT in µs; the path's is %.1f" % base_us(run.params), "")
    run.table(("scheme", "case", "Gbit/s", "of max", "Jain", "RTT: mean", "p50", "p99", "max", "TCP's srtt",
               "TIMELY's samples: mean", "p99", "drops"), [c.row() for some in all_cases.values() for c in some])
    # each scheme's first case with each buffer: lossy, deep
    first = {scheme: (some[0], some[len(some) // 2]) for scheme, some in all_cases.items()}
    run.claim("deep-drops", "number of packets dropped by the deep buffer",
              sum(deep.window.drops for _, deep in first.values()),
              "== 0")
    if set(run.schemes) == set(SCHEMES):
        ratios(run, first)
        if not run.small:
            claim(run, all_cases, first)
            draw(run, first, steep(run, all_cases))


def ratios(run, first):
    run.text("First cases. RTTs of other schemes over TIMELY's, and goodput of TIMELY over theirs:", "")
    run.table(("TIMELY", "buffer", "beside", "RTT: mean", "p99", "goodput"),
              [(timely, buffer, other, mean(first[other][i].rtts) / mean(first[timely][i].rtts),
                first[other][i].p99 / first[timely][i].p99, first[timely][i].goodput / first[other][i].goodput)
               for timely in TIMELY for i, buffer in enumerate(("lossy", "deep"))
               for other in SCHEMES if other not in TIMELY])


def steep(run, all_cases):
    """Return: the lossy case of patched with the last beta and the first case's segments."""
    return next(c for c in all_cases["patched"]
                if c.values == {"seg_kb": run.params.seg_kb[0], "beta": run.params.beta[-1]})


def claim(run, all_cases, first):
    lossy = {scheme: pair[0] for scheme, pair in first.items()}
    deep = {scheme: pair[1] for scheme, pair in first.items()}
    run.claim("by-nic", "smallest share of TIMELY's samples with the NIC's timestamps",
              min(c.by_nic for timely in TIMELY for c in all_cases[timely]), ">= 0.99")
    for timely in TIMELY:
        run.claim(timely + "-drops", "%s: number of packets dropped by the lossy buffer" % timely,
                  lossy[timely].window.drops,
                  "== 0")
        run.claim(timely + "-jain", "%s: smallest Jain's index of both buffers" % timely,
                  min(c.window.jain for c in first[timely]), ">= 0.95")
        run.claim(timely + "-deep", "cubic's p99 RTT in the deep buffer over %s's" % timely,
                  deep["cubic"].p99 / deep[timely].p99, ">= 9")
    run.claim("classic-goodput", "smallest ratio of classic's goodput to dctcp's of both buffers",
              min(c.goodput / d.goodput for c, d in zip(first["classic"], first["dctcp"])), ">= 0.9")
    run.claim("patched-goodput", "smallest ratio of patched's goodput to dctcp's of both buffers",
              min(c.goodput / d.goodput for c, d in zip(first["patched"], first["dctcp"])), ">= 0.99")
    run.claim("classic-cubic", "cubic's p99 RTT over classic's, lossy buffer",
              lossy["cubic"].p99 / lossy["classic"].p99, ">= 3")
    run.claim("classic-dctcp", "dctcp's mean RTT over classic's, lossy buffer",
              mean(lossy["dctcp"].rtts) / mean(lossy["classic"].rtts), ">= 1.5")
    last = steep(run, all_cases)
    run.claim("steep-goodput", "goodput of patched with the last beta over dctcp's, lossy buffer",
              last.goodput / lossy["dctcp"].goodput, ">= 0.99")
    run.claim("steep-dctcp", "dctcp's p99 RTT over patched's with the last beta, lossy buffer",
              lossy["dctcp"].p99 / last.p99, ">= 1")


# ---- pictures

def draw(run, first, last):
    _, axes = run.figure("timely-incast", 2, 2, size=(11.5, 7))
    lossy = [some[0] for some in first.values()]
    draw_cdf(axes[0][0], run, first, last)
    draw_p99(axes[0][1], run, first)
    draw_course(axes[1][0], run, lossy)
    draw_shares(axes[1][1], run, lossy)
    axes[0][1].legend(*axes[0][0].get_legend_handles_labels(), loc="center left", bbox_to_anchor=(1.02, 0.5))


def draw_cdf(axis, run, first, last):
    shares = [i / 200 for i in range(201)]
    for scheme, pair in first.items():
        for c, style in zip(pair, ("-", ":")):
            axis.plot([c.rtt(q) for q in shares], shares, style, color=run.colour(scheme),
                      label=scheme if style == "-" else None)
    axis.plot([last.rtt(q) for q in shares], shares, "--", color=run.colour("patched"),
              label="patched, beta %g" % last.values["beta"])
    axis.set_xscale("log")
    axis.set_xticks(TICKS_US, TICKS_US)
    axis.set_xlabel("RTT, µs (dotted: deep buffer)")
    axis.set_ylabel("cumulative share of samples")
    axis.set_title("Distribution of the RTT, %d flows" % run.params.flows)


def draw_p99(axis, run, first):
    for x, (scheme, (lossy, deep)) in enumerate(first.items()):
        axis.bar([x - 0.2, x + 0.2], [lossy.p99, deep.p99], 0.38, color=run.colour(scheme), alpha=0.9,
                 hatch=["", "//"], edgecolor="white")
    axis.set_yscale("log")
    axis.set_ylim(TICKS_US[0], 10 * TICKS_US[-1])
    axis.set_yticks(TICKS_US, TICKS_US)
    axis.set_xticks(range(len(first)), list(first))
    axis.set_ylabel("RTT's p99, µs")
    axis.set_title("RTT's p99 (hatched: deep buffer)")


def draw_course(axis, run, some):
    """Draw the first SHOWN samples."""
    for c in some:
        axis.plot(c.times_ms[:SHOWN], c.rtts[:SHOWN], color=run.colour(c.scheme), linewidth=0.9, label=c.scheme)
    axis.set_ylim(bottom=0)
    axis.set_xlabel("time, ms")
    axis.set_ylabel("RTT, µs")
    axis.set_title("RTT over time, lossy buffer")
    run.of_one_run.append(axis)


def draw_shares(axis, run, some):
    for c in some:
        axis.plot(range(1, len(c.window.goodputs) + 1), sorted(g / 1e6 for g in c.window.goodputs),
                  color=run.colour(c.scheme), label=c.scheme)
    axis.axhline(run.params.rate * DATA / WIRE / run.params.flows / 1e6, color="#666666", linewidth=0.8, linestyle="--")
    axis.set_ylim(bottom=0)
    axis.set_xlabel("flow, in order of its goodput")
    axis.set_ylabel("goodput, Mbit/s (dashed: equal shares)")
    axis.set_title("Shares, lossy buffer")

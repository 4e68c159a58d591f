# SPDX-License-Identifier: GPL-2.0-only
"""TIMELY and Swift beside tuned rivals: the p99 of the RTT over the throughput, for 2 to 60 flows to one host.

Each scheme has settings that trade delay for throughput. Each point of its curve is one of them:

    swift       mode swift of tcp_timely with each of `swift_min_rtt`, from which its default target follows, and with
                each of `target`
    classic     mode classic with the paper's constants, an alpha of 0.05 and each of `min_rtt`, the unit of the gradient;
                and by the rule of profile tuned with each of `rule`
    dctcp       the port marks above a queue of each of `k` bytes
    cubic       fq at the hosts, ECN, and a port that marks above each of `k` bytes
    bbr         fq at the hosts

The question is P2: of all settings that use at least 98 % of the link, has swift's first setting the lowest p99 of the
RTT? The best rival is chosen per run and number of flows, once of all and once of those that starve no flow:
few flows that take the link make a short queue. Times are given for 10 Gbit/s and scale with the rate.

The RTT is measured outside the hosts, as in timely_incast.py: the path's RTT plus the time to drain the port's queue,
sampled every `every`. RTT samples of tcp_timely are by software timestamps, which are exact in virtual time.
"""
import math

from closlab import topo
from closlab.params import Param
from closlab.tcp import FRAME, SERIES, WIRE, Module, Window

PARAMS = [
    Param("rate", "rate", "10gbit", "rate of all links"),
    Param("delay", "time", "4us", "delay of each link; an RTT has four"),
    Param("hosts", "count", "16", "number of senders"),
    Param("flows", "count", "2,8,32,60", "numbers of flows", several=True, held_out=("2", "60")),
    Param("buffer", "size", "4M", "buffer of the port"),
    Param("swift_min_rtt", "count", "0,20", "swift's minRTT, µs; 0: the path's RTT, rounded up", several=True),
    Param("target", "count", "24", "further targets of swift, µs", several=True),
    Param("min_rtt", "count", "20,50", "classic's minRTT with constants, µs", several=True),
    Param("rule", "count", "20", "classic's minRTT by the rule, µs", several=True),
    Param("k", "size", "2k,5k,10k,20k", "marking thresholds at 10 Gbit/s", several=True),
    Param("warmup", "time", "30ms", "time before the measurement at 10 Gbit/s"),
    Param("settle", "time", "10ms", "minimum time before the measurement"),
    Param("time", "time", "20ms", "duration of the measurement at 10 Gbit/s"),
    Param("jitter", "time", "2ms", "interval in which the flows start"),
    Param("every", "time", "5us", "interval between queue samples at 10 Gbit/s"),
]
SMALL = {"hosts": "2", "flows": "2", "swift_min_rtt": "0", "min_rtt": "20", "k": "20k", "warmup": "4ms",
         "settle": "1ms", "time": "2ms", "jitter": "200us"}
SCHEMES = ("swift", "classic", "dctcp", "cubic", "bbr")
FQ = ("cubic", "bbr")
CONSTANT_ALPHA = 0.05       # of mode classic with profile tuned and without min_rtt
OWN = {"swift", "classic"}
UNIT = 10**10               # link rate of times and thresholds, bit/s

RED_BANDWIDTH = 30 * 10**9  # tc has 32 bits for bytes/s; red uses it for averages only

ACK_WIRE = 14 + 52 + 24
ENOUGH = 0.98               # share of the link that a scheme must use
LEAST_PERCENT = 85          # the figure shows throughputs from here
TICKS_US = (15, 20, 30, 50, 100, 200, 500)
FAIR = 0.9                  # Jain's index of a scheme that starves no flow


def settings(params, scheme):
    """Return: [(name of the setting, sysctls of tcp_timely, marking threshold in bytes)]."""
    if scheme == "swift":
        of_path = math.ceil(base_us(params))
        units = [("min_rtt=%s" % (unit or "path"), {"mode": "swift", "target": 0, "min_rtt": unit or of_path}, None)
                 for unit in params.swift_min_rtt]
        return units + [("target=%d" % target, {"mode": "swift", "target": target, "min_rtt": 20}, None)
                        for target in params.target]
    if scheme == "classic":
        constants = {"mode": "classic", "profile": "paper", "alpha": CONSTANT_ALPHA}
        return [("min_rtt=%d" % unit, dict(constants, min_rtt=unit), None) for unit in params.min_rtt] + [
            ("rule-min_rtt=%d" % unit, {"mode": "classic", "min_rtt": unit}, None) for unit in params.rule]
    if scheme == "bbr":
        return [("fq", None, None)]
    return [("K=%dk" % (k // 1000), None, k * params.rate // UNIT) for k in params.k]


def scaled_ns(params, time_ns):
    """Return: TIME_NS at 10 Gbit/s scaled to the links' rate, in ns."""
    return time_ns * UNIT // params.rate


def window_ns(params):
    """Return: begin and end of the measurement."""
    begin = max(scaled_ns(params, params.warmup), params.settle)
    return begin, begin + scaled_ns(params, params.time)


def case(setting, flows):
    return "%s-n%d" % (setting, flows)


# ---- in the guest

def port_qdisc(params, k):
    """Return: the port's qdisc; one that marks is as in dctcp_known.py, by the instantaneous queue."""
    limit = params.buffer * params.rate // UNIT
    if k is None:
        return "bfifo limit %d" % limit
    return "red limit %d min %d max %d avpkt %d burst %d bandwidth %dbit probability 1 ecn" % (
        limit, k, k + 1, FRAME, math.ceil(k / FRAME), min(params.rate, RED_BANDWIDTH))


def ask_for_ecn(net):
    for node in net.nodes.values():
        with topo.inside(node), open("/proc/sys/net/ipv4/tcp_ecn", "w", encoding="ascii") as f:
            f.write("1")


def guest(lab):
    p = lab.params
    net = topo.star(p.hosts + 1, p.rate, p.delay)
    port = net.nodes["switch"].port("h1")
    net.build(host_qdisc="fq" if lab.scheme in FQ else None)
    # a ring of two frames, so that packets queue in the qdisc
    topo.run("ip", "-n", "switch", "link", "set", "h1", "type", "closwire", "ring", "2")
    if lab.scheme == "cubic":
        ask_for_ecn(net)
    timely = Module(lab, "tcp_timely", source="sw", prompt_ack=1) if lab.scheme in OWN else None
    todo = settings(p, lab.scheme)
    lab.expect(len(todo) * len(p.flows) * window_ns(p)[1])
    for name, sysctls, k in todo:
        topo.run("tc", "-n", "switch", "qdisc", "add", "dev", "h1", "root", *port_qdisc(p, k).split())
        if timely:
            timely.set(**sysctls)
        for flows in p.flows:
            measure(lab, net, port, case(name, flows), flows)
        topo.run("tc", "-n", "switch", "qdisc", "del", "dev", "h1", "root")


def measure(lab, net, port, name, flows):
    p = lab.params
    begin, end = window_ns(p)
    lab.sample("queue-%s.csv" % name, scaled_ns(p, p.every), [port], begin=begin)
    lab.traffic(net, "--seed", lab.seed, "--time", "%dns" % end, "--drain", "1ms",
                "--series", lab.path("series-%s.csv" % name), "--every", "%dns" % (scaled_ns(p, p.time) // SERIES),
                "bulk", "src=h2-h%d" % (p.hosts + 1), "dst=h1", "flows=%d" % flows, "jitter=%dns" % p.jitter,
                "cc=" + ("timely" if lab.scheme in OWN else lab.scheme))


# ---- on the host

def base_us(params):
    """Return: RTT of a full frame and its ACK without a queue, µs."""
    return (4 * params.delay + 2 * (WIRE + ACK_WIRE) * 8e9 / params.rate) / 1e3


class Point:
    """Result of a setting with a number of flows; RTTs in µs."""

    def __init__(self, run, scheme, setting, flows):
        p = run.params
        w = Window(run, scheme, case(setting, flows), p.rate, *window_ns(p))
        self.scheme, self.setting, self.flows = scheme, setting, flows
        self.share, self.jain, self.drops = w.share, w.jain, w.drops
        self.p50, self.p99 = base_us(p) + w.quantile_us(0.5), base_us(p) + w.quantile_us(0.99)

    def row(self):
        return self.flows, self.scheme, self.setting, 100 * self.share, self.p50, self.p99, self.jain, self.drops


def report(run):
    p = run.params
    points = [Point(run, scheme, name, flows) for flows in p.flows for scheme in run.schemes
              for name, _, _ in settings(p, scheme)]
    run.text("RTT in µs; that of the path is %.1f" % base_us(p), "")
    run.table(("flows", "scheme", "setting", "% of max", "RTT: p50", "p99", "Jain", "drops"),
              [q.row() for q in points])
    if set(SCHEMES) == set(run.schemes) and not run.small:
        for flows in p.flows:
            judge(run, flows, [q for q in points if q.flows == flows])
    draw(run, points)


def judge(run, flows, points):
    """Claim P2 of the points of a number of flows."""
    own = next(q for q in points if q.scheme == "swift")
    run.claim("share-%d" % flows, "%d flows: share of the link that swift uses" % flows, own.share, ">= %g" % ENOUGH)
    run.claim("jain-%d" % flows, "%d flows: Jain's index of swift" % flows, own.jain, ">= %g" % FAIR)
    rivals = [q for q in points if q.scheme not in OWN and q.share >= ENOUGH]
    fair = [q for q in rivals if q.jain >= FAIR]
    for ident, some, which in (("p99", rivals, ""), ("fair-p99", fair, " and Jain's index of at least %g" % FAIR)):
        if some:
            run.claim("%s-%d" % (ident, flows), "%d flows: p99 RTT of swift over that of the best rival with 98 %% of "
                      "the link%s" % (flows, which), own.p99 / min(q.p99 for q in some), "< 1")


def draw(run, points):
    flows = run.params.flows
    columns = min(2, len(flows))
    rows = math.ceil(len(flows) / columns)
    _, axes = run.figure("timely-swift", rows, columns, (4.8 * columns, 3.2 * rows))
    axes = list(getattr(axes, "flat", [axes]))
    for axis, n in zip(axes, flows):
        for scheme in run.schemes:
            some = [q for q in points if q.scheme == scheme and q.flows == n]
            axis.plot([100 * q.share for q in some], [q.p99 for q in some], "o-", markersize=3.5, linewidth=1,
                      color=run.colour(scheme), label=scheme)
        unfair = [q for q in points if q.flows == n and q.jain < FAIR]
        axis.scatter([100 * q.share for q in unfair], [q.p99 for q in unfair], s=4, color="white", zorder=3)
        axis.axvline(100 * ENOUGH, color="#666666", linewidth=0.8, linestyle="--")
        axis.set_yscale("log")
        axis.set_yticks(TICKS_US, labels=[str(tick) for tick in TICKS_US])
        axis.minorticks_off()
        axis.set(xlim=(LEAST_PERCENT, 101), ylim=(TICKS_US[0], TICKS_US[-1]))
        axis.set(xlabel="throughput, % of maximum", ylabel="p99 of the RTT, µs", title="%d flows" % n)
    axes[columns - 1].legend(loc="center left", bbox_to_anchor=(1.02, 0.5))

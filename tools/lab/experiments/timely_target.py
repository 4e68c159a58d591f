# SPDX-License-Identifier: GPL-2.0-only
"""TIMELY with the RTT's gradient, or with a target RTT: throughput, tail and smoothness.

After R. Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015, figures 9 and 10. With
T_low = T_high = T_target the gradient has no effect: TIMELY increases the rate below the target and decreases it above,
as control by queue size does. The paper reports that the gradient between 50 and 500 µs has the throughput of a target
of 500 µs, the tail of a target of 50 µs, and smoother rates of the connections.

Hosts at one switch send to one host; the port's buffer drops no packet. Schemes:

    gradient        T_low and T_high are `t_low` and `t_high`
    target-low      both are `t_low`
    target-high     both are `t_high`

The smoothness of a connection's rate is its standard deviation during the measurement over its mean, averaged over all
connections. RTTs are measured at the port, as in timely_incast.py. One-way delays are of the frames that arrive at the
receiver: from the time at which TCP's pacing lets a packet depart, so they include the wait in the sender.
"""
import math

from closlab import topo
from closlab.params import Param
from closlab.results import Histogram, mean, quantile
from closlab.tcp import WIRE, Module, Window

PARAMS = [
    Param("rate", "rate", "10gbit", "rate of all links"),
    Param("delay", "time", "4us", "delay of each link; four delays are most of the RTT"),
    Param("hosts", "count", "10", "number of senders"),
    Param("flows", "count", "10,40", "numbers of flows of all hosts together, a case each", several=True),
    Param("t_low", "count", "50", "T_low, µs"),
    Param("t_high", "count", "500", "T_high, µs"),
    Param("seg_kb", "count", "16", "segment size, KB"),
    Param("beta", "number", "0.8", "factor of the multiplicative decrease"),
    Param("buffer", "size", "1G", "buffer of the port"),
    Param("warmup", "time", "400ms",
          "time before the measurement, in which nicclock learns the NICs' clocks and rates settle"),
    Param("time", "time", "200ms", "duration of the measurement"),
    Param("jitter", "time", "10ms", "interval in which the flows start"),
    Param("every", "time", "20us", "interval between queue samples"),
    Param("rates_every", "time", "500us", "interval between samples of the connections' rates"),
]
SMALL = {"rate": "1gbit", "hosts": "2", "flows": "4", "warmup": "10ms", "time": "10ms", "jitter": "1ms",
         "every": "100us"}
SCHEMES = ("gradient", "target-low", "target-high")

ACK_WIRE = 14 + 52 + 24
SHOWN = 3       # connections whose rates are drawn


def thresholds(params, scheme):
    """Return: (T_low, T_high), µs."""
    return {"gradient": (params.t_low, params.t_high), "target-low": (params.t_low,) * 2,
            "target-high": (params.t_high,) * 2}[scheme]


# ---- in the guest

def guest(lab):
    p = lab.params
    net = topo.star(p.hosts + 1, p.rate, p.delay)
    net.nodes["switch"].port("h1").qdisc = "bfifo limit %d" % p.buffer
    net.build(rx_stamps=True)
    # a ring of two frames, so that packets queue in the qdisc
    topo.run("ip", "-n", "switch", "link", "set", "h1", "type", "closwire", "ring", "2")
    timely = Module(lab, "tcp_timely", mode="classic")
    t_low, t_high = thresholds(p, lab.scheme)
    timely.set(t_low=t_low, t_high=t_high, seg_kb=p.seg_kb, beta=p.beta)
    lab.expect(len(p.flows) * (p.warmup + p.time))
    for flows in p.flows:
        lab.sample("queue-%d.csv" % flows, p.every, [net.nodes["switch"].port("h1")], p.warmup)
        lab.delays("delays-%d.csv" % flows, [net.nodes["h1"].port("switch")], p.warmup, p.warmup + p.time)
        lab.traffic(net, "--time", "%dns" % (p.warmup + p.time), "--drain", "0ns",
                    "--series", lab.path("series-%d.csv" % flows), "--every", "%dns" % p.rates_every,
                    "bulk", "src=h2-h%d" % (p.hosts + 1), "dst=h1", "flows=%d" % flows, "jitter=%dns" % p.jitter,
                    "cc=timely")


# ---- on the host

def base_us(params):
    """Return: RTT of a full frame and its ACK without a queue, µs."""
    return (4 * params.delay + 2 * (WIRE + ACK_WIRE) * 8e9 / params.rate) / 1e3


def deviation(values):
    """Return: standard deviation over mean."""
    middle = mean(values)
    return math.sqrt(mean([(value - middle) ** 2 for value in values])) / middle


class Case:
    """Results of a scheme with a number of flows; RTTs in µs, rates in Gbit/s."""

    def __init__(self, run, scheme, flows):
        p = run.params
        begin, end = p.warmup, p.warmup + p.time
        self.scheme, self.flows = scheme, flows
        self.window = Window(run, scheme, str(flows), p.rate, begin, end)
        self.goodput = sum(self.window.goodputs) / 1e9
        self.rtts = [base_us(p) + us for us in self.window.queue_us]
        self.p99 = quantile(self.rtts, 0.99)
        delays = Histogram(run.csv(scheme, "delays-%d.csv" % flows))
        self.delays = tuple(delays.quantile(q) / 1e3 for q in (0.5, 0.99))
        self.rates = {}     # flow: [(ms, rate)]
        for row in run.csv(scheme, "series-%d.csv" % flows).rows():
            if begin < row["time_ns"] <= end:
                self.rates.setdefault(row["flow"], []).append(
                    ((row["time_ns"] - begin) / 1e6, row["pacing_rate_bps"] / 1e9))
        self.deviation = mean([deviation([rate for _, rate in course]) for course in self.rates.values()])

    def row(self):
        return (self.flows, self.scheme, self.goodput, self.window.share, mean(self.rtts), quantile(self.rtts, 0.5),
                self.p99, max(self.rtts), *self.delays, self.deviation, self.window.jain, self.window.drops)


def report(run):
    all_cases = {scheme: [Case(run, scheme, flows) for flows in run.params.flows] for scheme in run.schemes}
    run.text("RTT and one-way delay in µs; the path's RTT is %.1f" % base_us(run.params), "")
    run.table(("flows", "scheme", "Gbit/s", "of max", "RTT: mean", "p50", "p99", "max", "delay: p50", "p99",
               "rate's deviation", "Jain",
               "drops"), [c.row() for row in zip(*all_cases.values()) for c in row])
    run.claim("drops", "number of dropped packets", sum(c.window.drops for row in all_cases.values() for c in row),
              "== 0")
    if set(run.schemes) == set(SCHEMES) and not run.small:
        for gradient, low, high in zip(*(all_cases[scheme] for scheme in SCHEMES)):
            claim(run, gradient, low, high)
        draw(run, all_cases)


def claim(run, gradient, low, high):
    n = gradient.flows
    run.claim("goodput-%d" % n, "%d flows: goodput with the gradient over the high target" % n,
              gradient.goodput / high.goodput, ">= 0.99")
    run.claim("goodput-low-%d" % n, "%d flows: goodput with the gradient over the low target" % n,
              gradient.goodput / low.goodput, "> 1")
    run.claim("tail-%d" % n, "%d flows: p99 RTT with the high target over the gradient" % n,
              high.p99 / gradient.p99, ">= 2")
    run.claim("tail-low-%d" % n, "%d flows: p99 RTT with the gradient over the low target" % n,
              gradient.p99 / low.p99, "<= 2")
    run.claim("smooth-%d" % n, "%d flows: rate's deviation with the gradient over the steadier target" % n,
              gradient.deviation / min(low.deviation, high.deviation), "< 1")


def draw(run, all_cases):
    _, axes = run.figure("timely-target", 2, 3, size=(11, 6))
    draw_cdf(axes[0][0], run, all_cases)
    draw_bars(axes[0][1], run, all_cases, "goodput, Gbit/s", lambda c: c.goodput)
    draw_bars(axes[0][2], run, all_cases, "RTT's p99, µs", lambda c: c.p99)
    most = max(rate for row in all_cases.values() for course in list(row[-1].rates.values())[:SHOWN]
               for _, rate in course)
    for axis, scheme in zip(axes[1], all_cases):
        draw_rates(axis, all_cases[scheme][-1], most)
    run.of_one_run.extend(axes[1])


def draw_cdf(axis, run, all_cases):
    shares = [i / 200 for i in range(201)]
    for scheme, row in all_cases.items():
        axis.plot([quantile(row[-1].rtts, q) for q in shares], shares, color=run.colour(scheme), label=scheme)
    axis.set_xlim(left=0)
    axis.set_xlabel("RTT, µs")
    axis.set_ylabel("cumulative share of samples")
    axis.set_title("RTT, %d flows" % run.params.flows[-1])
    axis.legend(loc="lower right")


def draw_bars(axis, run, all_cases, label, value):
    width = 0.8 / len(all_cases)
    for number, (scheme, row) in enumerate(all_cases.items()):
        axis.bar([x + number * width for x in range(len(row))], [value(c) for c in row], width,
                 color=run.colour(scheme), label=scheme)
    axis.set_xticks([x + 0.4 - width / 2 for x in range(len(run.params.flows))], run.params.flows)
    axis.set_xlabel("flows")
    axis.set_ylabel(label)


def draw_rates(axis, case, most):
    for flow in sorted(case.rates)[:SHOWN]:
        axis.plot(*zip(*case.rates[flow]), linewidth=0.9)
    axis.set_ylim(0, 1.05 * most)
    axis.set_xlabel("time, ms")
    axis.set_ylabel("rate of a connection, Gbit/s")
    axis.set_title("%s, %d of %d flows" % (case.scheme, min(SHOWN, case.flows), case.flows))

# SPDX-License-Identifier: GPL-2.0-only
"""TIMELY at 10, 25 and 100 Gbit/s and RTTs of 20 to 200 µs: throughput, queue, fairness.

The scheme is the rate of the links. A few flows, each from its own host, go to one host. Each RTT of the path has three
cases:

    default     T_low = 50 µs, T_high = 500 µs, minRTT = 20 µs for any path
    path        T_low and T_high are increased by the path's RTT above 20 µs
    minrtt      as path, and minRTT equals T_low: it normalizes gradients, and scales an increase by the segments in
                that time

All other parameters are the paper's constants with an alpha of 0.05, the defaults without min_rtt; those that depend on
the link's rate scale with it. Measurements last
for the same number of frames at each rate. RTT samples are by software timestamps (source=sw), which are as good as the
NIC's in virtual time and need no warm-up.
"""
from closlab import topo
from closlab.params import RATES, Param, scaled
from closlab.results import COLOURS
from closlab.tcp import SERIES, Module, Window

PARAMS = [
    Param("flows", "count", "8", "number of flows, each from its own host"),
    Param("rtts", "time", "20us,100us,200us", "RTTs of the path of four links", several=True),
    Param("buffer", "size", "128M", "buffer of the port"),
    Param("warmup", "time", "150ms", "time before a measurement at 10 Gbit/s, a tenth at 100 Gbit/s"),
    Param("settle", "time", "50ms", "minimum time before a measurement"),
    Param("time", "time", "50ms", "duration of a measurement at 10 Gbit/s"),
    Param("jitter", "time", "10ms", "interval in which the flows start at 10 Gbit/s"),
    Param("every", "time", "50us", "interval between queue samples at 10 Gbit/s"),
]
SMALL = {"flows": "2", "rtts": "50us", "warmup": "2ms", "settle": "1ms", "time": "2ms", "jitter": "100us"}
SCHEMES = ("10gbit", "25gbit", "100gbit")

CASES = ("default", "path", "minrtt")
BASE_US = 20                # RTT for which the defaults are chosen
UNIT = 10**10               # link rate for which the times are given, bit/s


def rate_of(scheme):
    return scaled(scheme, RATES, "rate")


def scaled_ns(time_ns, scheme):
    """Return: TIME_NS at 10 Gbit/s scaled to the scheme's rate, in ns, rounded to whole µs."""
    return time_ns * UNIT // rate_of(scheme) // 1000 * 1000


def warmup_ns(params, scheme):
    return max(scaled_ns(params.warmup, scheme), params.settle)


def cases(params):
    """Return: [(name, RTT in ns, the module's parameters)]."""
    found = []
    for rtt in params.rtts:
        for kind in CASES:
            above = 0 if kind == "default" else rtt // 1000 - BASE_US
            if kind != "path" or above:
                found.append(("%dus-%s" % (rtt // 1000, kind), rtt,
                              {"t_low": 50 + above, "t_high": 500 + above,
                               "min_rtt": 50 + above if kind == "minrtt" else BASE_US}))
    return found


# ---- in the guest

def guest(lab):
    p = lab.params
    warmup = warmup_ns(p, lab.scheme)
    time, jitter, every = (scaled_ns(t, lab.scheme) for t in (p.time, p.jitter, p.every))
    net = topo.star(p.flows + 1, rate_of(lab.scheme), 0)
    port = net.nodes["switch"].port("h1")
    port.qdisc = "bfifo limit %d" % p.buffer
    net.build()
    # a ring of two frames, so that packets queue in the qdisc
    topo.run("ip", "-n", "switch", "link", "set", "h1", "type", "closwire", "ring", "2")
    module = Module(lab, "tcp_timely", mode="classic")
    todo = cases(p)
    lab.expect(len(todo) * (warmup + time))
    for name, rtt, settings in todo:
        set_delay(net, rtt // 4)
        module.set(source="sw", prompt_ack=1, profile="paper", alpha=0.05, **settings)
        lab.sample("queue-%s.csv" % name, every, [port], begin=warmup)
        lab.traffic(net, "--time", "%dns" % (warmup + time), "--drain", "1ms",
                    "--series", lab.path("series-%s.csv" % name), "--every", "%dns" % (time // SERIES),
                    "bulk", "src=h2-h%d" % (p.flows + 1), "dst=h1", "cc=timely", "jitter=%dns" % jitter)


def set_delay(net, delay):
    """Set the delay of all links."""
    for port in net.host_ports() + net.switch_ports():
        port.delay = delay
    for node in net.nodes.values():
        topo.run("ip", "-n", node.name, "-batch", "-", text=[
            "link set %s type closwire delay %dns" % (port.dev, port.delay) for port in node.ports.values()])


# ---- on the host

class Case:
    """Results of one case."""

    def __init__(self, run, scheme, name, rtt, settings):
        p = run.params
        begin = warmup_ns(p, scheme)
        self.scheme, self.kind, self.rtt_us = scheme, name.partition("-")[2], rtt // 1000
        self.settings = settings
        self.window = Window(run, scheme, name, rate_of(scheme), begin, begin + scaled_ns(p.time, scheme))

    def row(self):
        w = self.window
        return (self.scheme, self.rtt_us, self.kind) + tuple(self.settings.values()) + (
            sum(w.goodputs) / 1e9, w.share, w.mean_us, w.quantile_us(0.5), w.quantile_us(0.99), w.jain, w.drops)


def report(run):
    some = {scheme: [Case(run, scheme, *case) for case in cases(run.params)] for scheme in run.schemes}
    everything = [c for found in some.values() for c in found]
    run.table(("rate", "RTT µs", "case", "T_low", "T_high", "minRTT", "Gbit/s", "of max", "queue µs: mean", "p50",
               "p99", "Jain", "drops"),
              [c.row() for c in everything])
    run.claim("drops", "number of dropped packets", sum(c.window.drops for c in everything), "== 0")
    if not run.small:
        claim(run, some)
    if set(SCHEMES) == set(run.schemes):
        draw(run, some)


def claim(run, some):
    for scheme, found in some.items():
        run.claim("share-" + scheme, "%s: smallest utilization of the link with case minrtt" % scheme,
                  min(c.window.share for c in found if c.kind == "minrtt"), ">= 0.95")
        run.claim("queue-" + scheme, "%s: largest p99 of the queue over T_high less the path's RTT" % scheme,
                  max(c.window.quantile_us(0.99) / (c.settings["t_high"] - c.rtt_us) for c in found), "<= 0.5")
        run.claim("jain-" + scheme, "%s: smallest Jain's index" % scheme, min(c.window.jain for c in found), ">= 0.9")


def draw(run, some):
    figure, axes = run.figure("timely-scale", 1, 2, (10, 3.4))
    for i, (scheme, found) in enumerate(some.items()):
        for kind, style in zip(CASES, ("o:", "o--", "o-")):
            row = [c for c in found if c.kind == kind]
            rtts = [c.rtt_us for c in row]
            label = "%s, %s" % (scheme, kind)
            axes[0].plot(rtts, [100 * c.window.share for c in row], style, color=COLOURS[i], label=label)
            axes[1].plot(rtts, [c.window.quantile_us(0.99) for c in row], style, color=COLOURS[i], label=label)
    for axis, text, title in zip(axes, ("throughput, % of maximum", "p99 of the queue, µs"), ("Throughput", "Queue")):
        axis.set(xlabel="the path's RTT, µs", ylabel=text, title=title)
        axis.set_xticks([rtt // 1000 for rtt in run.params.rtts])
    axes[0].set_ylim(0, 105)
    # room for the bands of several seeds
    axes[1].set_ylim(0, 1.15 * axes[1].dataLim.ymax)
    axes[1].legend(loc="center left", bbox_to_anchor=(1.02, 0.5))

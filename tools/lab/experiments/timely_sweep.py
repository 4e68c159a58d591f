# SPDX-License-Identifier: GPL-2.0-only
"""TIMELY's thresholds, segment sizes and hyperactive increase: the effect of each.

R. Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015, sections 4.3, 4.4 and 6.
Hosts at one switch send to one of them; the port's buffer is large enough to drop no packet, like a lossless network.
Schemes:

    t-low       each T_low with each segment size: the cost in throughput
    t-high      each T_high
    alpha       each weight of a new RTT difference
    hai         one of two flows ends; hyperactive increase (HAI) on and off, with T_low above the path's RTT (the
                default) and below

RTT samples are by software timestamps (source=sw). In virtual time interrupts take no time and are not late, so these
are as good as the NIC's, and need no warm-up.
"""
from closlab import topo
from closlab.params import Param
from closlab.results import COLOURS
from closlab.tcp import SERIES, Module, Window

PARAMS = [
    Param("rate", "rate", "10gbit", "rate of all links"),
    Param("delay", "time", "4us", "delay of each link; four delays are most of the RTT"),
    Param("hosts", "count", "10", "number of senders"),
    Param("flows", "count", "20", "flows of all hosts together"),
    Param("buffer", "size", "32M", "buffer of the port"),
    Param("t_low", "count", "25,50,100,200", "T_low, µs", several=True),
    Param("seg_kb", "count", "16,32,64", "segment sizes of the scheme t-low, KB", several=True),
    Param("t_high", "count", "100,150,250,500", "T_high, µs", several=True),
    Param("t_high_alpha", "number", "0.02", "alpha of the scheme t-high: a gradient with a longer memory"),
    Param("alpha", "number", "0.875,0.3,0.1,0.05,0.02", "weights of a new RTT difference", several=True),
    Param("warmup", "time", "100ms",
          "time before a measurement with segments of 16 KB, in proportion to the segment size"),
    Param("time", "time", "50ms", "duration of a measurement"),
    Param("jitter", "time", "2ms", "interval in which the flows start"),
    Param("every", "time", "20us", "interval between queue samples"),
    Param("hai_n", "count", "5,1", "increments of an increase when hyperactive; 1: off", several=True),
    Param("hai_t_low", "count", "50,10", "T_low of the scheme hai, µs", several=True),
    Param("hai_bytes", "size", "30M", "size of the flow that ends"),
    Param("hai_time", "time", "250ms", "duration of a measurement of the scheme hai"),
]
SMALL = {"hosts": "2", "flows": "2", "t_low": "25", "seg_kb": "16", "t_high": "500", "alpha": "0.02", "warmup": "2ms",
         "time": "2ms", "jitter": "100us", "every": "100us", "hai_n": "5", "hai_t_low": "10", "hai_bytes": "100k",
         "hai_time": "4ms"}
SCHEMES = ("t-low", "t-high", "alpha", "hai")

DEFAULTS = {"t_low": 50, "t_high": 500, "seg_kb": 16, "alpha": 0.05}
HAI_EVERY = 50_000          # interval between flow samples, ns
RESTORED = 0.9              # share of the link's rate at which the remaining flow has used the free capacity
DELTA = 1 / 1000            # delta over the link's rate
SHOWN_MS = -10, 40          # times after the end that are drawn


def warmup_ns(params, settings):
    """Return: warm-up, ns; a rate grows by delta per segment."""
    return params.warmup * settings.get("seg_kb", DEFAULTS["seg_kb"]) // DEFAULTS["seg_kb"]


def cases(params, scheme):
    """Return: [(name, the module's parameters)] of a scheme."""
    if scheme == "t-low":
        return [("low%d-seg%d" % (low, seg), {"t_low": low, "seg_kb": seg})
                for seg in params.seg_kb for low in params.t_low]
    if scheme == "t-high":
        return [("high%d" % high, {"t_high": high, "alpha": params.t_high_alpha}) for high in params.t_high]
    if scheme == "alpha":
        return [("alpha%g" % alpha, {"alpha": alpha}) for alpha in params.alpha]
    return [("low%d-n%d" % (low, n), {"t_low": low, "hai_n": n}) for low in params.hai_t_low for n in params.hai_n]


# ---- in the guest

def guest(lab):
    p = lab.params
    todo = cases(p, lab.scheme)
    net = topo.star(p.hosts + 1, p.rate, p.delay)
    net.nodes["switch"].port("h1").qdisc = "bfifo limit %d" % p.buffer
    net.build()
    # a ring of two frames, so that packets queue in the qdisc
    topo.run("ip", "-n", "switch", "link", "set", "h1", "type", "closwire", "ring", "2")
    module = Module(lab, "tcp_timely", mode="classic")
    lab.expect(sum(p.hai_time if lab.scheme == "hai" else warmup_ns(p, settings) + p.time for _, settings in todo))
    for name, settings in todo:
        module.set(source="sw", prompt_ack=1, **{**DEFAULTS, **settings})
        if lab.scheme == "hai":
            measure(lab, net, name, p.hai_time, HAI_EVERY, [
                "bulk", "src=h2", "dst=h1", "cc=timely", "--",
                "bulk", "src=h3", "dst=h1", "cc=timely", "bytes=%d" % p.hai_bytes, "start=10us"])
        else:
            warmup = warmup_ns(p, settings)
            lab.sample("queue-%s.csv" % name, p.every, [net.nodes["switch"].port("h1")], begin=warmup)
            measure(lab, net, name, warmup + p.time, p.time // SERIES, [
                "bulk", "src=h2-h%d" % (p.hosts + 1), "dst=h1", "flows=%d" % p.flows, "cc=timely",
                "jitter=%dns" % p.jitter])


def measure(lab, net, name, time, every, words):
    lab.traffic(net, "--time", "%dns" % time, "--drain", "1ms", "--flows", lab.path("flows-%s.csv" % name),
                "--series", lab.path("series-%s.csv" % name), "--every", "%dns" % every, *words)


# ---- on the host

class Case:
    """A case of a scheme other than hai."""

    def __init__(self, run, scheme, name, settings):
        p = run.params
        warmup = warmup_ns(p, settings)
        self.window = Window(run, scheme, name, p.rate, warmup, warmup + p.time)
        settings = {**DEFAULTS, **settings}
        self.t_low, self.t_high, self.alpha = settings["t_low"], settings["t_high"], settings["alpha"]
        self.seg = settings["seg_kb"]
        self.share, self.p99 = self.window.share, self.window.quantile_us(0.99)

    def row(self):
        w = self.window
        return (self.seg, self.t_low, self.t_high, self.alpha, sum(w.goodputs) / 1e9, w.share, w.mean_us,
                w.quantile_us(0.5), self.p99, max(w.queue_us), w.jain, w.drops)


class Departure:
    """A case of hai: how the remaining flow uses the capacity of the flow that ended.

    left_ns     end of the flow that ends
    had         rate of the remaining flow at that time, bit/s
    took_ns     time from then until its rate was RESTORED of the link's; None: never
    """

    def __init__(self, run, name, settings):
        p = run.params
        self.n, self.t_low = settings["hai_n"], settings["t_low"]
        leaves = run.csv("hai", "flows-%s.csv" % name).where(src="h3", state="done").rows()[0]
        self.left_ns = leaves["start_ns"] + leaves["fct_ns"]
        stays = run.csv("hai", "series-%s.csv" % name).where(flow=0).rows()
        before = [row for row in stays if row["time_ns"] <= self.left_ns][-1]
        after = [row for row in stays if row["time_ns"] >= before["time_ns"]]
        self.had = before["pacing_rate_bps"]
        self.times_ms = [(row["time_ns"] - self.left_ns) / 1e6 for row in stays]
        self.rates = [row["pacing_rate_bps"] / 1e9 for row in stays]
        end = next((row for row in after if row["pacing_rate_bps"] >= RESTORED * p.rate), None)
        self.took_ns = end and end["time_ns"] - self.left_ns
        self.segments = end and max(1, (end["acked_bytes"] - before["acked_bytes"]) / (DEFAULTS["seg_kb"] * 1024))
        self.increments = (RESTORED * p.rate - self.had) / (DELTA * p.rate)

    def row(self):
        took = ("-", "-", "-") if self.took_ns is None else (self.took_ns / 1e6, self.segments,
                                                             self.increments / self.segments)
        return (self.t_low, self.n, self.left_ns / 1e6, self.had / 1e9, self.increments) + took


def report(run):
    some = {scheme: [Case(run, scheme, *case) for case in cases(run.params, scheme)]
            for scheme in run.schemes if scheme != "hai"}
    header = ("seg KB", "T_low", "T_high", "alpha", "Gbit/s", "of max", "queue µs: mean", "p50", "p99", "max",
              "Jain", "drops")
    for scheme, found in some.items():
        run.text(scheme + ":", "")
        run.table(header, [c.row() for c in found])
    departures = [Departure(run, *case) for case in cases(run.params, "hai")] if "hai" in run.schemes else []
    if departures:
        run.text("hai:", "")
        run.table(("T_low", "HAI", "end at ms", "rate then Gbit/s", "deltas to go", "ms", "segments",
                   "deltas per segment"),
                  [d.row() for d in departures])
    everything = [c for found in some.values() for c in found]
    if everything:
        run.claim("drops", "number of dropped packets", sum(c.window.drops for c in everything), "== 0")
    if not run.small:
        claim(run, some, departures)
    if set(SCHEMES) == set(run.schemes):
        draw(run, some, departures)


def claim(run, some, departures):
    for seg in run.params.seg_kb if "t-low" in some else ():
        row = [c for c in some["t-low"] if c.seg == seg]
        run.claim("t-low-share-%d" % seg, "%d KB: throughput with the largest T_low over the smallest" % seg,
                  row[-1].share / row[0].share, ">= 1")
        run.claim("t-low-queue-%d" % seg, "%d KB: p99 of the queue with the largest T_low over the smallest" %
                  seg, row[-1].p99 / max(row[0].p99, 1), "> 1")
    if "t-low" in some:
        by = {(c.seg, c.t_low): c for c in some["t-low"]}
        small, large = min(run.params.seg_kb), max(run.params.seg_kb)
        run.claim("segments", "smallest T_low: throughput with the smallest segments over the largest",
                  by[small, min(run.params.t_low)].share / by[large, min(run.params.t_low)].share, ">= 1")
    if "t-high" in some:
        row = some["t-high"]
        run.claim("t-high", "p99 of the queue with the largest T_high over the smallest",
                  row[-1].p99 / max(row[0].p99, 1), "> 1")
    for low in run.params.hai_t_low if departures else ():
        row = {d.n: d for d in departures if d.t_low == low}
        most, off = row[max(row)], row[min(row)]
        if off.took_ns and most.took_ns:
            run.claim("hai-%d" % low, "T_low %d µs: deltas per segment with HAI over without" % low,
                      most.increments / most.segments * off.segments / off.increments, "> 1")


def draw(run, some, departures):
    figure, axes = run.figure("timely-sweep", 2, 2, (9.6, 7))
    for i, seg in enumerate(run.params.seg_kb):
        row = [c for c in some["t-low"] if c.seg == seg]
        axes[0][0].plot([c.t_low for c in row], [100 * c.share for c in row], "o-", color=COLOURS[i],
                        label="%d KB" % seg)
        axes[0][1].plot([c.t_low for c in row], [c.p99 for c in row], "o-", color=COLOURS[i], label="%d KB: p99" % seg)
        axes[0][1].plot([c.t_low for c in row], [c.window.mean_us for c in row], "--", color=COLOURS[i])
    axes[0][0].set(xlabel="T_low, µs", ylabel="throughput, % of maximum", title="T_low and segments: throughput",
                   ylim=(0, 105))
    axes[0][1].set(xlabel="T_low, µs", ylabel="queue, µs", title="T_low and segments: queue (mean: dashed)")
    row = some["t-high"]
    axes[1][0].plot([c.t_high for c in row], [c.p99 for c in row], "o-", color=COLOURS[0], label="p99")
    axes[1][0].plot([c.t_high for c in row], [c.window.mean_us for c in row], "o--", color=COLOURS[0], label="mean")
    axes[1][0].set(xlabel="T_high, µs", ylabel="queue, µs", title="T_high: queue")
    for i, d in enumerate(departures):
        shown = [(at, rate) for at, rate in zip(d.times_ms, d.rates) if SHOWN_MS[0] <= at <= SHOWN_MS[1]]
        axes[1][1].plot(*zip(*shown), "--" if d.n == 1 else "-", color=COLOURS[i], label="T_low %d µs, HAI %s" % (
            d.t_low, "off" if d.n == 1 else "x %d" % d.n))
    run.of_one_run.append(axes[1][1])
    axes[1][1].set(xlabel="time after the other flow's end, ms", ylabel="rate, Gbit/s", title="One of two flows ends",
                   xlim=SHOWN_MS, ylim=(0, None))
    for axis in (axes[0][1], axes[1][0]):
        # room for the bands of several seeds
        axis.set_ylim(0, 1.15 * axis.dataLim.ymax)
    for axis in axes.flat:
        axis.legend()

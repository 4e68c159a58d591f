# SPDX-License-Identifier: GPL-2.0-only
"""TIMELY's fairness: mode classic keeps whatever shares flows have, mode patched makes them equal, at a cost in RTT.

Y. Zhu et al., "ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY", CoNEXT 2016: TIMELY as published has no
unique fixed point, so that flows keep arbitrary shares. "Patched" TIMELY has one, with equal rates and an RTT that
grows with the number of flows N:

    RTT* = T_low (1 + N delta / (beta C))       C: the link's rate

Schemes:

    classic     mode classic with its defaults
    lively      mode classic with alpha = 0.875, as in that paper
    patched     mode patched with alpha = 0.875 and beta = 0.008, as in that paper

Each number of flows has several runs with different seeds. Flows start at random times within `jitter`. Shares are
measured after `warmup`, and after half of it. The port drops no packet. A segment is two jumbo frames, close to that
paper's 16 KB, which saves wall time. RTT samples are by software timestamps (source=sw), which are as good as the NIC's
in virtual time.
"""
from closlab import topo
from closlab.params import Param
from closlab.results import COLOURS, jain, mean, quantile
from closlab.tcp import AROUND, HEADERS, SERIES, Module, Window, goodputs

PARAMS = [
    Param("rate", "rate", "10gbit", "rate of all links"),
    Param("delay", "time", "4us", "delay of each link; four delays are most of the RTT"),
    Param("hosts", "count", "16", "number of senders"),
    Param("flows", "count", "2,16,64", "numbers of flows", several=True, held_out=("2", "64")),
    Param("runs", "count", "10", "runs for each number of flows"),
    Param("buffer", "size", "64M", "buffer of the port"),
    Param("jitter", "time", "50ms", "interval in which the flows start"),
    Param("warmup", "time", "250ms", "time before a measurement"),
    Param("time", "time", "50ms", "duration of a measurement"),
    Param("every", "time", "50us", "interval between queue samples"),
    Param("alpha", "number", "0.875", "alpha of lively and patched"),
    Param("beta", "number", "0.008", "beta of patched"),
    Param("t_low", "count", "50", "T_low, µs"),
    Param("mtu", "size", "9000", "MTU of all links"),
    Param("seg_kb", "count", "18", "segment size, KB"),
]
SMALL = {"hosts": "2", "flows": "2", "runs": "2", "jitter": "100us", "warmup": "2ms", "time": "2ms", "every": "100us"}
SCHEMES = ("classic", "lively", "patched")

DELTA = 1 / 1000            # delta over the link's rate: the default


def cases(params):
    """Return: [(name, flows, run)]."""
    return [("n%d-run%d" % (n, run), n, run) for n in params.flows for run in range(params.runs)]


def settings(params, scheme):
    """Return: the module's parameters."""
    values = {"mode": "classic", "source": "sw", "prompt_ack": 1, "t_low": params.t_low, "seg_kb": params.seg_kb}
    if scheme != "classic":
        values["alpha"] = params.alpha
    if scheme == "patched":
        values.update(mode="patched", beta=params.beta)
    return values


# ---- in the guest

def guest(lab):
    p = lab.params
    net = topo.star(p.hosts + 1, p.rate, p.delay, mtu=p.mtu)
    port = net.nodes["switch"].port("h1")
    port.qdisc = "bfifo limit %d" % p.buffer
    net.build()
    # a ring of two frames, so that packets queue in the qdisc
    topo.run("ip", "-n", "switch", "link", "set", "h1", "type", "closwire", "ring", "2")
    Module(lab, "tcp_timely").set(**settings(p, lab.scheme))
    todo = cases(p)
    lab.expect(len(todo) * (p.warmup + p.time))
    for name, flows, run in todo:
        lab.sample("queue-%s.csv" % name, p.every, [port], begin=p.warmup)
        lab.traffic(net, "--seed", lab.seed * p.runs + run, "--time", "%dns" % (p.warmup + p.time), "--drain", "1ms",
                    "--series", lab.path("series-%s.csv" % name), "--every", "%dns" % (p.time // SERIES),
                    "bulk", "src=h2-h%d" % (p.hosts + 1), "dst=h1", "flows=%d" % flows, "cc=timely",
                    "jitter=%dns" % p.jitter)


# ---- on the host

def path_us(params):
    """Return: RTT without a queue as TIMELY measures it, without a segment's transmission time, µs."""
    return (4 * params.delay + (params.mtu + 2 * HEADERS + 3 * AROUND) * 8e9 / params.rate) / 1e3


def fixed_point_us(params, flows):
    """Return: RTT at patched TIMELY's fixed point, µs."""
    return params.t_low * (1 + flows * DELTA / params.beta)


class Case:
    """Results of all runs of a scheme with a number of flows."""

    def __init__(self, run, scheme, flows):
        p = run.params
        windows = [Window(run, scheme, name, p.rate, p.warmup, p.warmup + p.time, mtu=p.mtu)
                   for name, n, _ in cases(p) if n == flows]
        self.scheme, self.flows = scheme, flows
        self.jains = [w.jain for w in windows]
        half = p.warmup // 2
        self.before = [jain(goodputs(run.csv(scheme, "series-%s.csv" % name), half, half + p.time))
                       for name, n, _ in cases(p) if n == flows]
        # largest share over the smallest
        self.ratios = [max(w.goodputs) / max(min(w.goodputs), 1) for w in windows]
        self.shares = [w.share for w in windows]
        self.rtt = path_us(p) + mean([w.mean_us for w in windows])
        self.p99 = path_us(p) + max(w.quantile_us(0.99) for w in windows)
        self.drops = sum(w.drops for w in windows)

    def row(self, params):
        expected = fixed_point_us(params, self.flows) if self.scheme == "patched" else "-"
        return (self.scheme, self.flows, mean(self.shares), mean(self.before), mean(self.jains), min(self.jains),
                max(self.jains), quantile(self.ratios, 0.5), max(self.ratios), self.rtt, self.p99, expected, self.drops)


def report(run):
    some = {scheme: [Case(run, scheme, flows) for flows in run.params.flows] for scheme in run.schemes}
    run.text("%d runs for each number of flows; RTT in µs, the path's is %.1f" %
             (run.params.runs, path_us(run.params)), "")
    run.table(("scheme", "flows", "of max", "Jain before", "Jain: mean", "min", "max", "max/min: median", "max",
               "RTT: mean", "p99", "fixed point", "drops"),
              [c.row(run.params) for found in some.values() for c in found])
    run.claim("drops", "number of dropped packets", sum(c.drops for found in some.values() for c in found), "== 0")
    if not run.small:
        claim(run, some)
    if set(SCHEMES) == set(run.schemes):
        draw(run, some)


def claim(run, some):
    if "patched" in some:
        for c in some["patched"]:
            run.claim("patched-jain-%d" % c.flows, "patched, %d flows: smallest Jain's index" % c.flows,
                      min(c.jains), ">= 0.95")
            run.claim("patched-converges-%d" % c.flows,
                      "patched, %d flows: mean 1 - Jain over its earlier value" % c.flows,
                      (1 - mean(c.jains)) / max(1 - mean(c.before), 1e-6), "< 1")
            run.claim("patched-rtt-%d" % c.flows, "patched, %d flows: mean RTT over the fixed point's RTT" % c.flows,
                      c.rtt / fixed_point_us(run.params, c.flows), "0.75..1.25")
    for scheme in ("classic", "lively") if set(SCHEMES) == set(run.schemes) else ():
        for c, d in zip(some[scheme], some["patched"]):
            run.claim("%s-%d" % (scheme, c.flows), "%d flows: mean 1 - Jain of %s over patched's" % (
                c.flows, scheme), (1 - mean(c.jains)) / max(1 - mean(d.jains), 1e-6), "> 1")


def draw(run, some):
    figure, axes = run.figure("timely-fair", 1, 2, (9.6, 3.6))
    for scheme, found in some.items():
        axes[0].plot([c.flows for c in found], [mean(c.jains) for c in found], "o-", color=run.colour(scheme),
                     label=scheme)
        axes[1].plot([c.flows for c in found], [c.rtt for c in found], "o-", color=run.colour(scheme),
                     label=scheme + ": mean")
        axes[1].plot([c.flows for c in found], [c.p99 for c in found], "^:", color=run.colour(scheme),
                     label=scheme + ": p99")
    flows = run.params.flows
    axes[1].plot(flows, [fixed_point_us(run.params, n) for n in flows], "--", color=COLOURS[6],
                 label="patched: fixed point")
    axes[0].set(xscale="log", xlabel="flows", ylabel="Jain's index", ylim=(0.6, 1.02),
                title="Fairness")
    axes[1].set(xlabel="flows", ylabel="RTT, µs", ylim=(0, None), title="RTT")
    axes[0].set_xticks(flows, [str(n) for n in flows])
    axes[0].minorticks_off()
    for axis in axes:
        axis.legend()

# SPDX-License-Identifier: GPL-2.0-only
"""DCQCN's profiles paper and tuned: throughput, shares and a late joiner, for 2 to 64 flows at 10 to 100 Gbit/s.

All flows but one start within `jitter` and send to one host. The last flow joins them after `warmup`. The measurement
begins `settle` after that. Hosts and switch are those of dcqcn-fair. A scheme is a profile and the rate of all links:

    paper   the paper's parameters, bursts of two packets; the port marks from 5 to 200 KB with pmax of 20 %
    tuned   tcp_dcqcn's profile tuned, bursts by rate; the port marks up to 200 KB with pmax of 100 %, from 4 µs of the
            line rate (5 KB at 10 Gbit/s), at most 20 KB
"""
from closlab import dcqcn, topo
from closlab.params import RATES, Param, scaled
from closlab.results import mean, quantile
from closlab.tcp import SERIES, Window

PARAMS = [
    Param("delay", "time", "1500ns", "delay of each link; four delays are most of the RTT"),
    Param("hosts", "count", "16", "number of senders"),
    Param("flows", "count", "2,4,8,16,32,64", "numbers of flows, with the joiner", several=True, held_out=("2", "64")),
    Param("seg_kb", "count", "0", "burst size, KB; 0: that of the profile"),
    Param("cap", "time", "0us", "window of profile tuned at the line rate, as a time, at least 64 KB; 0: 100 µs"),
    Param("jitter", "time", "1ms", "interval in which all flows but the last start"),
    Param("warmup", "time", "10ms", "time at which the last flow starts"),
    Param("settle", "time", "20ms", "time between that and the measurement"),
    Param("time", "time", "20ms", "duration of the measurement"),
    Param("every", "time", "20us", "interval between queue samples"),
]
SMALL = {"hosts": "2", "flows": "2", "jitter": "100us", "warmup": "1ms", "settle": "1ms", "time": "2ms",
         "every": "100us"}
SCHEMES = tuple("%s-%dgbit" % (profile, rate) for profile in ("paper", "tuned") for rate in (10, 40, 100))


def split(scheme):
    """Return: (profile, rate) of a scheme."""
    profile, rate = scheme.split("-")
    return profile, scaled(rate, RATES, "rate")


# ---- in the guest

def guest(lab):
    p = lab.params
    profile, rate = split(lab.scheme)
    cap = max(p.cap * rate // (8 * 10**9 * 1024), 64) if p.cap and profile == "tuned" else 0
    dcqcn.load(lab, p.seg_kb, profile, cap)
    net = topo.star(p.hosts + 1, rate, p.delay)
    dcqcn.switch_qdiscs(net)
    net.build()
    marking = dcqcn.tuned_marking(rate) if profile == "tuned" else dcqcn.marking() + " pmax 20%"
    topo.run("tc", "-n", "switch", "qdisc", "change", "dev", "h1", "root", "dcqcn", *marking.split())
    begin = p.warmup + p.settle
    lab.expect(len(p.flows) * (begin + p.time))
    for flows in p.flows:
        lab.sample("queue-n%d.csv" % flows, p.every, [net.nodes["switch"].port("h1")], begin)
        common = "dst=h1", "cc=dcqcn"
        lab.traffic(net, "--time", "%dns" % (begin + p.time), "--drain", "1ms",
                    "--series", lab.path("series-n%d.csv" % flows), "--every", "%dns" % (p.time // SERIES),
                    "bulk", "src=h2-h%d" % (p.hosts + 1), *common, "flows=%d" % (flows - 1), "jitter=%dns" % p.jitter,
                    "--", "bulk", "src=h%d" % ((flows - 1) % p.hosts + 2), *common, "start=%dns" % p.warmup)
        dcqcn.drain()


# ---- on the host

class Case(Window):
    """Results of one number of flows; joined: rate of the joiner, relative to an equal share."""

    def __init__(self, run, scheme, flows):
        p = run.params
        begin = p.warmup + p.settle
        super().__init__(run, scheme, "n%d" % flows, split(scheme)[1], begin, begin + p.time)
        self.scheme, self.flows = scheme, flows
        equal = sum(self.goodputs) / flows
        self.least, self.joined = min(self.goodputs) / equal, self.goodputs[flows - 1] / equal

    def row(self):
        queue = self.queue_bytes
        return (self.scheme, self.flows, self.share, self.jain, self.least, self.joined, mean(queue) / 1e3,
                quantile(queue, 0.95) / 1e3, self.pauses, self.drops)


def report(run):
    some = {scheme: [Case(run, scheme, flows) for flows in run.params.flows] for scheme in run.schemes}
    run.text("Queue in KB; least, joiner: smallest share of a flow, share of the joiner, 1 if shares are equal", "")
    run.table(("scheme", "flows", "of max", "Jain", "least", "joiner", "queue: mean", "p95", "pauses", "drops"),
              [c.row() for cases in some.values() for c in cases])
    run.claim("drops", "number of dropped packets", sum(c.drops for cases in some.values() for c in cases), "== 0")
    if run.small:
        return
    for scheme, cases in some.items():
        for c in cases:
            name, text = "%s-%d" % (scheme, c.flows), "%s, %d flows: " % (scheme, c.flows)
            run.claim("share-" + name, text + "utilization of the link", c.share, ">= 0.975")
            run.claim("jain-" + name, text + "Jain's index", c.jain, ">= 0.99")
            run.claim("joiner-" + name, text + "rate of the joiner over an equal share", c.joined, "0.9..1.1")
            if scheme.startswith("tuned"):
                run.claim("pauses-" + name, text + "number of pauses", c.pauses, "== 0")
    if len(run.schemes) > 1:
        draw(run, some)


def draw(run, some):
    _, axes = run.figure("dcqcn-join", 1, 3, (12, 3.4))
    drawn = (("share", "goodput, relative to the maximum", (0.85, 1.01)), ("jain", "Jain's index", (0.94, 1.002)),
             ("joined", "joiner's rate, relative to an equal share", (0, 1.5)))
    for axis, (name, label, limits) in zip(axes, drawn):
        for scheme, cases in some.items():
            axis.plot([c.flows for c in cases], [getattr(c, name) for c in cases],
                      "o-" if scheme.startswith("tuned") else "x:", color=run.colour(scheme), label=scheme)
        axis.set(xscale="log", xlabel="flows", ylabel=label, ylim=limits)
        axis.set_xticks(run.params.flows, [str(n) for n in run.params.flows])
        axis.set_xticks([], minor=True)
    for axis, bars in zip(axes, ((0.975,), (0.99,), (0.9, 1.1))):
        for bar in bars:
            axis.axhline(bar, color="#666666", linewidth=0.8, linestyle=":")
    axes[0].legend(fontsize="small")

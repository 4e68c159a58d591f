# SPDX-License-Identifier: GPL-2.0-only
"""Unresponsive flows overload a trimming port: the delivered share of the payload, and its fairness.

After Fig. 2 of the NDP paper (SIGCOMM 2017). From 1 to 200 hosts send UDP at the full rate of their NICs to one host
behind one switch port, whose qdisc is sch_ndp in each of its modes. No host answers trimmed packets: the experiment is
about the queue alone, and a trimmed packet is a lost one.

All packets have the same length, so each sender is a clock: its packets arrive with a fixed period from a random time
on. With equal clocks (clocks=0), packets would arrive in the same order in every period, and senders with bad times
would lose forever. So the rates differ a little, which changes the order slowly.

Ideal goodput is an equal share of the link's payload rate with full packets: rate * payload / (flows * bytes on the
wire).
"""
import math
import random

from closlab import topo
from closlab.params import Param
from closlab.results import mean

PARAMS = [
    Param("flows", "count", "1,2,5,10,20,50,100,200", "numbers of flows, each from its own host", several=True),
    Param("mtu", "size", "9000,1500", "length of the packets with IP header", several=True),
    Param("clocks", "count", "1000", "maximum error of the senders' clocks, ppm"),
    Param("packets", "count", "80", "minimum duration of a measurement, packets of each flow"),
    Param("passes", "count", "250", "minimum duration of a measurement, changes of the packets' order"),
    Param("rate", "rate", "10gbit", "rate of all links"),
    Param("delay", "time", "1us", "delay of all links"),
    Param("limit", "count", "8", "data queue, packets; the header queue gets the same memory"),
    Param("ratio", "count", "10", "headers per data packet while both are queued"),
    Param("trim_size", "size", "64", "length of a trimmed packet"),
]
SMALL = {"flows": "12", "mtu": "1500", "ratio": "2", "clocks": "10000", "passes": "120"}
SCHEMES = ("ndp", "cp", "droptail")

UDP_PORT = 61199            # sch_ndp trims packets to this port
IP_UDP = 28                 # bytes of headers
ETHERNET = 14
ON_WIRE = 24                # check sequence, preamble, gap
PARTS = 10                  # of a measurement
SPAN = PARTS + 1.1          # one part before the measurement, and a margin after the last sample
LEAST = 1000                # minimum duration of a measurement, transmission times


def wire_ns(params, mtu):
    return (mtu + ETHERNET + ON_WIRE) * 8 * 10**9 / params.rate


def part_ns(params, mtu, flows):
    """Return: duration of a part of a measurement, ns."""
    periods = max(params.packets * flows, LEAST)
    if params.clocks:
        periods = max(periods, params.passes * 10**6 / params.clocks / flows)
    return math.ceil(periods * wire_ns(params, mtu) / PARTS)


def settings(params):
    return [(mtu, flows) for mtu in params.mtu for flows in params.flows]


def csv_name(what, setting):
    return "%s-%d-%d.csv" % ((what,) + setting)


# ---- in the guest

def guest(lab):
    params = lab.params
    lab.module("sch_ndp")
    net = topo.star(max(params.flows) + 1, params.rate, params.delay, mtu=max(params.mtu))
    rng = random.Random(lab.seed)
    for host in net.hosts()[1:]:
        host.port("switch").rate += round(params.rate * params.clocks * rng.uniform(-1, 1) / 10**6)
    net.build()
    # a ring of two frames, so that packets queue in the qdisc
    topo.run("ip", "-n", "switch", "link", "set", "h1", "type", "closwire", "ring", "2")
    lab.expect(sum(round(SPAN * part_ns(params, *setting)) for setting in settings(params)))
    for setting in settings(params):
        measure(lab, net, setting)


def measure(lab, net, setting):
    params = lab.params
    mtu, flows = setting
    part = part_ns(params, *setting)
    # a new qdisc for each measurement, because the header queue's memory depends on the packet length
    topo.run("tc", "-n", "switch", "qdisc", "add", "dev", "h1", "root", "ndp", "mode", lab.scheme,
             "limit", str(params.limit), "hlimit", str(params.limit * (mtu + ETHERNET)),
             "ratio", str(params.ratio), "trim_size", str(params.trim_size), "rts")
    lab.traffic(net, "--time", "%dns" % (SPAN * part), "--flows", lab.path(csv_name("flows", setting)),
                "--series", lab.path(csv_name("series", setting)), "--every", "%dns" % part,
                "blast", "src=h2-h%d" % (flows + 1), "dst=h1", "port=%d" % UDP_PORT, "size=%d" % (mtu - IP_UDP),
                "stagger=0", "jitter=%dns" % wire_ns(params, mtu))
    topo.run("tc", "-n", "switch", "qdisc", "del", "dev", "h1", "root")


# ---- on the host

class Point:
    """Results of a scheme and a setting, in percent of ideal."""

    def __init__(self, run, scheme, setting):
        params = run.params
        mtu, self.flows = setting
        samples = run.csv(scheme, csv_name("series", setting))
        first, last = (samples.where(time_ns=end(samples["time_ns"])) for end in (min, max))
        time = last["time_ns"][0] - first["time_ns"][0]
        ideal = time / wire_ns(params, mtu) / self.flows
        whole, short = ([b - a for a, b in zip(first[name], last[name])] for name in ("whole_packets", "short_packets"))
        if len(whole) != self.flows:
            raise ValueError("%s: samples of %d flows, not %d" % (scheme, len(whole), self.flows))
        goodput = sorted(100 * packets / ideal for packets in whole)
        self.mean = mean(goodput)
        self.worst = mean(goodput[:math.ceil(self.flows / 10)])
        self.headers = sum(short) / sum(whole)
        self.starved = whole.count(0)
        self.model = model(params, scheme, mtu, self.flows)


def model(params, scheme, mtu, flows):
    """Return: computed mean goodput: the share of the link that trimmed headers leave.

    All headers are sent, unless there are more than WRR permits (ndp), or than a FIFO full of headers holds (cp).
    """
    if scheme == "droptail":
        return 100
    header = (params.trim_size + ON_WIRE) / (mtu + ETHERNET + ON_WIRE)
    most = params.ratio if scheme == "ndp" else (mtu + ETHERNET) // params.trim_size
    return 100 * max((1 - flows * header) / (1 - header), 1 / (1 + most * header))


def report(run):
    points = {(scheme,) + setting: Point(run, scheme, setting)
              for scheme in run.schemes for setting in settings(run.params)}
    rows = [key[1:] + (key[0], p.mean, p.model, p.worst, p.worst / p.mean, p.headers, p.starved)
            for key, p in points.items()]
    run.table(("MTU", "flows", "mode", "mean %", "model %", "worst 10th %", "worst/mean", "headers/packet", "starved"),
              sorted(rows, key=lambda row: (-row[0], row[1])))
    draw(run, points)
    for mtu in run.params.mtu:
        claim(run, mtu, {scheme: [points[scheme, mtu, flows] for flows in run.params.flows] for scheme in run.schemes})


def claim(run, mtu, modes):
    """Make the claims for the modes that ran."""
    if "ndp" in modes:
        run.claim("ndp-mean-%d" % mtu, "ndp: smallest mean goodput, percent of ideal",
                  min(p.mean for p in modes["ndp"]), ">= 85")
        run.claim("ndp-worst-%d" % mtu, "ndp: smallest ratio of the worst tenth's goodput to the mean",
                  min(p.worst / p.mean for p in modes["ndp"]), ">= 0.7")
        run.claim("ndp-model-%d" % mtu, "ndp: largest difference of mean goodput and model, percent of ideal",
                  max(abs(p.mean - p.model) for p in modes["ndp"]), "<= 2")
    if "ndp" in modes and "cp" in modes:
        ndp, cp = modes["ndp"][-1], modes["cp"][-1]
        run.claim("cp-mean-%d" % mtu, "cp: mean goodput with %d flows over ndp's" % cp.flows,
                  cp.mean / ndp.mean, "<= 0.9")
        run.claim("cp-worst-%d" % mtu, "cp: goodput of the worst tenth of %d flows over ndp's" % cp.flows,
                  cp.worst / ndp.worst, "<= 0.75")


def draw(run, points):
    params = run.params
    figure, _ = run.figure("trim-overload", columns=len(params.mtu), size=(1.6 + 3.6 * len(params.mtu), 3.2))
    for mtu, axis in zip(params.mtu, figure.axes):
        for scheme in run.schemes:
            curve = [points[scheme, mtu, flows] for flows in params.flows]
            axis.plot(params.flows, [p.mean for p in curve], "o-", color=run.colour(scheme), markersize=4,
                      label=scheme + ": mean")
            axis.plot(params.flows, [p.worst for p in curve], "v--", color=run.colour(scheme), markersize=4,
                      label=scheme + ": worst tenth")
        axis.set_xscale("log")
        axis.set_xticks(params.flows, [str(flows) for flows in params.flows])
        axis.minorticks_off()
        axis.set_ylim(0, 104)
        axis.set_xlabel("unresponsive flows at line rate")
        axis.set_ylabel("goodput of a flow, % of ideal")
        axis.set_title("packets of %d bytes" % mtu)
    figure.axes[-1].legend(loc="center left", bbox_to_anchor=(1.02, 0.5))

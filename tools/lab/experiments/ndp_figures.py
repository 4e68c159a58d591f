# SPDX-License-Identifier: GPL-2.0-only
"""Four smaller figures of the NDP paper: priorities, collateral damage, a limited sender, and a slow path.

    priority    Fig. 10: a short message to a host that also receives `long` long messages, with priority 7 or with
                theirs; and alone
    burst       Fig. 18, 19: a long flow, and an incast of `burst` messages to a host at the same leaf as its receiver
    limited     Fig. 21: h1 sends to h2, h3, h4 and h5, and h6 sends to h5: h6 uses the capacity of h5's link that h1
                leaves
    slow-path   Fig. 22: one of the four paths between two racks has a tenth of the rate

Goodput counts acknowledged data. Fair goodput is the payload rate of a link that carries nothing but full packets.
"""
import math

from closlab import ndp, topo
from closlab.params import Param
from closlab.results import mean
from closlab.tcp import AROUND, SERIES, goodputs

PARAMS = [
    Param("mtu", "size", "9000", "MTU of all links"),
    Param("rate", "rate", "10gbit", "rate of all links"),
    Param("delay", "time", "5us", "delay of each link"),
    Param("limit", "count", "8", "data queue of a trimming port, packets"),
    Param("paths", "count", "256", "UDP source ports, which ECMP maps to paths"),
    Param("qdisc", "word", "fq", "qdisc of the hosts", choices=("fq", "pfifo_fast")),
    Param("warmup", "time", "5ms", "time before the measurement"),
    Param("time", "time", "20ms", "duration of the measurement"),
    Param("short", "size", "200k", "size of the short message"),
    Param("long", "count", "6", "long flows beside the short message"),
    Param("shorts", "count", "10", "number of short messages in sequence"),
    Param("burst", "count", "16", "messages of the incast"),
    Param("burst_bytes", "size", "900k", "size of each of them"),
    Param("every", "time", "100us", "interval between goodput samples"),
]
SMALL = {"warmup": "1ms", "time": "2ms", "shorts": "1", "burst": "4", "burst_bytes": "300k"}
SCHEMES = ("priority", "burst", "limited", "slow-path")
MEMORY = 4  # GiB

WINDOW = 30         # the module's default
PATHS = 4           # between two racks
SLOWER = 10         # factor of the slow path
SHORTS = ("alone", "preferred", "equal")


# ---- in the guest

def guest(lab):
    p = lab.params
    net, measure = {
        "priority": (topo.star(p.long + 2, p.rate, p.delay, p.mtu), priority),
        "burst": (topo.leaf_spine(2, PATHS, p.burst + 1, p.rate, p.delay, mtu=p.mtu), burst),
        "limited": (topo.star(6, p.rate, p.delay, p.mtu), limited),
        "slow-path": (topo.leaf_spine(2, PATHS, PATHS, p.rate, p.delay, mtu=p.mtu), slow_path),
    }[lab.scheme]
    for port in net.switch_ports():
        port.ring = 2       # packets queue in the qdisc
        port.qdisc = ndp.qdisc(p.limit)
    if lab.scheme == "slow-path":
        for port in (net.nodes["leaf1"].port("spine1"), net.nodes["spine1"].port("leaf1")):
            port.rate //= SLOWER
    lab.expect((p.warmup + p.time) * (len(SHORTS) if lab.scheme == "priority" else 1))
    ndp.build(lab, net, host_qdisc=p.qdisc, paths=p.paths)
    counts = ndp.counts(net)
    measure(lab, net)
    ndp.write_counts(lab.path("counts-all.csv"), net, counts)


def priority(lab, net):
    """Send the short messages one by one while the long flows last."""
    p = lab.params
    short = ["bulk", "src=h%d" % (p.long + 2), "dst=h1", "bytes=%d" % p.short, "flows=%d" % p.shorts, "name=short",
             "start=%dns" % p.warmup, "stagger=%dns" % (p.time // p.shorts), "transport=ndp"]
    long = ["--", "bulk", "src=h2-h%d" % (p.long + 1), "dst=h1", "transport=ndp"]
    for case, words in zip(SHORTS, ([], ["prio=7"] + long, long)):
        lab.traffic(net, "--time", "%dns" % (p.warmup + p.time), "--flows", lab.path("flows-%s.csv" % case),
                    *(short + words))


def burst(lab, net):
    """All hosts of the first rack send to the second; one of them sends a long flow to the first host there."""
    p = lab.params
    first = p.burst + 2
    flows(lab, net, p.every, "bulk", "src=h1", "dst=h%d" % first, "transport=ndp",
          "--", "incast", "src=h2-h%d" % (p.burst + 1), "dst=h%d" % (first + 1), "bytes=%d" % p.burst_bytes,
          "start=%dns" % p.warmup, "transport=ndp")


def limited(lab, net):
    flows(lab, net, math.gcd(lab.params.warmup, lab.params.time) // SERIES,
          "bulk", "src=h1", "dst=h2-h5", "transport=ndp", "--", "bulk", "src=h6", "dst=h5", "transport=ndp")


def slow_path(lab, net):
    """Each host of the first rack sends to one host of the second."""
    flows(lab, net, math.gcd(lab.params.warmup, lab.params.time) // SERIES,
          "bulk", "src=h1-h%d" % PATHS, "dst=h%d-h%d" % (PATHS + 1, 2 * PATHS), "transport=ndp")


def flows(lab, net, every, *words):
    p = lab.params
    lab.traffic(net, "--time", "%dns" % (p.warmup + p.time), "--drain", "0ns", "--flows", lab.path("flows-all.csv"),
                "--series", lab.path("series-all.csv"), "--every", "%dns" % every, *words)


# ---- on the host

def fair(params):
    """Return: the payload rate of a link with full packets, bit/s."""
    return params.rate * (params.mtu - ndp.NDP_HEADERS) / (params.mtu + AROUND)


def shares(run, scheme, begin=None, end=None):
    """Return: goodput of each flow relative to fair, by default during the measurement."""
    p = run.params
    found = goodputs(run.csv(scheme, "series-all.csv"), p.warmup if begin is None else begin,
                     p.warmup + p.time if end is None else end, "acked_bytes")
    return [goodput / fair(p) for goodput in found]


def report(run):
    for scheme, show in (("priority", show_priority), ("burst", show_burst), ("limited", show_limited),
                         ("slow-path", show_slow_path)):
        if scheme in run.schemes:
            show(run)
            run.claim(scheme + "-timeouts", scheme + ": number of timeouts",
                      ndp.count(run, scheme, "all", ndp.TIMEOUTS), "== 0")


def show_priority(run):
    p = run.params
    times = {}
    for case in SHORTS:
        rows = run.csv("priority", "flows-%s.csv" % case).where(name="short")
        times[case] = rows["fct_ns"]
    run.text("priority: completion time of a message of %d bytes, µs" % p.short, "")
    run.table(("beside long flows", "mean", "min", "max", "mean over alone"),
              [(case, mean(some) / 1e3, min(some) / 1e3, max(some) / 1e3, (mean(some) - mean(times["alone"])) / 1e3)
               for case, some in times.items()])
    if run.small:
        return
    more = {case: mean(some) - mean(times["alone"]) for case, some in times.items()}
    run.claim("priority-preferred", "additional time of a preferred short message beside long flows over the "
              "transmission time of an initial window of %d packets" % WINDOW,
              more["preferred"] / (WINDOW * (p.mtu + AROUND) * 8e9 / p.rate), "<= 1")
    run.claim("priority-equal", "additional time of an equal short message over that of a preferred one",
              more["equal"] / more["preferred"], ">= 3")


def show_burst(run):
    p = run.params
    rows = run.csv("burst", "flows-all.csv").where(name="incast")
    begin, end = min(rows["start_ns"]), max(start + fct for start, fct in zip(rows["start_ns"], rows["fct_ns"]))
    before = shares(run, "burst", 0, begin)[0]
    first = shares(run, "burst", begin - p.every, begin + 3 * p.every)[0]
    later = shares(run, "burst", begin + 3 * p.every, end)[0]
    run.text("burst: %d messages of %d bytes took %.1f µs. Goodput of the long flow relative to fair" % (
        p.burst, p.burst_bytes, (end - begin) / 1e3), "")
    run.table(("before", "first %d µs" % (3 * p.every // 1000), "later"), [(before, first, later)])
    if not run.small:
        run.claim("burst-rest",
                  "goodput of the long flow from %d µs after the start of the burst to its end, relative to "
                  "fair" % (3 * p.every // 1000), later, ">= 0.95")


def show_limited(run):
    *of_h1, of_h6 = shares(run, "limited")
    run.text("limited: goodput of the flows relative to fair", "")
    run.table(("h1-h2", "h1-h3", "h1-h4", "h1-h5", "h6-h5", "h1 sends", "h5 receives"),
              [tuple(of_h1) + (of_h6, sum(of_h1), of_h1[3] + of_h6)])
    if not run.small:
        run.claim("limited-h1", "goodput that h1 sends, relative to fair", sum(of_h1), ">= 0.95")
        run.claim("limited-h5", "goodput that h5 receives, relative to fair", of_h1[3] + of_h6, ">= 0.95")
        run.claim("limited-jain", "smallest goodput of h1's flows, relative to a quarter", 4 * min(of_h1), ">= 0.9")


def show_slow_path(run):
    """All flows share the full-rate paths and the slow path."""
    some = shares(run, "slow-path")
    equal = (PATHS - 1 + 1 / SLOWER) / PATHS
    run.text("slow-path: goodput of the flows, relative to an equal share of the paths' capacity", "")
    run.table(("mean", "min", "max"), [(mean(some) / equal, min(some) / equal, max(some) / equal)])
    if not run.small:
        run.claim("slow-path-mean", "mean goodput, relative to the paths' capacity", mean(some) / equal, ">= 0.9")
        run.claim("slow-path-least", "smallest goodput, relative to an equal share", min(some) / equal, ">= 0.85")

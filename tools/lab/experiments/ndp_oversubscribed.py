# SPDX-License-Identifier: GPL-2.0-only
"""An oversubscribed network with the NDP transport: completion times, and where packets are trimmed.

After Fig. 23 of the NDP paper (SIGCOMM 2017). There, the core has a fourth of the hosts' capacity, and each host always
has a number of flows to random hosts, with a new flow for each that ends. Here, the network is a leaf-spine network,
flow sizes are drawn from `sizes`, and each flow has its own socket. The n-th flow of a host is the same in all schemes;
the number of flows depends on their speed. Schemes:

    ndp         trimming ports of `limit` packets, a header queue of the same memory
    ndp-srpt    the same; a receiver pulls the flow with the fewest remaining bytes first
    dctcp       each flow has one path; ports of `buffer` bytes mark above `k`

Flows that start in the warm-up are not evaluated. When no more flows start, unfinished flows may complete.
"""
import math

from closlab import ndp, pcrp, topo
from closlab.params import Param
from closlab.results import mean, quantile

PARAMS = [
    Param("leaves", "count", "4", "number of leaf switches"),
    Param("spines", "count", "2", "number of spine switches; each leaf has one link to each"),
    Param("hosts", "count", "8", "hosts at each leaf"),
    Param("mtu", "size", "9000", "MTU of all links"),
    Param("rate", "rate", "10gbit", "rate of all links"),
    Param("delay", "time", "2us", "delay of each link"),
    Param("sizes", "word", "hadoop", "flow size distribution"),
    Param("flows", "count", "5,10", "numbers of concurrent flows of each host", several=True),
    Param("warmup", "time", "3ms", "time before the measurement"),
    Param("time", "time", "10ms", "duration of the measurement, in which flows begin"),
    Param("drain", "time", "10s", "time limit for unfinished flows"),
    Param("limit", "count", "8", "data queue of a trimming port, packets"),
    Param("paths", "count", "64", "UDP source ports, which ECMP maps to paths"),
    Param("window", "count", "0", "NDP's initial window, packets; 0: the module's default"),
    Param("buffer", "size", "1M", "buffer of TCP's port"),
    Param("k", "size", "98k", "marking threshold of TCP's port"),
    Param("rto_min", "time", "5ms", "TCP's minimum RTO"),
]
SMALL = {"leaves": "2", "spines": "1", "hosts": "2", "flows": "1", "warmup": "100us", "time": "500us"}
SCHEMES = ("ndp", "ndp-srpt", "dctcp")
MEMORY = 8  # GiB
NDP = SCHEMES[:2]
POLICIES = {"ndp": 0, "ndp-srpt": 2}    # net.ndp.pull_policy

TIERS = {"up": "leaf, up", "spine": "spine, down", "down": "leaf, to the host"}


# ---- in the guest

def network(params):
    return topo.leaf_spine(params.leaves, params.spines, params.hosts, params.rate, params.delay, mtu=params.mtu)


def guest(lab):
    p = lab.params
    net = network(p)
    frame = p.mtu + ndp.FRAME_HEADER
    for port in net.switch_ports():
        port.ring = 2       # packets queue in the qdisc
        port.qdisc = ndp.qdisc(p.limit) if lab.scheme in NDP else \
            ndp.beside(lab.scheme, frame, p.rate, p.buffer // frame, p.k // frame)
    for port in net.host_ports():
        port.ring, port.qdisc = 4, ndp.HOST_QDISC if lab.scheme in NDP else "fq"
    lab.expect(len(p.flows) * (p.warmup + p.time))
    if lab.scheme in NDP:
        ndp.build(lab, net, paths=p.paths, pull_policy=POLICIES[lab.scheme], initial_window=p.window or None)
    else:
        net.host_sysctls["ipv4/tcp_rto_min_us"] = str(p.rto_min // 1000)
        net.build()
    now = pcrp.counts(net)
    counts = ndp.counts(net) if lab.scheme in NDP else None
    for number in p.flows:
        lab.sample("ports-%d.csv" % number, p.time, net.switch_ports(), p.warmup)
        lab.traffic(net, "--time", "%dns" % (p.warmup + p.time), "--drain", "%dns" % p.drain,
                    "--flows", lab.path("flows-%d.csv" % number), "closed", "concurrency=%d" % number,
                    "cdf=" + pcrp.cdf(p.sizes), ndp.transport(lab.scheme))
        now = pcrp.write_hosts(lab.path("hosts-%d.csv" % number), net, now)
        if counts:
            counts = ndp.write_counts(lab.path("counts-%d.csv" % number), net, counts)


# ---- on the host

def tier(port):
    """Return: tier of a switch's port with the name NODE/NEIGHBOUR."""
    node, _, neighbour = port.partition("/")
    return "spine" if node.startswith("spine") else "up" if neighbour.startswith("spine") else "down"


class Case(pcrp.Flows):
    """Statistics of the flows that start after the warm-up, and of the ports during the measurement

    trims   {tier: trimmed packets}
    up      utilization of the links from leaves to spines
    """

    def __init__(self, run, scheme, number):
        p = run.params
        super().__init__(run, scheme, str(number), keep=lambda row: row["start_ns"] != "" and
                         row["start_ns"] >= p.warmup)
        self.count = lambda name: ndp.count(run, scheme, number, name)
        self.fct = [row["fct_ns"] / 1e3 for row in self.done]
        ports = run.csv(scheme, "ports-%d.csv" % number).rows()
        first = min(row["time_ns"] for row in ports)
        last = min(row["time_ns"] for row in ports if row["time_ns"] > first)
        self.trims = {name: 0 for name in TIERS}
        sent = 0
        for row in ports:
            sign = (row["time_ns"] == last) - (row["time_ns"] == first)
            self.trims[tier(row["port"])] += sign * row["trims"]
            sent += sign * row["sent_bytes"] * (tier(row["port"]) == "up")
        self.up = sent * 8e9 / ((last - first) * p.leaves * p.spines * p.rate)


def report(run):
    some = {(scheme, number): Case(run, scheme, number) for scheme in run.schemes for number in run.params.flows}
    run.text("Completion times, µs", "")
    run.table(("flows of a host", "scheme", "done", "median", "mean", "p90", "p99", "<= 10 KB: p99", "> 1 MB: mean",
               "uplink utilization", "timeouts"),
              [(number, scheme) + row(scheme, some[scheme, number]) for number in run.params.flows
               for scheme in run.schemes])
    trimming = [(number, scheme, some[scheme, number]) for number in run.params.flows for scheme in NDP
                if scheme in run.schemes]
    run.text("Trimmed, % of all sent packets with retransmissions; tiers of the trims in the measurement, %:", "")
    run.table(("flows of a host", "scheme", "trimmed %") + tuple(name + ", %" for name in TIERS.values()),
              [(number, scheme) + trims(case) for number, scheme, case in trimming])
    run.claim("done", "number of unfinished flows", sum(len(case.all) - len(case.done) for case in some.values()),
              "== 0")
    for scheme in NDP:
        if scheme in run.schemes:
            run.claim(scheme + "-timeouts", scheme + ": number of timeouts in all cases", sum(
                case.count(ndp.TIMEOUTS) for _, name, case in trimming if name == scheme), "== 0")
    if not run.small and "dctcp" in run.schemes:
        for number, scheme, case in trimming:
            other = some["dctcp", number]
            for name, q in (("median", 0.5), ("p99", 0.99)):
                run.claim("%s-%d-%s" % (scheme, number, name),
                          "%d flows of each host: %s completion time with dctcp over "
                          "%s" % (number, name, scheme), quantile(other.fct, q) / quantile(case.fct, q), "> 1")
        draw(run, some)


def row(scheme, case):
    timeouts = case.count(ndp.TIMEOUTS) if scheme in NDP else case.total("TcpExtTCPTimeouts")
    longer = [r["fct_ns"] / 1e3 for r in case.among(*pcrp.CLASSES[-1][1:])]
    shorter = [r["fct_ns"] / 1e3 for r in case.among(*pcrp.CLASSES[0][1:])]
    return (len(case.done), quantile(case.fct, 0.5), mean(case.fct), quantile(case.fct, 0.9), quantile(case.fct, 0.99),
            quantile(shorter or [math.nan], 0.99), mean(longer or [math.nan]), case.up, timeouts)


def trims(case):
    total = sum(case.trims.values())
    sent = case.count(ndp.NEW) + case.count(ndp.RTX)
    return (100 * case.count(ndp.NACKED) / sent,) + tuple(100 * case.trims[name] / max(1, total) for name in TIERS)


def draw(run, some):
    """Draw the distribution of completion times, an axis for each number of flows."""
    numbers = run.params.flows
    _, axes = run.figure("ndp-oversubscribed", 1, len(numbers), (4.2 * len(numbers), 3.2))
    for column, number in enumerate(numbers):
        axis = axes[column] if len(numbers) > 1 else axes
        for scheme in run.schemes:
            times = sorted(some[scheme, number].fct)
            axis.step(times, [(i + 1) / len(times) for i in range(len(times))], color=run.colour(scheme), label=scheme,
                      where="post")
        axis.set(xscale="log", title="%d flows of each host" % number, xlabel="completion time, µs",
                 ylabel="share of the flows")
    axis.legend(fontsize=7)

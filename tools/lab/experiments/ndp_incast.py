# SPDX-License-Identifier: GPL-2.0-only
"""Incast with the NDP transport: completion of the last of n messages relative to the optimum, and fairness.

After Fig. 4, 9, 16 and 20 of the NDP paper (SIGCOMM 2017). n hosts at one switch each send a message to the same host
at the same time, round after round:

    ndp             a trimming port of `limit` packets, a header queue of the same memory
    ndp-return      the same with a header queue of `headers` headers; further headers are returned to their senders
    dctcp, cubic    TCP; the port queues `buffer` packets, and for dctcp marks above `k`
    dctcp-short, cubic-short    the same with ndp's memory; dctcp's port marks above half of it

Each round has new sockets unless `connect` is `before`: NDP sends at once, and TCP opens a connection first. The
optimum is the time in which the receiver's link carries all packets of the n messages once, plus an RTT.
"""
from closlab import ndp, topo
from closlab.params import Param
from closlab.results import log_axis, mean, quantile
from closlab.tcp import AROUND

PARAMS = [
    Param("mtu", "size", "9000,1500", "MTU of all links", several=True),
    Param("senders", "count", "1,7,20,50,100,200,400", "numbers of senders", several=True, held_out=("7", "100")),
    Param("bytes", "size", "10k,135k,1M", "message sizes", several=True, held_out=("10k", "1M")),
    Param("rounds", "count", "10", "maximum number of rounds of a case"),
    Param("volume", "size", "300M", "maximum payload of a case's rounds, but at least three rounds"),
    Param("rate", "rate", "10gbit", "rate of all links"),
    Param("delay", "time", "5us", "delay of each link; an RTT has four"),
    Param("jitter", "time", "1us", "interval in which the messages of a round start"),
    Param("limit", "count", "8", "data queue of a trimming port, packets"),
    Param("headers", "count", "16", "header queue of ndp-return, headers"),
    Param("window", "count", "0", "NDP's initial window, packets; 0: the module's default"),
    Param("gso", "count", "0", "packets in a batch, which takes one path; 0: the module's default"),
    Param("connect", "word", "flow", "open sockets for each flow, or before the first flow",
          choices=("flow", "before")),
    Param("buffer", "count", "200", "buffer of TCP's port, packets"),
    Param("k", "count", "30", "marking threshold of dctcp's port, packets"),
    Param("rto_min", "time", "5ms", "TCP's shortest timeout"),
]
SMALL = {"mtu": "1500", "senders": "8", "bytes": "50k", "rounds": "2"}
SCHEMES = ("ndp", "ndp-return", "dctcp", "cubic", "dctcp-short", "cubic-short")
MEMORY = 8  # GiB
NDP = SCHEMES[:2]

TRIM_SIZE = 128
FAIR_BYTES = 100_000        # shorter messages end before rates can be shared
SHORT_BYTES = 20_000


def cases(params):
    """Return: [(name, MTU, senders, bytes)]."""
    return [("%d-%d-%d" % case,) + case
            for case in ((mtu, n, size) for mtu in params.mtu for n in params.senders for size in params.bytes)]


def rounds(params, senders, size):
    """Return: number of rounds of a case; rounds of many long messages hardly differ."""
    return min(params.rounds, max(3, params.volume // (senders * size)))


# ---- in the guest

def port_qdisc(params, scheme, mtu):
    """Return: qdisc of the switch's port to the receiver."""
    frame = mtu + 14
    if scheme == "ndp":
        return ndp.qdisc(params.limit)
    if scheme == "ndp-return":
        return ndp.qdisc(params.limit, params.headers * TRIM_SIZE)
    buffer, k = (2 * params.limit, params.limit) if scheme.endswith("-short") else (params.buffer, params.k)
    return ndp.beside(scheme, frame, params.rate, buffer, k)


def guest(lab):
    p = lab.params
    net = topo.star(max(p.senders) + 1, p.rate, p.delay, mtu=max(p.mtu))
    port = net.nodes["switch"].port("h1")
    port.ring = 2       # two frames, so that packets queue in the qdisc
    lab.expect(sum(round(rounds(p, *case[2:]) * optimum_ns(p, lab.scheme, *case[1:])) for case in cases(p)))
    if lab.scheme in NDP:
        ndp.build(lab, net, initial_window=p.window or None, gso_packets=p.gso or None)
    else:
        net.host_sysctls["ipv4/tcp_rto_min_us"] = str(p.rto_min // 1000)
        net.build()
    counts = ndp.counts(net) if lab.scheme in NDP else None
    for name, mtu, senders, size in cases(p):
        set_mtu(net, mtu)
        topo.run("tc", "-n", "switch", "qdisc", "add", "dev", "h1", "root", *port_qdisc(p, lab.scheme, mtu).split())
        lab.traffic(net, "--flows", lab.path("flows-%s.csv" % name), "incast", "src=h2-h%d" % (senders + 1),
                    "dst=h1", "bytes=%d" % size, "rounds=%d" % rounds(p, senders, size), "jitter=%dns" % p.jitter,
                    "connect=" + p.connect, ndp.transport(lab.scheme))
        topo.run("tc", "-n", "switch", "qdisc", "del", "dev", "h1", "root")
        if lab.scheme in NDP:
            counts = ndp.write_counts(lab.path("counts-%s.csv" % name), net, counts)


def set_mtu(net, mtu):
    """Set the hosts' MTU; no host sends longer packets."""
    if net.mtu != mtu:
        for host in net.hosts():
            topo.run("ip", "-n", host.name, "link", "set", "eth0", "mtu", str(mtu))
    net.mtu = mtu


# ---- on the host

def optimum_ns(params, scheme, mtu, senders, size):
    """Return: time in which the receiver's link carries all packets, plus an RTT of a packet and its ACK, ns."""
    header = ndp.headers(scheme)
    rtt = 4 * params.delay + 2 * (min(mtu, size + header) + header + 2 * AROUND) * 8e9 / params.rate
    return senders * ndp.wire_bytes(size, mtu, header) * 8e9 / params.rate + rtt


class Case:
    """Results of one case.

    last    completion time of the last message over the optimum, of each round
    spread  completion time of the slowest message over the fastest, of each round
    """

    def __init__(self, run, scheme, name, mtu, senders, size):
        self.scheme, self.mtu, self.senders, self.size = scheme, mtu, senders, size
        self.optimum = optimum_ns(run.params, scheme, mtu, senders, size)
        self.rounds = rounds(run.params, senders, size)
        flows = run.csv(scheme, "flows-%s.csv" % name)
        by_round = {}
        for number, start, fct in zip(flows["round"], flows["start_ns"], flows["fct_ns"]):
            by_round.setdefault(number, []).append((start, start + fct, fct))
        self.last = [(max(end for _, end, _ in some) - min(start for start, _, _ in some)) / self.optimum
                     for some in by_round.values()]
        self.spread = [max(fct for _, _, fct in some) / min(fct for _, _, fct in some) for some in by_round.values()]
        self.median = quantile(self.last, 0.5)
        self.tail = quantile(self.last, 0.9) / self.median
        self.count = lambda counter: ndp.count(run, scheme, name, counter)

    def row(self):
        return (self.mtu, self.senders, self.size, self.scheme, self.rounds, self.optimum / 1e3, self.median,
                quantile(self.last, 0.9), self.tail, max(self.last), mean(self.spread))


def report(run):
    points = {scheme: [Case(run, scheme, *case) for case in cases(run.params)] for scheme in run.schemes}
    run.text("Completion time of the last message over the optimum, and of the slowest over the fastest message", "")
    order = {scheme: i for i, scheme in enumerate(SCHEMES)}
    rows = [c.row() for some in points.values() for c in some]
    run.table(("MTU", "senders", "bytes", "scheme", "rounds", "optimum µs", "median", "p90", "p90/median", "max",
               "slowest/fastest"), sorted(rows, key=lambda row: (-row[0], row[1], row[2], order[row[3]])))
    report_counts(run, [c for scheme in NDP for c in points.get(scheme, ())])
    for scheme in NDP:
        if scheme in points:
            claim(run, scheme, points[scheme])
    if not run.small and set(run.schemes) == set(SCHEMES):
        claim_beside(run, points)
        draw(run, points)


def report_counts(run, some):
    run.text("Counters of the NDP hosts:", "")
    run.table(("MTU", "senders", "bytes", "scheme", "packets", "rtx %", "trimmed %", "returned %", "timeouts",
               "probes"),
              [(c.mtu, c.senders, c.size, c.scheme, c.count(ndp.NEW)) + tuple(
                  100 * c.count(name) / c.count(ndp.NEW) for name in (ndp.RTX, ndp.NACKED, ndp.BOUNCED)) +
               (c.count(ndp.TIMEOUTS), c.count(ndp.PROBES)) for c in some])


def claim(run, scheme, some):
    run.claim(scheme + "-timeouts", "%s: number of timeouts in all cases" % scheme,
              sum(c.count(ndp.TIMEOUTS) for c in some),
              "== 0")
    for mtu in run.params.mtu:
        those = [c for c in some if c.mtu == mtu]
        run.claim("%s-last-%d" % (scheme, mtu), "%s, MTU %d: largest median of the last message's time over the "
                  "optimum" % (scheme, mtu), max(c.median for c in those), "<= 1.1")
        run.claim("%s-tail-%d" % (scheme, mtu), "%s, MTU %d: largest p90 of that time over its median" %
                  (scheme, mtu), max(c.tail for c in those), "<= 1.1")
        shared = [c for c in those if c.size >= FAIR_BYTES]
        if shared and not run.small:
            run.claim("%s-spread-%d" % (scheme, mtu), "%s, MTU %d: largest ratio of the slowest to the fastest message "
                      "of at least %d bytes" % (scheme, mtu, FAIR_BYTES),
                      max(mean(c.spread) for c in shared), "<= 1.3")


def claim_beside(run, points):
    if min(run.params.bytes) >= SHORT_BYTES:
        return      # sizes that --held-out has drawn
    for other in SCHEMES[len(NDP):]:
        run.claim("beside-" + other, "smallest ratio of the last message's median time with %s to ndp's, messages "
                  "of less than %d bytes" % (other, SHORT_BYTES),
                  min(b.median * b.optimum / (a.median * a.optimum) for a, b in zip(points["ndp"], points[other])
                      if a.size < SHORT_BYTES), ">= 2")


def draw(run, points):
    """Draw median and p90 of the last message's time over the optimum, by number of senders."""
    params = run.params
    _, axes = run.figure("ndp-incast", len(params.mtu), len(params.bytes),
                         size=(3.4 * len(params.bytes), 2.9 * len(params.mtu)))
    for row, mtu in zip(axes, params.mtu):
        for axis, size in zip(row, params.bytes):
            for scheme in run.schemes:
                some = [c for c in points[scheme] if (c.mtu, c.size) == (mtu, size)]
                axis.plot([c.senders for c in some], [c.median for c in some], "o-", markersize=4,
                          color=run.colour(scheme), label=scheme)
                axis.plot([c.senders for c in some], [quantile(c.last, 0.9) for c in some], "v:", markersize=3,
                          color=run.colour(scheme))
            log_axis(axis.yaxis)
            axis.set_xlabel("senders")
            axis.set_ylabel("last message over optimum")
            axis.set_title("%d kB each, MTU %d" % (size // 1000, mtu))
    axes[0][-1].legend(loc="center left", bbox_to_anchor=(1.02, 0.5))

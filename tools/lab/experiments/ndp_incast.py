# SPDX-License-Identifier: GPL-2.0-only
"""Incast with the NDP transport: how close to the optimum is the last of n messages, and how fair is it?

After Fig. 4, 9, 16 and 20 of the NDP paper (SIGCOMM 2017). n hosts send a
message each to one host behind one switch, all at once, round after round:

    ndp             a trimming port of `limit` packets, a header queue of the same memory
    ndp-return      the same, but the header queue has room for `headers` headers; what it has no
                    room for goes back to its sender
    dctcp, cubic    TCP, the port queues `buffer` packets; for dctcp it marks those above `k`
    dctcp-short, cubic-short    the same with the memory that ndp has; dctcp's marks above half of it

Sockets are new in each round, unless `connect` says otherwise: NDP sends at once, TCP opens a
connection first. The optimum is the time in which the receiver's line carries all the packets of
the n messages, each once, and an RTT.
"""
from closlab import ndp, topo
from closlab.params import Param
from closlab.results import mean, quantile
from closlab.tcp import AROUND

PARAMS = [
    Param("mtu", "size", "9000,1500", "of all links", several=True),
    Param("senders", "count", "1,7,20,50,100,200,400", "hosts that send", several=True),
    Param("bytes", "size", "10k,135k,1M", "of a message", several=True),
    Param("rounds", "count", "10", "of each case, at most"),
    Param("volume", "size", "300M", "that the rounds of a case carry together; but there are three rounds"),
    Param("rate", "rate", "10gbit", "of all links"),
    Param("delay", "time", "5us", "of each link; four of them are the RTT"),
    Param("jitter", "time", "1us", "the messages of a round start within"),
    Param("limit", "count", "8", "packets that a trimming port queues"),
    Param("headers", "count", "16", "room of ndp-return's header queue"),
    Param("window", "count", "0", "packets of NDP's initial window; 0: the module's default"),
    Param("gso", "count", "0", "packets that leave as one, by one path; 0: the module's default"),
    Param("connect", "word", "flow", "sockets are of a flow, or there before the first", choices=("flow", "before")),
    Param("buffer", "count", "200", "packets that TCP's port queues"),
    Param("k", "count", "30", "packets above which dctcp's marks"),
    Param("rto_min", "time", "5ms", "TCP's shortest timeout"),
]
SMALL = {"mtu": "1500", "senders": "8", "bytes": "50k", "rounds": "2"}
SCHEMES = ("ndp", "ndp-return", "dctcp", "cubic", "dctcp-short", "cubic-short")
NDP = SCHEMES[:2]

TRIM_SIZE = 128
FAIR_BYTES = 100_000        # a message of fewer is over before there is anything to share
SHORT_BYTES = 20_000


def cases(params):
    """[(name, MTU, senders, bytes)]"""
    return [("%d-%d-%d" % case,) + case
            for case in ((mtu, n, size) for mtu in params.mtu for n in params.senders for size in params.bytes)]


def rounds(params, senders, size):
    """Of a case: those of many long messages show nearly the same."""
    return min(params.rounds, max(3, params.volume // (senders * size)))


# ---- in the guest

def port_qdisc(params, scheme, mtu):
    """Of the switch's port to the receiver."""
    frame = mtu + 14
    if scheme == "ndp":
        return ndp.qdisc(params.limit, mtu)
    if scheme == "ndp-return":
        return ndp.qdisc(params.limit, mtu, params.headers * TRIM_SIZE)
    buffer, k = (2 * params.limit, params.limit) if scheme.endswith("-short") else (params.buffer, params.k)
    return ndp.beside(scheme, frame, params.rate, buffer, k)


def guest(lab):
    p = lab.params
    net = topo.star(max(p.senders) + 1, p.rate, p.delay, mtu=max(p.mtu))
    port = net.nodes["switch"].port("h1")
    port.ring = 2       # what waits is to be in the qdisc: a frame on the line, one behind it
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
        lab.traffic(net, "--flows", lab.path("flows-%s.csv" % name), "incast", "senders=h2-h%d" % (senders + 1),
                    "dst=h1", "bytes=%d" % size, "rounds=%d" % rounds(p, senders, size), "jitter=%dns" % p.jitter,
                    "connect=" + p.connect, ndp.transport(lab.scheme))
        topo.run("tc", "-n", "switch", "qdisc", "del", "dev", "h1", "root")
        if lab.scheme in NDP:
            counts = ndp.write_counts(lab.path("counts-%s.csv" % name), net, counts)


def set_mtu(net, mtu):
    """Of the hosts: nobody sends longer packets."""
    if net.mtu != mtu:
        for host in net.hosts():
            topo.run("ip", "-n", host.name, "link", "set", "eth0", "mtu", str(mtu))
    net.mtu = mtu


# ---- on the host

def optimum_ns(params, scheme, mtu, senders, size):
    """The receiver's line carries all of them; and an RTT: a packet and its answer, without a queue."""
    header = ndp.headers(scheme)
    rtt = 4 * params.delay + 2 * (min(mtu, size + header) + header + 2 * AROUND) * 8e9 / params.rate
    return senders * ndp.wire_bytes(size, mtu, header) * 8e9 / params.rate + rtt


class Case:
    """What one case showed.

    last    of each round: when the last message had come, over the optimum
    spread  of each round: time of the slowest over that of the fastest
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
    run.text("Time of the last message over the optimum, and time of the slowest over the fastest, of so many rounds",
             "")
    order = {scheme: i for i, scheme in enumerate(SCHEMES)}
    rows = [c.row() for some in points.values() for c in some]
    run.table(("MTU", "senders", "bytes", "scheme", "rounds", "optimum us", "median", "p90", "p90/median", "max",
               "slowest/fastest"), sorted(rows, key=lambda row: (-row[0], row[1], row[2], order[row[3]])))
    report_counts(run, [c for scheme in NDP for c in points.get(scheme, ())])
    for scheme in NDP:
        if scheme in points:
            claim(run, scheme, points[scheme])
    if not run.small and set(run.schemes) == set(SCHEMES):
        claim_beside(run, points)
        draw(run, points)


def report_counts(run, some):
    run.text("What NDP's hosts have counted:", "")
    run.table(("MTU", "senders", "bytes", "scheme", "packets", "rtx %", "trimmed %", "returned %", "timeouts",
               "probes"),
              [(c.mtu, c.senders, c.size, c.scheme, c.count(ndp.NEW)) + tuple(
                  100 * c.count(name) / c.count(ndp.NEW) for name in (ndp.RTX, ndp.NACKED, ndp.BOUNCED)) +
               (c.count(ndp.TIMEOUTS), c.count(ndp.PROBES)) for c in some])


def claim(run, scheme, some):
    run.claim(scheme + "-timeouts", "%s: timeouts, in all cases" % scheme, sum(c.count(ndp.TIMEOUTS) for c in some),
              "== 0")
    for mtu in run.params.mtu:
        those = [c for c in some if c.mtu == mtu]
        run.claim("%s-last-%d" % (scheme, mtu), "%s, MTU %d: time of the last message over the optimum, median, the "
                  "worst case" % (scheme, mtu), max(c.median for c in those), "<= 1.1")
        run.claim("%s-tail-%d" % (scheme, mtu), "%s, MTU %d: p90 of that over the median, the worst case" %
                  (scheme, mtu), max(c.tail for c in those), "<= 1.1")
        shared = [c for c in those if c.size >= FAIR_BYTES]
        if shared and not run.small:
            run.claim("%s-spread-%d" % (scheme, mtu), "%s, MTU %d: time of the slowest over the fastest, messages of "
                      "%d bytes and more, the worst case" % (scheme, mtu, FAIR_BYTES),
                      max(mean(c.spread) for c in shared), "<= 1.3")


def claim_beside(run, points):
    for other in SCHEMES[len(NDP):]:
        run.claim("beside-" + other, "median time of the last message with %s over that with ndp, messages of less "
                  "than %d bytes, the least" % (other, SHORT_BYTES),
                  min(b.median * b.optimum / (a.median * a.optimum) for a, b in zip(points["ndp"], points[other])
                      if a.size < SHORT_BYTES), ">= 2")


def draw(run, points):
    """The time of the last message over the optimum, median and p90, over the number of senders."""
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
            axis.set_yscale("log")
            axis.set_xlabel("senders")
            axis.set_ylabel("last message, of optimum")
            axis.set_title("%d kB each, MTU %d" % (size // 1000, mtu))
    axes[0][-1].legend(loc="upper right")

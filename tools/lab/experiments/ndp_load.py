# SPDX-License-Identifier: GPL-2.0-only
"""Completion times of flows with realistic sizes over the NDP transport, beside dctcp and cubic.

Flows start as a Poisson process between any two hosts, independently of earlier flows. Each has its own sockets, and
is a message with NDP or a connection with TCP, except in "warm" ones. All schemes have the same flows at the same times:

    ndp             trimming ports of 8 frames in bytes, a header queue of the same memory; a receiver pulls its flows
                    in turn
    ndp-srpt        a receiver pulls the flow with the fewest remaining bytes first
    ndp-bands       the module's defaults, which are that and bands; ports send data of messages with a short rest
                    first, in `bands` bands
    dctcp, cubic    ports of `buffer` bytes; for dctcp they mark above `k`
    dctcp-warm      the same as dctcp, on persistent connections: `connections` of each pair of hosts are open before
                    the measurement, and a flow opens another one, which stays open, if all of its pair are busy
    dctcp-bands     the same as dctcp; hosts and ports send flows in `bands` strict bands by the same lengths as NDP's,
                    ACKs in the first; each band of a port has a buffer and marks
    dctcp-warm-bands    both

A case is named SIZES-LOAD. The load is the load of the hosts' links with TCP and its headers. Sizes in `hotspot` are
sent by all other hosts to one host, whose link has that load, because the traffic generator cannot start enough short
flows for all links. When no more flows start, unfinished flows may complete. Flows that start in the warm-up are not
evaluated.
"""
import math

from closlab import ndp, pcrp, topo
from closlab.params import Param
from closlab.results import log_axis, quantile
from closlab.tcp import AROUND

PARAMS = [
    Param("mtu", "size", "9000", "MTU of all links"),
    Param("rate", "rate", "10gbit", "rate of all links"),
    Param("delay", "time", "4us", "delay of each link; four delays are most of the RTT"),
    Param("topology", "word", "star", "16 hosts on a switch, or 4 at each of 4 leaves with 4 spines",
          choices=("star", "leaf-spine")),
    Param("hosts", "count", "16", "number of hosts on a star"),
    Param("sizes", "word", "websearch,homa-w3,homa-w4,homa-w5", "flow size distributions", several=True),
    Param("hotspot", "word", "homa-w3", "distributions whose flows all go to one host", several=True),
    Param("loads", "number", "0.5,0.7,0.8", "loads of the hosts' links", several=True),
    Param("cap", "size", "0", "size of longer flows, for transports with short messages; 0: no limit"),
    Param("warmup", "time", "3ms", "time before the measurement"),
    Param("time", "time", "20ms", "duration of the measurement, in which flows begin"),
    Param("flows", "count", "5000", "approximate maximum number of flows of a case, which may shorten it"),
    Param("drain", "time", "10s", "time limit for unfinished flows"),
    Param("limit", "count", "0", "data queue of a trimming port, packets; 0: the bytes of 8 frames"),
    Param("bands", "count", "6", "bands of schemes with bands"),
    Param("host", "word", "prio", "NDP hosts' qdisc: prio, which sends answers before data, or fq, which delays both",
          choices=("prio", "fq")),
    Param("window", "count", "0", "initial window of NDP, packets; 0: the module's default"),
    Param("paths", "count", "64", "UDP source ports, which ECMP maps to paths"),
    Param("buffer", "size", "1M", "buffer of TCP's port"),
    Param("k", "size", "98k", "marking threshold of dctcp's port"),
    Param("rto_min", "time", "5ms", "TCP's minimum RTO"),
    Param("connections", "count", "1", "connections of each pair of hosts that schemes with warm open before"),
    Param("idle_restart", "word", "on", "tcp_slow_start_after_idle of the same, by default on as in Linux: after an "
          "RTO without data, a connection begins with its initial window", choices=("on", "off")),
]
SMALL = {"hosts": "4", "sizes": "homa-w4", "loads": "0.5", "warmup": "100us", "time": "200us"}
SCHEMES = ("ndp", "ndp-srpt", "ndp-bands", "dctcp", "cubic", "dctcp-warm", "dctcp-bands", "dctcp-warm-bands")
MEMORY = 12  # GiB
FLOWS_MAX = 65536  # each message has a socket, so a flow; from half of this on, a receiver asks for a cookie first
NDP = SCHEMES[:3]
# net.ndp.pull_policy and bands of hosts, or the module's defaults
POLICIES = {"ndp": 0, "ndp-srpt": 2, "ndp-bands": None}
BANDS = {"ndp": 1, "ndp-srpt": 1, "ndp-bands": None}


def is_banded(scheme):
    return scheme.endswith("-bands")


def is_warm(scheme):
    return "-warm" in scheme


def cases(params):
    """Return: [(name, sizes, load)]."""
    return [("%s-%g" % case,) + case for case in ((sizes, load) for sizes in params.sizes for load in params.loads)]


def lines(params, sizes):
    """Return: number of links with the load."""
    return 1 if sizes in params.hotspot else params.hosts if params.topology == "star" else 16


def time_ns(params, sizes, load):
    """Return: duration in which evaluated flows of a case start, ns."""
    flows = params.flows * pcrp.wire_bytes(pcrp.mean_bytes(sizes, params.cap)) * 8e9 / (
        load * params.rate * lines(params, sizes))
    return int(min(params.time, flows))


# ---- in the guest

def network(params):
    if params.topology == "star":
        return topo.star(params.hosts, params.rate, params.delay, mtu=params.mtu)
    return topo.leaf_spine(4, 4, 4, params.rate, params.delay, mtu=params.mtu)


def build(lab, net):
    """Build the network with short rings, so that packets queue in the qdiscs."""
    p = lab.params
    frame = p.mtu + ndp.FRAME_HEADER
    bands = p.bands if is_banded(lab.scheme) else 1
    if lab.scheme in NDP:
        host, switch = ndp.HOST_QDISC if p.host == "prio" else "fq", ndp.qdisc(p.limit, bands=bands)
    else:
        host, switch = "fq", ndp.beside(lab.scheme, frame, p.rate, p.buffer // frame, p.k // frame)
        if bands > 1:
            host, switch = ndp.strict(bands, host), ndp.strict(bands, switch)
    for port in net.switch_ports():
        port.ring, port.qdisc = 2, switch
    for port in net.host_ports():
        port.ring, port.qdisc = 4, host
    if lab.scheme in NDP:
        ndp.build(lab, net, paths=p.paths, pull_policy=POLICIES[lab.scheme], bands=BANDS[lab.scheme],
                  initial_window=p.window or None, flows_max=FLOWS_MAX)
    else:
        net.host_sysctls["ipv4/tcp_rto_min_us"] = str(p.rto_min // 1000)
        restart = "0" if is_warm(lab.scheme) and p.idle_restart == "off" else "1"
        net.host_sysctls["ipv4/tcp_slow_start_after_idle"] = restart
        net.build()


def guest(lab):
    p = lab.params
    net = network(p)
    lab.expect(sum(p.warmup + time_ns(p, sizes, load) for _, sizes, load in cases(p)))
    build(lab, net)
    hosts = len(net.hosts())
    now = pcrp.counts(net)
    counts = ndp.counts(net) if lab.scheme in NDP else None
    for name, sizes, load in cases(p):
        time = p.warmup + time_ns(p, sizes, load)
        words = [ndp.transport(lab.scheme)]
        if is_warm(lab.scheme):
            words += ["connect=before", "concurrency=%d" % p.connections]
        if lab.scheme not in NDP and is_banded(lab.scheme):
            words.append("bands=%d" % p.bands)
        if sizes in p.hotspot:
            words += ["src=h2-h%d" % hosts, "dst=h1"]
            load /= hosts - 1
        now = pcrp.poisson(lab, net, now, name, time, p.drain, load, sizes, *words, cap=p.cap)
        if counts:
            counts = ndp.write_counts(lab.path("counts-%s.csv" % name), net, counts)


# ---- on the host

class Flows(pcrp.Flows):
    """Statistics of the flows that start after the warm-up, and

    goodput     goodput of all flows during the measurement relative to the shared links' capacity, assuming that each
                flow has a constant rate
    drained_ms  time from then to the end of the last flow
    packets     number of packets of all flows, including the warm-up, without retransmissions
    connected   number of flows that opened a connection, or a socket with NDP
    """

    def __init__(self, run, scheme, name, sizes, load):
        p = run.params
        super().__init__(run, scheme, name, keep=lambda row: row["start_ns"] == "" or row["start_ns"] >= p.warmup)
        self.count = lambda counter: ndp.count(run, scheme, name, counter)
        payload = p.mtu - ndp.headers(scheme)
        time = time_ns(p, sizes, load)
        end = p.warmup + time
        self.connected = sum(row["connected"] for row in self.all)
        received = self.packets = 0
        for row in run.csv(scheme, "flows-%s.csv" % name).where(state="done").rows():
            begin, ns = row["start_ns"], row["fct_ns"]
            received += row["bytes"] * max(0, min(end, begin + ns) - max(p.warmup, begin)) / ns
            self.packets += math.ceil(row["bytes"] / payload)
        self.goodput = received * 8e9 / (time * lines(p, sizes) * p.rate * payload / (p.mtu + AROUND))
        self.drained_ms = max(row["start_ns"] + row["fct_ns"] - end for row in self.done) / 1e6


SIZES = (("<= 1 KB", 0, 1000), ("<= 10 KB", 1000, 10_000), *pcrp.CLASSES[1:])
SHORT, LONG = (0, pcrp.SHORT[-1][2]), pcrp.CLASSES[-1][1:]


def report(run):
    some = {(scheme, case[0]): Flows(run, scheme, *case) for scheme in run.schemes
            for case in cases(run.params)}
    for name, *_ in cases(run.params):
        run.text(name, "")
        run.table(("scheme", "flows", "done", "unfinished", "slowdown: mean", "p50", "p99", "95 % range",
                   "FCT, µs: mean", "p99"),
                  [(scheme,) + row for scheme in run.schemes for row in some[scheme, name].rows()])
        run.table(("scheme", "FCT of all, µs", "goodput", "drained, ms", "trimmed or dropped %", "retransmitted %",
                   "timeouts", "connected"),
                  [(scheme,) + totals(scheme, some[scheme, name]) for scheme in run.schemes])
    summary(run, some)
    by_size(run, some)
    run.claim("done", "number of unfinished flows", sum(len(flows.all) - len(flows.done) for flows in some.values()),
              "== 0")
    run.claim("generator", "number of flows that the generator was too slow to start",
              sum(flows.missed for flows in some.values()), "== 0")
    for scheme in NDP:
        if scheme in run.schemes:
            run.claim(scheme + "-timeouts", scheme + ": number of timeouts in all cases",
                      sum(some[scheme, name].count(ndp.TIMEOUTS) for name, *_ in cases(run.params)), "== 0")
    if not run.small:
        for name, *_ in cases(run.params):
            claim(run, name, {scheme: some[scheme, name] for scheme in run.schemes})
        draw(run, some)


def summary(run, some):
    run.text("Slowdown of short flows, up to 100 KB, and of long flows, above 1 MB", "")
    rows = []
    for name, *_ in cases(run.params):
        for scheme in run.schemes:
            flows = some[scheme, name]
            _, goodput, _, lost, _, timeouts, _ = totals(scheme, flows)
            rows.append((name, scheme, len(flows.among(*SHORT)), flows.mean(*SHORT), flows.quantile(0.99, *SHORT),
                         "%.3g..%.3g" % tuple(flows.quantile_range(0.99, *SHORT)), len(flows.among(*LONG)),
                         flows.mean(*LONG), flows.quantile(0.99, *LONG), goodput, lost, timeouts))
    run.table(("case", "scheme", "short", "mean", "p99", "95 % range", "long", "mean", "p99", "goodput",
               "trimmed or dropped %", "timeouts"), rows)


def by_size(run, some):
    for title, unit, column in (("Slowdown", 1, "slowdown"), ("Completion time, µs,", 1e3, "fct_ns")):
        run.text(title + " by size: median and 99th percentile", "")
        rows = []
        for name, *_ in cases(run.params):
            for scheme in run.schemes:
                row = [name, scheme]
                for _, *sizes in SIZES:
                    values = [flow[column] / unit for flow in some[scheme, name].among(*sizes)]
                    row += [quantile(values, q) if values else "" for q in (0.5, 0.99)]
                rows.append(row)
        run.table(["case", "scheme"] + [word for label, *_ in SIZES for word in (label + ": p50", "p99")], rows)


def totals(scheme, flows):
    """Return: the other columns of a scheme's row; counts include the warm-up."""
    if scheme in NDP:
        lost, again, timeouts = (flows.count(name) for name in (ndp.NACKED, ndp.RTX, ndp.TIMEOUTS))
    else:
        lost, again, timeouts = (flows.total(name) for name in ("switch_drops", "TcpRetransSegs",
                                                                "TcpExtTCPTimeouts"))
    return (flows.fct_us(), flows.goodput, flows.drained_ms, 100 * lost / flows.packets, 100 * again / flows.packets,
            timeouts, flows.connected)


def claim(run, name, some):
    """Claim that short flows have a better tail than with dctcp, and that long flows lose little."""
    for scheme in NDP:
        for rival in (s for s in some if s.startswith("dctcp")):
            if scheme in some:
                claim_tail(run, "%s-%s%s" % (name, scheme, rival[len("dctcp"):]), some, scheme, rival)
        if not {scheme, "dctcp"} <= set(some):
            continue
        own, other = some[scheme], some["dctcp"]
        if own.among(*LONG):
            found, off = own.ratio(other, *LONG)
            run.claim("%s-%s-long" % (name, scheme), "mean slowdown of flows > 1 MB: %s over dctcp; +- %.2g" % (
                scheme, off), found, "<= 1.3")


def claim_tail(run, ident, some, scheme, rival):
    own, other = some[scheme], some[rival]
    (least, most), (own_least, own_most) = (f.quantile_range(0.99, *SHORT) for f in (other, own))
    run.claim(ident, "p99 slowdown of flows <= 100 KB: %s over %s; %.3g to %.3g" % (
        rival, scheme, least / own_most, most / own_least),
              other.quantile(0.99, *SHORT) / own.quantile(0.99, *SHORT), "> 1")


def draw(run, some):
    """Draw slowdown by size: a column for each distribution, two rows for each load, tail above mean."""
    places = {name: i for i, (name, *_) in enumerate(pcrp.CLASSES)}
    p = run.params
    _, axes = run.figure("ndp-load", 2 * len(p.loads), len(p.sizes), (2.3 * len(p.sizes) + 1, 3.6 * len(p.loads)))
    for name, sizes, load in cases(p):
        for half, (what, place) in enumerate((("p99", 5), ("mean", 3))):
            line, column = 2 * p.loads.index(load) + half, p.sizes.index(sizes)
            axis = axes[line][column] if len(p.sizes) > 1 else axes[line]
            for scheme in run.schemes:
                points = [(places[row[0]], row[place]) for row in some[scheme, name].rows()]
                axis.plot(*zip(*points), "o-", color=run.colour(scheme), label=scheme, markersize=3, linewidth=1)
            axis.set(title=name if half == 0 else "")
            log_axis(axis.yaxis)
            axis.set_xticks(range(len(places)), ["10k", "100k", "1M", ">1M"], fontsize=7)
            axis.set_ylabel("slowdown, " + what if column == 0 else "")
    axis.legend(fontsize=6)

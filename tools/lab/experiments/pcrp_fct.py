# SPDX-License-Identifier: GPL-2.0-only
"""PCRP's main result: completion times of short and long flows beside cubic, dctcp and other grains of reservation.

K. Wu et al., "Network Congestion Avoidance through Packet-chaining Reservation", ICPP 2019: flow latency is 50.2 %
lower for hotspot traffic, and 28.38 % lower for uniform traffic, than with SRP and BFRP, which reserve for whole flows
and for single packets. The paper simulates another kind of network. Here, all schemes are TCP on Ethernet:

    cubic, dctcp    with fq
    dctcp-bands     dctcp with the switches' priorities: a flow's length is known when it begins, and determines one of
                    eight strict bands at its host, each with fq, and at the switches
    pcrp            over cubic, sch_pcrp's defaults but noevict, as in the paper
    pcrp-dctcp      the same over dctcp
    pcrp-evict      over cubic, sch_pcrp's defaults, which are profile tuned: a shorter flow replaces a longer one
    pcrp-paper      over cubic, profile paper, on a lossless fabric: the switches have PFC for all priorities. pcrpd runs,
                    and has seen each case's flows once before they are measured
    per-flow        stand-in for SRP, reservation for whole flows: after its first packet, a flow waits for its turn at
                    the receiver, one flow at a time
    per-packet      stand-in for BFRP, reservation for each packet of several flows in turn; no GSO

The switches have eight strict priorities and the same buffer for all schemes; with PFC their ports share it. Before
the measurement, each host sends to every other host, so that all know each other. A case is named SIZES-LOAD, like
homa-w4-0.7. Flows arrive as a Poisson process:

    uniform     between any two hosts
    hotspot     from all other hosts to one host. Flows of the size distribution `hotspot` have 10 KB or 100 to 1000
                times as much

When no more flows start, unfinished flows may complete.
"""
import contextlib

from closlab import ndp, pcrp, topo
from closlab.params import BadValue, Param
from closlab.results import log_axis, mean

PARAMS = [
    Param("rate", "rate", "10gbit", "rate of all links"),
    Param("delay", "time", "4us", "delay of each link; four delays are most of the RTT"),
    Param("topology", "word", "star", "16 hosts on a switch, or 4 at each of 4 leaves with 4 spines",
          choices=("star", "leaf-spine")),
    Param("hosts", "count", "16", "number of hosts on a star"),
    Param("uniform", "word", "websearch-0.7,websearch-0.5,websearch-0.8,homa-w4-0.7,homa-w5-0.7",
          "cases; load of each host's link, with headers and handshakes; claims are for the first case's load",
          several=True),
    Param("hotspot", "word", "hotspot-0.8,homa-w3-0.5", "cases; load of the link to the common receiver",
          several=True),
    Param("flows", "count", "10000", "approximate maximum number of flows of a case"),
    Param("bytes", "size", "2G", "approximate maximum payload of a case"),
    Param("drain", "time", "10s", "time limit for unfinished flows"),
    Param("buffer", "size", "1M", "buffer of each port"),
    Param("k", "size", "98k", "dctcp's marking threshold"),
    Param("sndbuf", "size", "16384",
          "initial send buffer of a socket; if it exceeds the longest flow, sch_pcrp knows "
          "each flow's size from its start, as in the paper"),
    Param("gso", "size", "11600", "longest GSO packet of hosts with PCRP: half of the bandwidth-delay product"),
]
SMALL = {"hosts": "3", "uniform": "homa-w4-0.5", "hotspot": "hotspot-0.8", "flows": "12", "bytes": "2M"}
SCHEMES = ("cubic", "dctcp", "dctcp-bands", "pcrp", "pcrp-dctcp", "pcrp-evict", "pcrp-paper", "per-flow", "per-packet")
BANDED = "dctcp-bands"
OTHERS = ("cubic", "dctcp", BANDED)
BANDS = len(pcrp.DSCPS)
TUNED, AS_PAPER = "pcrp-evict", "pcrp-paper"
STAND_INS = ("per-flow", "per-packet")

# options of sch_pcrp
QDISC = {
    "pcrp": "noevict",
    "pcrp-dctcp": "noevict",
    TUNED: "profile tuned",
    AS_PAPER: "profile paper",
    "per-flow": "first 1500 chain 1gb grants 1 noevict nosrpt mfwt off",
    "per-packet": "first 1500 chain 1500 noevict nosrpt mfwt off",
}
PAPER = {"hotspot": -0.502, "uniform": -0.2838}


class Case:
    """A word of `uniform` or `hotspot`."""

    def __init__(self, name, kind):
        self.name, self.kind = name, kind
        self.sizes, _, load = name.rpartition("-")
        try:
            self.load = float(load)
        except ValueError:
            raise BadValue("%r is not a case; cases are SIZES-LOAD, like websearch-0.7" % name) from None

    def time_ns(self, params, hosts):
        """Return: duration in which the maximum flows or bytes start, ns."""
        size = pcrp.wire_bytes(pcrp.mean_bytes(self.sizes))
        lines = hosts if self.kind == "uniform" else 1
        return int(min(params.flows * size, params.bytes) * 8e9 / (self.load * params.rate * lines))


def cases(params):
    return [Case(name, kind) for kind in ("uniform", "hotspot") for name in getattr(params, kind) if name]


# ---- in the guest

def network(params):
    if params.topology == "star":
        return topo.star(params.hosts, params.rate, params.delay)
    return topo.leaf_spine(4, 4, 4, params.rate, params.delay)


def host_qdisc(scheme):
    if scheme == BANDED:
        return ndp.strict(BANDS, "fq")
    return "fq" if scheme in OTHERS else "pcrp " + QDISC[scheme]


def build(lab, net):
    p = lab.params
    least, _, most = net.host_sysctls["ipv4/tcp_wmem"].split()
    net.host_sysctls["ipv4/tcp_wmem"] = " ".join((least, str(p.sndbuf), most))
    pcrp.build(lab, net, host_qdisc(lab.scheme), p.buffer,
               p.k if "dctcp" in lab.scheme else None, p.gso, pfc=lab.scheme == AS_PAPER)
    for host in net.hosts() if lab.scheme == "per-packet" else ():
        topo.run("ip", "-n", host.name, "link", "set", "eth0", "gso_max_segs", "1")


def guest(lab):
    p = lab.params
    net = network(p)
    hosts = len(net.hosts())
    todo = [(case, case.time_ns(p, hosts)) for case in cases(p)]
    build(lab, net)
    learns = lab.scheme == AS_PAPER
    lab.expect(sum(length for _, length in todo) * (1 + learns))
    pcrp.warm(lab, net)
    with pcrp.pcrpd(net) if learns else contextlib.nullcontext():
        now = pcrp.counts(net)
        for case, length in todo:
            words = ["cc=" + ("dctcp" if "dctcp" in lab.scheme else "cubic")]
            words += ["bands=%d" % BANDS] if lab.scheme == BANDED else []
            if case.kind == "hotspot":
                words += ["src=h2-h%d" % hosts, "dst=h1"]
            load = case.load / (hosts - 1 if case.kind == "hotspot" else 1)
            for name in (["learned-" + case.name] if learns else []) + [case.name]:
                now = pcrp.poisson(lab, net, now, name, length, p.drain, load, case.sizes, *words)
            if learns:
                pcrp.write_thresholds(lab.path("thresholds-%s.csv" % case.name), net)


# ---- on the host

def report(run):
    some = {(scheme, case.name): pcrp.Flows(run, scheme, case.name) for scheme in run.schemes
            for case in cases(run.params)}
    for case in cases(run.params):
        run.text("%s, %s" % (case.name, case.kind), "")
        run.table(("scheme", "flows", "done", "unfinished", "slowdown: mean", "p50", "p99", "95 % range",
                   "FCT, µs: mean", "p99"),
                  [(scheme,) + row for scheme in run.schemes for row in some[scheme, case.name].rows()])
        run.table(("scheme", "FCT of all, µs", "control, %", "PROBEs", "switch drops", "pauses", "retransmitted",
                   "DSACKs", "reorderings", "loss probes", "TCP timeouts", "SYNs again"),
                  [(scheme,) + totals(some[scheme, case.name]) for scheme in run.schemes])
    run.claim("done", "number of unfinished flows", sum(len(flows.all) - len(flows.done) for flows in some.values()),
              "== 0")
    run.claim("generator", "number of flows that the generator was too slow to start",
              sum(flows.missed for flows in some.values()), "== 0")
    if not run.small:
        claim(run, some)
        draw(run, some)


def totals(flows):
    return (flows.fct_us(), 100 * flows.control_share()) + tuple(flows.total(name) for name in (
        "probes_sent", "switch_drops", "switch_pauses", "TcpRetransSegs", "TcpExtTCPDSACKRecv", "TcpExtTCPSACKReorder",
        "TcpExtTCPLossProbes", "TcpExtTCPTimeouts", "TcpExtTCPSynRetrans"))


SHORT, LONG = (0, pcrp.SHORT[-1][2]), pcrp.CLASSES[-1][1:]


def claim(run, some):
    """Claim what the schemes and cases that ran can show."""
    if {TUNED, AS_PAPER} <= set(run.schemes):
        claim_tuned(run, some)
    if "pcrp" not in run.schemes:
        return
    uniform, hotspot = ([case for case in cases(run.params) if case.kind == kind] for kind in ("uniform", "hotspot"))
    for case in uniform:
        if case.load == uniform[0].load:
            claim_bars(run, case.name, {scheme: some[scheme, case.name] for scheme in run.schemes})
    for case in uniform[:1] + hotspot[:1] if set(STAND_INS) <= set(run.schemes) else ():
        claim_paper(run, case.kind, some, case.name)
    own = [some["pcrp", case.name] for case in uniform + hotspot]
    run.claim("overhead", "largest share of pcrp's control packets in all bytes", max(f.control_share() for f in own),
              "< 0.01")
    run.claim("timeouts", "number of TCP timeouts of hosts with pcrp", sum(f.total("TcpExtTCPTimeouts") for f in own),
              "== 0")


def claim_bars(run, name, some):
    """Claim a tail of short flows a third of cubic's and below dctcp's, at a limited cost for long flows."""
    own = some["pcrp"]
    for scheme, bar in (("cubic", ">= 3"), ("dctcp", "> 1"), (BANDED, "> 1")):
        if scheme not in some:
            continue
        run.claim("%s-%s" % (name, scheme), "p99 slowdown of flows <= 100 KB: %s over pcrp" % scheme,
                  some[scheme].quantile(0.99, *SHORT) / own.quantile(0.99, *SHORT), bar)
        run.claim("%s-%s-long" % (name, scheme), "mean slowdown of flows > 1 MB: pcrp over %s" % scheme,
                  own.ratio(some[scheme], *LONG)[0], "<= 1.3")


def claim_tuned(run, some):
    """Claim that profile tuned has the shorter tail and mean, and that the fabric of profile paper is lossless."""
    for case in cases(run.params):
        paper, tuned = (some[scheme, case.name] for scheme in (AS_PAPER, TUNED))
        run.claim("%s-paper-tail" % case.name, "p99 slowdown of flows <= 100 KB: profile paper over tuned",
                  paper.quantile(0.99, *SHORT) / tuned.quantile(0.99, *SHORT), "> 1")
        run.claim("%s-paper-long" % case.name, "mean slowdown of flows > 1 MB: profile paper over tuned",
                  paper.ratio(tuned, *LONG)[0], "> 1")
        run.claim("%s-paper-mean" % case.name, "mean FCT of all flows: profile paper over tuned",
                  paper.fct_us() / tuned.fct_us(), "> 1")
    run.claim("paper-lossless", "number of packets that switches with PFC dropped",
              sum(some[AS_PAPER, case.name].total("switch_drops") for case in cases(run.params)), "== 0")


def claim_paper(run, kind, some, name):
    """Compare with the mean of the stand-ins, because the paper has one number for both; the table has each."""
    own, *others = (some[scheme, name].fct_us() for scheme in ("pcrp",) + STAND_INS)
    run.text("%s: mean FCT of pcrp, relative to each stand-in's" % name, "")
    run.table(("stand-in", "pcrp"), [(scheme, own / fct - 1) for scheme, fct in zip(STAND_INS, others)])
    run.claim(kind, "mean FCT, %s: pcrp relative to the mean of the stand-ins (the paper: %.1f %%)" % (
        name, 100 * PAPER[kind]), own / mean(others) - 1, "<= %g" % PAPER[kind])


def draw(run, some):
    """Draw slowdown by size: a column for each case, tail above mean."""
    todo = cases(run.params)
    places = {name: i for i, (name, *_) in enumerate(pcrp.CLASSES)}
    _, axes = run.figure("pcrp-fct", 2, len(todo), (2.1 * len(todo) + 1, 5))
    for column, case in enumerate(todo):
        for line, (what, place) in enumerate((("p99", 5), ("mean", 3))):
            axis = axes[line][column] if len(todo) > 1 else axes[line]
            for scheme in run.schemes:
                points = [(places[row[0]], row[place]) for row in some[scheme, case.name].rows()]
                axis.plot(*zip(*points), "o-", color=run.colour(scheme), label=scheme, markersize=3, linewidth=1)
            axis.set(title=case.name if line == 0 else "")
            log_axis(axis.yaxis)
            axis.set_xticks(range(len(places)), ["10k", "100k", "1M", ">1M"], fontsize=7)
            axis.set_ylabel("slowdown, " + what if column == 0 else "")
    axis.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.02, 0.5))

# SPDX-License-Identifier: GPL-2.0-only
"""PCRP's parts one by one: the effect of each rule and parameter on short and long flows.

Web search flow sizes between any two hosts of a star, as in pcrp-fct. Cases of sch_pcrp, all with noevict but the last:

    default         other options at their defaults; chains as long as the bandwidth-delay product
    eu              the paper's rule that the earliest unfinished flow goes first
    nosrpt          the flow that has waited longest goes first, instead of the shortest
    nomfwt          flows are not promoted after a maximum wait
    grants-N        number of flows that a receiver grants at a time
    chain-xF        chains F times as long; GSO packets of half a chain
    gso-64k         GSO packets as long as without PCRP, and so chains of 128 KB
    window-Nus      the receiver delays packets in favour of more urgent ones
    statistics      priority thresholds of first chains are the quartiles of all sizes, as pcrpd sets them
    nomap           no DSCP: one priority in the network
    evict           a shorter flow replaces a longer one
"""
from closlab import pcrp, topo
from closlab.params import Param
from closlab.results import log_axis

PARAMS = [
    Param("rate", "rate", "10gbit", "rate of all links"),
    Param("delay", "time", "4us", "delay of each link; four delays are most of the RTT"),
    Param("hosts", "count", "8", "number of hosts on a star"),
    Param("load", "number", "0.7", "load of each host's link, with headers and handshakes"),
    Param("sizes", "word", "websearch", "flow size distribution, a file in tools/lab/cdf"),
    Param("grants", "count", "1,4,16", "values of grants, a case each; 8 is the default", several=True),
    Param("chain", "number", "0.25,0.5,2,4", "chain lengths relative to the bandwidth-delay product, a case each",
          several=True),
    Param("window", "time", "5us,20us", "values of window, a case each; 0 is the default", several=True),
    Param("time", "time", "150ms", "duration of a case"),
    Param("drain", "time", "10s", "time limit for unfinished flows"),
    Param("buffer", "size", "1M", "buffer of each port"),
]
SMALL = {"hosts": "3", "grants": "1", "chain": "2", "window": "5us", "time": "8ms"}
SCHEMES = ("pcrp",)

QUARTILES = (0.25, 0.5, 0.75)


def bdp(params):
    """Return: bandwidth-delay product of a path of four links, bytes."""
    return 4 * params.delay * params.rate // 8_000_000_000


def quartiles(sizes):
    """Return: the quartiles of the flow sizes."""
    found = []
    for share in QUARTILES:
        (a, p), (b, q) = next(line for line in pcrp.segments(sizes) if line[1][1] >= share)
        found.append(int(a + (b - a) * (share - p) / (q - p)))
    return found


def cases(params):
    """Return: [(name, options of sch_pcrp, bytes of two GSO packets)]."""
    one = bdp(params)
    some = ([("default", "", one), ("eu", "eu", one), ("nosrpt", "nosrpt", one), ("nomfwt", "mfwt off", one)] +
            [("grants-%d" % n, "grants %d" % n, one) for n in params.grants] +
            [("chain-x%g" % f, "", int(f * one)) for f in params.chain] + [("gso-64k", "", 2 * 65536)] +
            [("window-%dus" % (w // 1000), "window %dns" % w, one) for w in params.window] +
            [("statistics", "spec " + ":".join("%d" % size for size in quartiles(params.sizes)), one),
             ("nomap", "map off", one)])
    return [(name, "noevict " + words, size) for name, words, size in some] + [("evict", "evict", one)]


# ---- in the guest

def replace(net, words, chain):
    """Put a new sch_pcrp on all hosts."""
    for port in net.host_ports():
        with topo.inside(port.node):
            if port.gso != chain // 2:
                port.gso = chain // 2
                topo.run("ip", "link", "set", "eth0", "gso_max_size", str(port.gso))
            topo.run("tc", "-batch", "-", text=["qdisc del dev eth0 root",
                                                "qdisc add dev eth0 root pcrp chain %d %s" % (chain, words)])


def guest(lab):
    p = lab.params
    net = topo.star(p.hosts, p.rate, p.delay)
    pcrp.build(lab, net, "pcrp", p.buffer)
    todo = cases(p)
    lab.expect(len(todo) * p.time)
    for name, words, chain in todo:
        replace(net, words, chain)
        pcrp.warm(lab, net)
        pcrp.poisson(lab, net, pcrp.counts(net), name, p.time, p.drain, p.load, p.sizes, "cc=cubic")


# ---- on the host

SHORT, LONG = (0, pcrp.SHORT[-1][2]), pcrp.CLASSES[-1][1:]
# rules that are off by default because they delay short flows
WORSE = {"eu": "earliest unfinished flow first", "nosrpt": "without SRPT", "nomap": "one priority in the network"}
# other values of options: cases whose names begin with these
INSTEAD = ("grants", "chain", "window", "statistics", "evict", "nomfwt")
SLACK = 0.9


def report(run):
    some = {name: pcrp.Flows(run, "pcrp", name) for name, *_ in cases(run.params)}
    rows = []
    for name, flows in some.items():
        rows.append((name, len(flows.done), flows.mean(*SHORT), flows.quantile(0.99, *SHORT),
                     "%.3g..%.3g" % tuple(flows.quantile_range(0.99, *SHORT)), flows.mean(*LONG),
                     flows.quantile(1, *LONG), flows.fct_us(), 100 * flows.control_share(),
                     flows.total("promotions"), flows.total("probes_sent"), flows.total("TcpRetransSegs"),
                     flows.total("TcpExtTCPDSACKRecv")))
    run.text("Slowdown of flows up to 100 KB, and of flows above 1 MB", "")
    run.table(("case", "done", "short: mean", "p99", "95 % range", "long: mean", "max", "FCT: mean, µs", "control, %",
               "promotions", "PROBEs", "retransmitted", "DSACKs"), rows)
    run.claim("done", "number of unfinished flows", sum(len(flows.all) - len(flows.done) for flows in some.values()),
              "== 0")
    if not run.small:
        claim(run, some)
        draw(run, rows)


def tail(one, other):
    return one.quantile(0.99, *SHORT) / other.quantile(0.99, *SHORT)


def long_mean(one, other):
    return one.ratio(other, *LONG)[0]


MEASURES = (("short", "p99 slowdown of flows <= 100 KB", tail), ("long", "mean slowdown of flows > 1 MB", long_mean))


def claim(run, some):
    default = some["default"]
    for name, rule in WORSE.items():
        run.claim(name, "p99 slowdown of flows <= 100 KB, %s, over default" % rule, tail(some[name], default), "> 1")
    for name in some:
        if name.startswith(INSTEAD):
            for ident, measure, over in MEASURES:
                run.claim("%s-%s" % (name, ident), "%s, %s, over default" % (measure, name), over(some[name], default),
                          ">= %g" % SLACK)


def draw(run, rows):
    _, axis = run.figure("pcrp-ablation", size=(8, 3.6))
    places = range(len(rows))
    axis.bar([i - 0.2 for i in places], [row[3] for row in rows], 0.4, label="flows up to 100 KB, p99")
    axis.bar([i + 0.2 for i in places], [row[5] for row in rows], 0.4, label="flows above 1 MB, mean")
    axis.set_xticks(places, [row[0] for row in rows], rotation=60, ha="right", fontsize=7)
    axis.set(ylabel="slowdown")
    log_axis(axis.yaxis)
    axis.legend()

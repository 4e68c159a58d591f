# SPDX-License-Identifier: GPL-2.0-only
"""PCRP's parts, one at a time: what each rule and parameter is worth to short and to long flows.

Web search sizes between any two hosts of a star, as in pcrp-fct. Cases of sch_pcrp:

    default         chains of what the line carries in a round trip
    eu              the paper's rule of the earliest unfinished flow
    nosrpt          instead of the shortest flow, the one that has waited longest
    nomfwt          no flow is promoted, however long it waits
    grants-N        flows that a receiver grants at a time
    chain-xF        chains F times as long; GSO packets of half a chain
    window-Nus      the receiver lets packets wait for more urgent ones
    statistics      thresholds of the first chains' priorities are the quartiles of all sizes, as pcrpd sets them
    nomap           no DSCP: one priority in the network
    evict           a shorter flow takes the place of a longer one
"""
from closlab import pcrp, topo
from closlab.params import Param

PARAMS = [
    Param("rate", "rate", "10gbit", "of all links"),
    Param("delay", "time", "4us", "of each link; four of them are most of the RTT"),
    Param("hosts", "count", "16", "on a star"),
    Param("load", "number", "0.7", "of each host's link, headers and handshakes too"),
    Param("sizes", "word", "websearch", "of flows: a file of tools/lab/cdf"),
    Param("grants", "count", "1,4,16", "cases; 8 is the default", several=True),
    Param("chain", "number", "0.25,0.5,2,4", "cases, of what the line carries in a round trip", several=True),
    Param("window", "time", "5us,20us", "cases; 0 is the default", several=True),
    Param("time", "time", "40ms", "of a case"),
    Param("drain", "time", "40ms", "for what is unfinished then"),
    Param("buffer", "size", "1M", "of each port"),
]
SMALL = {"hosts": "3", "grants": "1", "chain": "2", "window": "5us", "time": "8ms", "drain": "5ms"}
SCHEMES = ("pcrp",)

QUARTILES = (0.25, 0.5, 0.75)


def bdp(params):
    """What the line carries in a round trip of four links, bytes."""
    return 4 * params.delay * params.rate // 8_000_000_000


def quartiles(sizes):
    """The sizes that a quarter, a half, three quarters of the flows do not exceed."""
    with open(pcrp.cdf(sizes), encoding="ascii") as f:
        points = [tuple(map(float, line.split())) for line in f if line.strip() and not line.startswith("#")]
    found = []
    for share in QUARTILES:
        (a, p), (b, q) = next((one, two) for one, two in zip(points, points[1:]) if two[1] >= share)
        found.append(int(a + (b - a) * (share - p) / (q - p)))
    return found


def cases(params):
    """[(name, words of sch_pcrp, bytes of a chain)]"""
    one = bdp(params)
    return ([("default", "", one), ("eu", "eu", one), ("nosrpt", "nosrpt", one), ("nomfwt", "mfwt off", one)] +
            [("grants-%d" % n, "grants %d" % n, one) for n in params.grants] +
            [("chain-x%g" % f, "", int(f * one)) for f in params.chain] +
            [("window-%dus" % (w // 1000), "window %dns" % w, one) for w in params.window] +
            [("statistics", "spec " + ":".join("%d" % size for size in quartiles(params.sizes)), one),
             ("nomap", "map off", one), ("evict", "evict", one)])


# ---- in the guest

def guest(lab):
    p = lab.params
    net = topo.star(p.hosts, p.rate, p.delay)
    pcrp.build(lab, net, "pcrp", p.buffer)
    todo = cases(p)
    lab.expect(len(todo) * (p.time + p.drain))
    for name, words, chain in todo:
        for host in net.hosts():
            topo.run("ip", "-n", host.name, "link", "set", "eth0", "gso_max_size", str(chain // 2))
            topo.run("tc", "-n", host.name, "qdisc", "del", "dev", "eth0", "root")
            topo.run("tc", "-n", host.name, "qdisc", "add", "dev", "eth0", "root", "pcrp", "chain", str(chain),
                     *words.split())
        pcrp.warm(lab, net)
        before = pcrp.counts(net)
        lab.traffic(net, "--time", "%dns" % p.time, "--drain", "%dns" % p.drain,
                    "--flows", lab.path("flows-%s.csv" % name), "poisson", "load=%g" % (p.load * pcrp.data_share(p.sizes)),
                    "cdf=" + pcrp.cdf(p.sizes), "cc=cubic")
        pcrp.write_hosts(lab.path("hosts-%s.csv" % name), net, before)


# ---- on the host

def report(run):
    some = {name: pcrp.Flows(run, "pcrp", name) for name, *_ in cases(run.params)}
    rows = []
    for name, flows in some.items():
        short, longer = (0, pcrp.SHORT[-1][2]), pcrp.CLASSES[-1][1:]
        rows.append((name, len(flows.done), len(flows.all) - len(flows.done), flows.mean(*short),
                     flows.quantile(0.99, *short), flows.mean(*longer) if flows.among(*longer) else 0.0,
                     flows.fct_us(), 100 * flows.control_share(), flows.total("promotions"), flows.total("probes_sent")))
    run.text("Slowdown of flows up to 100 KB, and of those of more than 1 MB", "")
    run.table(("case", "done", "unfinished", "short: mean", "p99", "long: mean", "FCT: mean, us", "control, %",
               "promotions", "PROBEs"), rows)
    run.claim("done", "flows that were done", sum(len(flows.done) for flows in some.values()), "> 0")
    if not run.small:
        claim(run, some)
        draw(run, rows)


def claim(run, some):
    short = (0, pcrp.SHORT[-1][2])
    for name in ("eu", "nosrpt", "nomap"):
        run.claim(name, "p99 slowdown of flows up to 100 KB, %s over default" % name,
                  some[name].quantile(0.99, *short) / some["default"].quantile(0.99, *short), "> 1")


def draw(run, rows):
    _, axis = run.figure("pcrp-ablation", size=(7, 3.6))
    places = range(len(rows))
    axis.bar([i - 0.2 for i in places], [row[4] for row in rows], 0.4, label="short flows, p99")
    axis.bar([i + 0.2 for i in places], [row[5] for row in rows], 0.4, label="long flows, mean")
    axis.set_xticks(places, [row[0] for row in rows], rotation=60, ha="right", fontsize=7)
    axis.set_ylabel("slowdown")
    axis.legend()

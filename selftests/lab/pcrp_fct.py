# SPDX-License-Identifier: GPL-2.0-only
"""PCRP's headline: completion times of short and long flows beside cubic, dctcp, and other grains of reservation.

K. Wu et al., "Network Congestion Avoidance through Packet-chaining Reservation",
ICPP 2019: flow latency is 50.2 % less for hotspot traffic, and 28.38 % less for
uniform traffic, than with SRP and BFRP, which reserve for whole flows and for
packets. That was a simulated network of another kind; here it is TCP on
Ethernet, and these stand for them:

    cubic, dctcp    with fq
    pcrp            over cubic, sch_pcrp's defaults
    pcrp-dctcp      over dctcp
    pcrp-eu         with the paper's rule of the earliest unfinished flow
    pcrp-gso        with the GSO packets of all others, 64 KB
    srp             reservation for whole flows: beyond the first packet a flow waits for its turn at the
                    receiver, one flow at a time
    bfrp            reservation for each packet, of several flows by turns

The switches have eight strict priorities and the same buffer for all. Before it
counts, each host has sent to each other, so that all know of each other.

    uniform     Poisson, between any two hosts
    hotspot     Poisson, from all others to one host, flows of 10 KB and 100 to 1000 times longer ones
"""
from closlab import pcrp, topo
from closlab.params import Param
from closlab.results import mean

PARAMS = [
    Param("rate", "rate", "10gbit", "of all links"),
    Param("delay", "time", "4us", "of each link; four of them are most of the RTT"),
    Param("topology", "word", "star", "16 hosts on a switch, or 4 at each of 4 leaves with 4 spines",
          choices=("star", "leaf-spine")),
    Param("hosts", "count", "16", "on a star"),
    Param("loads", "number", "0.7,0.5,0.8", "of each host's link, headers and handshakes too, with web search sizes, "
          "cases", several=True),
    Param("sizes", "word", "homa-w3,homa-w4,homa-w5", "other sizes, with the first load, cases", several=True),
    Param("hotspot", "number", "0.8", "of the host's link to which all send"),
    Param("flows", "count", "1000", "about as many in a case"),
    Param("longest", "time", "50ms", "of a case"),
    Param("drain", "time", "40ms", "for what is unfinished then"),
    Param("buffer", "size", "1M", "of each port"),
    Param("k", "size", "98k", "dctcp's threshold"),
    Param("gso", "size", "11600", "longest GSO packet of PCRP's hosts: half of what the line carries in a round trip"),
]
SMALL = {"hosts": "3", "loads": "0.5", "sizes": "homa-w4", "flows": "12", "longest": "5ms", "drain": "3ms"}
SCHEMES = ("cubic", "dctcp", "pcrp", "pcrp-dctcp", "pcrp-eu", "pcrp-gso", "srp", "bfrp")

# words of sch_pcrp
QDISC = {
    "pcrp-eu": "eu",
    "srp": "first 1500 chain 1gb grants 1 nosrpt mfwt off",
    "bfrp": "first 1500 chain 1500 nosrpt mfwt off",
}
PAPER = {"hotspot": -0.502, "uniform": -0.2838}


def cases(params):
    """[(name, sizes, load)]"""
    return ([("websearch-%g" % load, "websearch", load) for load in params.loads] +
            [(sizes, sizes, params.loads[0]) for sizes in params.sizes] + [("hotspot", "hotspot", params.hotspot)])


def duration(params, sizes, load, senders):
    """ns in which about params.flows flows begin"""
    gap_ns = pcrp.wire_bytes(pcrp.mean_bytes(sizes)) * 8e9 / (load * params.rate * senders)
    return min(params.longest, int(params.flows * gap_ns))


# ---- in the guest

def network(params):
    if params.topology == "star":
        return topo.star(params.hosts, params.rate, params.delay)
    return topo.leaf_spine(4, 4, 4, params.rate, params.delay)


def host_qdisc(scheme):
    return "fq" if scheme in ("cubic", "dctcp") else "pcrp " + QDISC.get(scheme, "")


def guest(lab):
    p = lab.params
    net = network(p)
    hosts = len(net.hosts())
    dctcp = "dctcp" in lab.scheme
    own_gso = lab.scheme in ("cubic", "dctcp", "pcrp-gso")
    pcrp.build(lab, net, host_qdisc(lab.scheme), p.buffer, p.k if dctcp else None, 65536 if own_gso else p.gso)
    todo = []
    for name, sizes, load in cases(p):
        hotspot = name == "hotspot"
        words = ["src=h2-h%d" % hosts, "dst=h1"] if hotspot else []
        share = pcrp.data_share(sizes) / (hosts - 1 if hotspot else 1)
        todo.append((name, sizes, load * share, words,
                     duration(p, sizes, load, 1 if hotspot else hosts)))
    lab.expect(sum(time + p.drain for *_, time in todo))
    pcrp.warm(lab, net)
    for name, sizes, load, words, time in todo:
        before = pcrp.counts(net)
        lab.traffic(net, "--time", "%dns" % time, "--drain", "%dns" % p.drain,
                    "--flows", lab.path("flows-%s.csv" % name), "poisson", "load=%.9f" % load,
                    "cdf=" + pcrp.cdf(sizes), "cc=" + ("dctcp" if dctcp else "cubic"), *words)
        pcrp.write_hosts(lab.path("hosts-%s.csv" % name), net, before)


# ---- on the host

def report(run):
    some = {(scheme, name): pcrp.Flows(run, scheme, name) for scheme in run.schemes
            for name, *_ in cases(run.params)}
    for name, *_ in cases(run.params):
        run.text(name, "")
        run.table(("scheme", "flows", "done", "unfinished", "slowdown: mean", "p50", "p99", "FCT: mean, us"),
                  [(scheme,) + row for scheme in run.schemes for row in some[scheme, name].rows()])
    for scheme in run.schemes:
        worst = max(some[scheme, name].control_share() for name, *_ in cases(run.params))
        if not scheme.startswith(("cubic", "dctcp")):
            run.text("%s: control packets are up to %.2f %% of all bytes" % (scheme, 100 * worst))
    run.text("")
    run.claim("done", "flows of pcrp and cubic that were done", sum(
        len(some[s, name].done) for s in run.schemes if s in ("cubic", "pcrp") for name, *_ in cases(run.params)), "> 0")
    if not run.small and set(SCHEMES) == set(run.schemes):
        claim(run, some)
        draw(run, some)


def claim(run, some):
    first = "websearch-%g" % run.params.loads[0]
    own, cubic, dctcp = (some[scheme, first] for scheme in ("pcrp", "cubic", "dctcp"))
    for ident, (name, low, high) in zip(("10k", "100k"), pcrp.SHORT):
        p99 = own.quantile(0.99, low, high)
        run.claim("cubic-" + ident, "p99 slowdown of flows %s, %s: cubic over pcrp" % (name, first),
                  cubic.quantile(0.99, low, high) / p99, ">= 3")
        run.claim("dctcp-" + ident, "the same, dctcp over pcrp", dctcp.quantile(0.99, low, high) / p99, "> 1")
    low, high = pcrp.CLASSES[-1][1:]
    run.claim("long", "mean slowdown of longer flows, pcrp over cubic", own.mean(low, high) / cubic.mean(low, high),
              "<= 1.3")
    for kind, name in (("hotspot", "hotspot"), ("uniform", first)):
        others = mean([some[s, name].fct_us() for s in ("srp", "bfrp")])
        run.claim(kind, "mean FCT, %s: pcrp's beside the stand-ins' (the paper: %.1f %%)" % (name, 100 * PAPER[kind]),
                  some["pcrp", name].fct_us() / others - 1, "<= %g" % PAPER[kind])
    run.claim("overhead", "control packets of pcrp, of all bytes, at most",
              max(some["pcrp", name].control_share() for name, *_ in cases(run.params)), "< 0.01")


def draw(run, some):
    names = [name for name, *_ in cases(run.params)]
    _, axes = run.figure("pcrp-fct", 1, len(names), (2.6 * len(names), 3.2))
    for axis, name in zip(axes, names):
        for scheme in run.schemes:
            points = [(i, row[5]) for i, row in enumerate(some[scheme, name].rows())]
            axis.plot(*zip(*points), "o-", color=run.colour(scheme), label=scheme, markersize=3)
        axis.set(title=name, yscale="log", xlabel="size of flows")
        axis.set_xticks(range(len(pcrp.CLASSES)), [c[0] for c in pcrp.CLASSES], fontsize=6)
    axes[0].set_ylabel("slowdown, p99")
    axes[-1].legend(fontsize=6)

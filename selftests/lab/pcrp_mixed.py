# SPDX-License-Identifier: GPL-2.0-only
"""Half of the hosts with sch_pcrp, half without: is anybody worse off? And what the longest flow gets.

    none    fq on all hosts
    half    every second host has sch_pcrp
    all     all have it

Between any two hosts of a star, web search sizes. Then, on hosts of the same
kind, `short` flows that never end together with one flow of `longest` bytes from
the same host to another, which SRPT alone would starve: its share of the line
with MFWT, and without.
"""
from closlab import pcrp, topo
from closlab.params import Param

PARAMS = [
    Param("rate", "rate", "10gbit", "of all links"),
    Param("delay", "time", "4us", "of each link; four of them are most of the RTT"),
    Param("hosts", "count", "16", "on a star"),
    Param("load", "number", "0.7", "of each host's link, headers and handshakes too"),
    Param("sizes", "word", "websearch", "of flows: a file of tools/lab/cdf"),
    Param("time", "time", "60ms", "of a case"),
    Param("drain", "time", "40ms", "for what is unfinished then"),
    Param("buffer", "size", "1M", "of each port"),
    Param("gso", "size", "11600", "longest GSO packet of PCRP's hosts"),
    Param("request", "size", "60k", "of the flows that keep the long one waiting"),
    Param("connections", "count", "16", "on which they come, one after the other on each"),
    Param("longest", "size", "20M", "the flow that has to wait"),
    Param("starve", "time", "100ms", "how long that is looked at"),
]
SMALL = {"hosts": "4", "time": "8ms", "drain": "5ms", "starve": "5ms", "connections": "4"}
SCHEMES = ("none", "half", "all")
STARVE = (("mfwt", "mfwt auto"), ("nomfwt", "mfwt off"))


def has_pcrp(scheme, host):
    """Of h1, h2, ...: the odd ones"""
    return scheme == "all" or scheme == "half" and int(host[1:]) % 2 == 1


# ---- in the guest

def guest(lab):
    p = lab.params
    net = topo.star(p.hosts, p.rate, p.delay)
    pcrp.build(lab, net, lambda host: "pcrp" if has_pcrp(lab.scheme, host.name) else "fq", p.buffer)
    for host in net.hosts():
        if has_pcrp(lab.scheme, host.name):
            topo.run("ip", "-n", host.name, "link", "set", "eth0", "gso_max_size", str(p.gso))
    lab.expect(p.time + p.drain + len(STARVE) * p.starve)
    pcrp.warm(lab, net)
    before = pcrp.counts(net)
    lab.traffic(net, "--time", "%dns" % p.time, "--drain", "%dns" % p.drain, "--flows", lab.path("flows-mixed.csv"),
                "poisson", "load=%g" % (p.load * pcrp.data_share(p.sizes)), "cdf=" + pcrp.cdf(p.sizes), "cc=cubic")
    pcrp.write_hosts(lab.path("hosts-mixed.csv"), net, before)
    for name, words in STARVE if lab.scheme == "all" else ():
        topo.run("tc", "-n", "h1", "qdisc", "change", "dev", "eth0", "root", "pcrp", *words.split())
        before = pcrp.counts(net)
        lab.traffic(net, "--time", "%dns" % p.starve, "--drain", "1ms", "--flows", lab.path("flows-%s.csv" % name),
                    "rpc", "src=h1", "dst=h2", "request=%d" % p.request, "response=1", "concurrency=%d" % p.connections,
                    "--", "bulk", "src=h1", "dst=h3", "bytes=%d" % p.longest)
        pcrp.write_hosts(lab.path("hosts-%s.csv" % name), net, before)


# ---- on the host

def groups(scheme, run):
    """Flows by whether their sender and receiver have PCRP where half of the hosts do, in each scheme alike."""
    for name, wanted in (("both", (True, True)), ("sender", (True, False)), ("receiver", (False, True)),
                         ("neither", (False, False))):
        yield name, pcrp.Flows(run, scheme, "mixed", lambda row, w=wanted: tuple(
            has_pcrp("half", row[end]) for end in ("src", "dst")) == w)


def report(run):
    some = {(scheme, name): flows for scheme in run.schemes for name, flows in groups(scheme, run)}
    short, longer = (0, pcrp.SHORT[-1][2]), pcrp.CLASSES[-1][1:]
    rows = [(scheme, name, len(flows.done), len(flows.all) - len(flows.done),
             flows.mean(*short) if flows.among(*short) else 0.0,
             flows.quantile(0.99, *short) if flows.among(*short) else 0.0,
             flows.mean(*longer) if flows.among(*longer) else 0.0, flows.fct_us() if flows.done else 0.0)
            for (scheme, name), flows in some.items()]
    run.text("Slowdown of flows up to 100 KB, and of those of more than 1 MB, by which ends have PCRP in `half`", "")
    run.table(("scheme", "ends", "done", "unfinished", "short: mean", "p99", "long: mean", "FCT: mean, us"), rows)
    run.claim("done", "flows that were done", sum(row[2] for row in rows), "> 0")
    if "all" in run.schemes:
        starve(run)
    if not run.small and set(SCHEMES) == set(run.schemes):
        for _, name, *_ in rows[:4]:
            run.claim("mixed-" + name, "mean slowdown of all flows, PCRP at %s, half over none" % name,
                      some["half", name].mean() / some["none", name].mean(), "<= 1.05")


def starve(run):
    rows = []
    for name, words in STARVE:
        flows = pcrp.Flows(run, "all", name)
        long = [row for row in flows.all if row["name"] == "bulk"][0]
        rows.append((words, long["received_bytes"] * 8 / run.params.starve, len(flows.done),
                     flows.total("TcpExtTCPTimeouts")))
    run.text("The flow of %d MB beside flows that are shorter" % (run.params.longest // 10**6), "")
    run.table(("case", "its goodput, Gbit/s", "short flows done", "TCP timeouts"), rows)
    if not run.small:
        run.claim("mfwt", "goodput of the longest flow, with MFWT over without", rows[0][1] / max(1e-6, rows[1][1]), "> 1")
        run.claim("rto", "TCP timeouts while the longest flow waits", sum(row[3] for row in rows), "== 0")

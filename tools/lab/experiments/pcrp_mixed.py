# SPDX-License-Identifier: GPL-2.0-only
"""Half of the hosts with sch_pcrp, half without: slowdown of each group of flows, and the rate of the longest flow.

    none    fq on all hosts
    half    sch_pcrp on every second host
    all     sch_pcrp on all hosts

sch_pcrp has noevict, as in the paper, and otherwise its defaults.

Flows of web search sizes run between any two hosts of a star, the same ones in each scheme. Then, on hosts with
sch_pcrp, an endless sequence of `request` flows runs together with one flow of `longest` bytes from the same host to
another. SRPT alone would starve that flow; the experiment measures its rate with MFWT and without.
"""
from closlab import pcrp, topo
from closlab.params import Param

PARAMS = [
    Param("rate", "rate", "10gbit", "rate of all links"),
    Param("delay", "time", "4us", "delay of each link; four delays are most of the RTT"),
    Param("hosts", "count", "16", "number of hosts on a star"),
    Param("load", "number", "0.7", "load of each host's link, with headers and handshakes"),
    Param("sizes", "word", "websearch", "flow size distribution, a file in tools/lab/cdf"),
    Param("time", "time", "200ms", "duration of a case"),
    Param("drain", "time", "10s", "time limit for unfinished flows"),
    Param("buffer", "size", "1M", "buffer of each port"),
    Param("gso", "size", "11600", "longest GSO packet of hosts with PCRP"),
    Param("request", "size", "60k", "size of the flows that delay the longest flow"),
    Param("connections", "count", "16", "concurrent connections with these flows, in sequence on each"),
    Param("longest", "size", "200M", "size of the longest flow, more than the link can carry"),
    Param("starve", "time", "100ms", "duration of the run with the longest flow"),
]
SMALL = {"hosts": "4", "time": "8ms", "starve": "5ms", "connections": "4"}
SCHEMES = ("none", "half", "all")
STARVE = (("mfwt", "mfwt auto"), ("nomfwt", "mfwt off"))
ENDS = {"both": (True, True), "sender": (True, False), "receiver": (False, True), "neither": (False, False)}


def has_pcrp(scheme, host):
    """Return: true if the host has sch_pcrp; in `half`, hosts with odd numbers do."""
    return scheme == "all" or scheme == "half" and int(host[1:]) % 2 == 1


# ---- in the guest

def guest(lab):
    p = lab.params
    net = topo.star(p.hosts, p.rate, p.delay)
    pcrp.build(lab, net, lambda host: "pcrp noevict" if has_pcrp(lab.scheme, host.name) else "fq", p.buffer,
               gso=p.gso)
    lab.expect(p.time + (len(STARVE) * p.starve if lab.scheme == "all" else 0))
    pcrp.warm(lab, net)
    now = pcrp.poisson(lab, net, pcrp.counts(net), "mixed", p.time, p.drain, p.load, p.sizes, "cc=cubic")
    for name, words in STARVE if lab.scheme == "all" else ():
        topo.run("tc", "-n", "h1", "qdisc", "change", "dev", "eth0", "root", "pcrp", *words.split())
        lab.traffic(net, "--time", "%dns" % p.starve, "--drain", "1ms", "--flows", lab.path("flows-%s.csv" % name),
                    "--series", lab.path("series-%s.csv" % name),
                    "rpc", "src=h1", "dst=h2", "request=%d" % p.request, "response=1", "concurrency=%d" % p.connections,
                    "--", "bulk", "src=h1", "dst=h3", "bytes=%d" % p.longest)
        now = pcrp.write_hosts(lab.path("hosts-%s.csv" % name), net, now)


# ---- on the host

def group(run, scheme, ends):
    """Return: the flows of a scheme whose ends have or lack PCRP in `half` as in ENDS."""
    return pcrp.Flows(run, scheme, "mixed",
                      lambda row: tuple(has_pcrp("half", row[end]) for end in ("src", "dst")) == ENDS[ends])


def report(run):
    some = {(scheme, ends): group(run, scheme, ends) for scheme in run.schemes for ends in ENDS}
    short, longer = (0, pcrp.SHORT[-1][2]), pcrp.CLASSES[-1][1:]
    rows = [(scheme, ends, len(flows.done), len(flows.all) - len(flows.done),
             flows.mean(*short), flows.quantile(0.99, *short), flows.mean(*longer), flows.fct_us())
            for (scheme, ends), flows in some.items()]
    run.text("Slowdown of flows up to 100 KB and above 1 MB, by the ends that have PCRP in `half`", "")
    run.table(("scheme", "ends", "done", "unfinished", "short: mean", "p99", "long: mean", "FCT: mean, µs"), rows)
    run.claim("done", "number of unfinished flows", sum(row[3] for row in rows), "== 0")
    if "all" in run.schemes:
        starve(run)
    if not run.small and set(SCHEMES) == set(run.schemes):
        for ends in ENDS:
            claim(run, ends, some["half", ends], some["none", ends], (("all flows", 0, 1 << 60),
                                                                      ("flows <= 100 KB",) + short,
                                                                      ("flows > 1 MB",) + longer))
        draw(run, rows)


def claim(run, ends, half, none, classes):
    run.claim("mixed-%s-typical" % ends, "geometric mean of each flow's slowdown, PCRP at %s: half over none" % ends,
              half.typical(none), "<= 1.05")
    for name, low, high in classes:
        run.claim("mixed-%s%s" % (ends, {"flows <= 100 KB": "-short", "flows > 1 MB": "-long"}.get(name, "")),
                  "mean slowdown of %s, PCRP at %s: half over none" % (name, ends), half.ratio(none, low, high)[0],
                  "<= 1.05")


def starve(run):
    """Report the longest flow's goodput, the completed short flows and TCP timeouts, with MFWT and without."""
    rows = []
    for name, words in STARVE:
        flows = pcrp.Flows(run, "all", name)
        long = [row for row in flows.all if row["name"] == "bulk"][0]
        rows.append((words, long["received_bytes"] * 8 / run.params.starve, len(flows.done),
                     flows.total("TcpExtTCPTimeouts")))
    run.text("The longest flow beside an endless sequence of flows of %d KB" % (run.params.request // 1000), "")
    run.table(("case", "its goodput, Gbit/s", "short flows done", "TCP timeouts"), rows)
    if not run.small:
        run.claim("mfwt", "goodput of the longest flow with MFWT over without", rows[0][1] / max(1e-6, rows[1][1]),
                  "> 1")
        run.claim("rto", "number of TCP timeouts beside the longest flow", sum(row[3] for row in rows), "== 0")


def draw(run, rows):
    _, axes = run.figure("pcrp-mixed", 1, 3, (10, 3))
    for axis, place, title in zip(axes, (5, 6), ("up to 100 KB, p99", "above 1 MB, mean")):
        for i, scheme in enumerate(SCHEMES):
            axis.bar([j + 0.27 * (i - 1) for j in range(len(ENDS))], [row[place] for row in rows if row[0] == scheme],
                     0.27, color=run.colour(scheme), label=scheme)
        axis.set_xticks(range(len(ENDS)), list(ENDS))
        axis.set(title="flows of " + title, ylabel="slowdown")
    axes[0].set(yscale="log")
    axes[0].legend()
    for name, words in STARVE:
        long = run.csv("all", "flows-%s.csv" % name).where(name="bulk")["flow"][0]
        series = run.csv("all", "series-%s.csv" % name).where(flow=long)
        axes[2].plot([t / 1e6 for t in series["time_ns"]], [b / 1e6 for b in series["received_bytes"]], label=words)
    axes[2].set(title="the longest flow", xlabel="time, ms", ylabel="received, MB")
    axes[2].legend()

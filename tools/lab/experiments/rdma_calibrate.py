# SPDX-License-Identifier: GPL-2.0-only
"""RDMA of Linux's rxe and siw at the line rate: completion times over the ideal ones.

One connection between two hosts at a switch. Each flow waits for the previous one. RoCEv2's flows of a packet are
SENDs, others WRITEs with immediate data. The ideal time is that of full packets on an idle path, store and forward,
with all headers counted: RoCEv2's packets carry 4096 bytes, iWARP's as much as TCP's. The scheme is the rate of all
links.
"""
from closlab import rdma, topo
from closlab.params import RATES, Param, scaled
from closlab.results import mean

PARAMS = [
    Param("delay", "time", "1500ns", "delay of each link"),
    Param("bytes", "size", "64,64k,1M,16M,64M", "sizes of flows", several=True),
    Param("repeat", "count", "3", "flows of each size"),
]
SMALL = {"bytes": "64,64k,1M", "repeat": "2"}
SCHEMES = ("roce-10gbit", "roce-40gbit", "roce-100gbit", "iwarp-10gbit", "iwarp-40gbit", "iwarp-100gbit")
SHORT = 1000        # a packet
LONG = {"roce": 64_000, "iwarp": 1_000_000}     # flows from this size on have to use the link; TCP starts slowly


def parts(scheme):
    """Return: (transport, rate)."""
    transport, rate = scheme.split("-")
    return transport, scaled(rate, RATES, "rate")


# ---- in the guest

def guest(lab):
    p = lab.params
    transport, rate = parts(lab.scheme)
    net = topo.star(2, rate, p.delay, mtu=rdma.MTU).rdma(rdma.DEVICES[transport])
    net.build()
    gap = [2 * size * 8 * topo.GBIT // rate + 100_000 for size in p.bytes]
    lab.expect(p.repeat * sum(gap))
    words, at = [], 0
    for size, span in zip(p.bytes, gap):
        for _ in range(p.repeat):
            words += ["--"] * bool(words) + ["bulk", "src=h1", "dst=h2", "bytes=%d" % size, "connect=before",
                                             "transport=" + transport, "message=64M", "start=%dns" % at]
            if transport == "roce" and size <= SHORT:
                words.append("verb=send")
            at += span
    lab.traffic(net, "--flows", lab.path("flows.csv"), *words)


# ---- on the host

def report(run):
    rows, short, long = [], [], []
    for scheme in run.schemes:
        flows = run.csv(scheme, "flows.csv")
        for size in run.params.bytes:
            some = flows.where(bytes=size)
            slowdown = max(some["slowdown"])
            if size >= LONG[parts(scheme)[0]]:
                long.append(slowdown)
            elif size <= SHORT:
                short.append(slowdown)
            rows.append((scheme, size, mean(some["fct_ns"]) / 1e3, some["ideal_ns"][0] / 1e3, slowdown))
    run.text("Times in µs; slowdown: the worst of the flows", "")
    run.table(("scheme", "bytes", "mean", "ideal", "slowdown"), rows)
    run.claim("long", "largest completion time over the ideal one, flows of RoCEv2 from 64 KB on, of iWARP from 1 MB on",
              max(long), "<= 1.0526")
    run.claim("short", "the same, flows of a packet", max(short), "<= 1.1")
    if not run.small:
        draw(run, rows)


def draw(run, rows):
    _, axis = run.figure("rdma-calibrate", 1, 1, (7, 3.4))
    for scheme in run.schemes:
        some = [row for row in rows if row[0] == scheme]
        axis.plot([row[1] for row in some], [row[4] for row in some], "o-", color=run.colour(scheme), label=scheme)
    axis.set(xscale="log", xlabel="bytes", ylabel="completion time over the ideal one", title="One connection")
    axis.legend()

# SPDX-License-Identifier: GPL-2.0-only
"""Why RDMA minds reordering: goodput of queue pairs whose packets are spread over four paths.

Two leaves, four spines. Each host sends to one host and receives from one host below the other leaf, so that the flows
need all paths. Schemes are the ways in which the leaves choose a path: the kernel's ECMP, and act_lb by packet, in turn
(rr) or at random. Transports:

    rxe         RDMA WRITEs of rxe, one of `message` bytes after the other
    write_only  the same, cut into a WRITE for each packet, as NICs with adaptive routing do
    iwarp       siw over TCP (cubic)
    gbn, sr     the traffic generator's model of a NIC, with go-back-N and with selective repeat
    ndp         NDP's messages; NDP chooses the paths itself (scheme ecmp)
    ddp         the same, placed in the receiver's region as packets arrive

Switches pause (PFC) instead of dropping, except for NDP, so each retransmission is due to the order of packets. There
is no congestion control other than TCP's and NDP's.
"""
import math

from closlab import lb, ndp, rdma, topo
from closlab.params import Param
from closlab.results import mean
from closlab.tcp import AROUND, HEADERS, SERIES, goodputs

PARAMS = [
    Param("spines", "count", "4", "spines, and hosts at each of the two leaves"),
    Param("rate", "rate", "40gbit", "rate of all links"),
    Param("delay", "time", "1us", "delay of each link"),
    Param("transports", "word", "rxe,write_only,iwarp,gbn,sr,ndp,ddp", "transports", several=True,
          choices=("rxe", "write_only", "iwarp", "gbn", "sr", "ndp", "ddp")),
    Param("runs", "count", "5", "runs of each case, with other pairs of hosts"),
    Param("message", "size", "256k", "bytes of an RDMA message"),
    Param("ack_timeout", "count", "7", "retransmission timeout of RoCEv2, 4.096 us * 2^N"),
    Param("jitter", "time", "100us", "interval in which the flows start"),
    Param("warmup", "time", "2ms", "time before the measurement"),
    Param("time", "time", "5ms", "duration of the measurement"),
]
SMALL = {"spines": "2", "transports": "rxe,sr", "runs": "1", "warmup": "500us", "time": "500us"}
SCHEMES = ("ecmp", "rr", "random")
MEMORY = 4  # GiB
WORDS = {"rxe": ["transport=roce"], "write_only": ["transport=roce", "verb=write_only"], "iwarp": ["transport=iwarp"],
         "gbn": ["transport=gbn"], "sr": ["transport=sr"], "ndp": ["transport=ndp"],
         "ddp": ["transport=ndp", "region=8192k"]}
OVER_NDP = ("ndp", "ddp")
NETWORKS = {"rxe": "roce", "write_only": "roce"}
OPTIONS = {"ecmp": None, "rr": lb.POLICIES["rr"], "random": lb.POLICIES["random"]}


def cases(params, scheme):
    """Return: transports of a scheme."""
    return [name for name in params.transports if name not in OVER_NDP or scheme == "ecmp"]


# ---- in the guest

def build(lab, name):
    p = lab.params
    net = topo.leaf_spine(2, p.spines, p.spines, p.rate, p.delay, mtu=rdma.MTU)
    if name in OVER_NDP:
        lb.build(lab, net, "ndp", seed=lab.seed, words=None)
        return net
    rdma.build_dcqcn(lab, net, NETWORKS.get(name, name), rdma.without_marks(), control=False, seed=lab.seed)
    lb.balance(lab, net, OPTIONS[lab.scheme])
    return net


def pairs(params, number):
    """Return: words that send from each host to a host below the other leaf, others in each run."""
    n = params.spines
    return ["src=" + ",".join("h%d" % (i + 1) for i in range(2 * n)),
            "dst=" + ",".join("h%d" % ((i + number) % n + (n if leaf else 0) + 1) for leaf in (1, 0) for i in range(n))]


def guest(lab):
    p = lab.params
    lab.expect(len(cases(p, lab.scheme)) * p.runs * (p.warmup + p.time))
    for name in cases(p, lab.scheme):
        net = build(lab, name)
        now = rdma.counts(lab, net)
        for number in range(p.runs):
            case = "%s-%d.csv" % (name, number)
            message = ["message=%d" % p.message] if name in ("rxe", "write_only", "iwarp") else []
            if name not in ("iwarp", *OVER_NDP):
                message.append("ack_timeout=%d" % p.ack_timeout)
            lab.traffic(net, "--seed", 1000 * lab.seed + number, "--time", "%dns" % (p.warmup + p.time),
                        "--drain", "0ns", "--flows", lab.path("flows-" + case), "--series", lab.path("series-" + case), "--every",
                        "%dns" % (math.gcd(p.warmup, p.time) // SERIES), "bulk", *pairs(p, number), "connect=before",
                        "jitter=%dns" % p.jitter, *message, *WORDS[name])
            now = lb.write_counts(lab, net, lab.path("counts-" + case), now, rdma.counts)
        rdma.remove(net)


# ---- on the host

class Case:
    """Runs of a case: share of the line's goodput; NAKs and useless packets, % of the packets of data sent."""

    def __init__(self, run, scheme, name):
        p = run.params
        self.shares, self.naks, self.useless = [], [], []
        over_ndp = name in OVER_NDP
        column = "acked_bytes" if over_ndp else "received_bytes"
        data = rdma.MTU - ndp.NDP_HEADERS if over_ndp else rdma.MTU - HEADERS if name == "iwarp" else rdma.DATA
        most = data / (rdma.MTU + AROUND) if over_ndp or name == "iwarp" else rdma.SHARE
        for number in range(p.runs):
            case = "%s-%d.csv" % (name, number)
            flows = goodputs(run.csv(scheme, "series-" + case), p.warmup, p.warmup + p.time, column)
            self.shares.append(sum(flows) / (p.rate * most * 2 * p.spines))
            count = lb.read_counts(run, scheme, "counts-" + case)
            rows = run.csv(scheme, "flows-" + case).rows()
            packets = sum(flows) * (p.warmup + p.time) / 8e9 / data
            again = lb.again("ndp" if over_ndp else NETWORKS.get(name, name), rows, count)
            self.useless.append(100 * again / (packets + again))
            self.naks.append(100 * count["rcvd_seq_err"] / (packets + again) if name in NETWORKS else math.nan)


def report(run):
    found = {(scheme, name): Case(run, scheme, name) for scheme in run.schemes for name in cases(run.params, scheme)}
    head = ("transport", "scheme", "goodput over the line's", "least", "NAKs %", "useless %")
    rows = [(name, scheme, lb.with_interval(case.shares), min(case.shares),
             "-" if math.isnan(case.naks[0]) else "%.3g" % mean(case.naks), "%.3g" % mean(case.useless))
            for name in run.params.transports for scheme in run.schemes
            for case in [found.get((scheme, name))] if case]
    run.text("Of 100 packets of data sent: NAKs; useless ones, which arrived again or out of order and were dropped "
             "(rxe), or were sent again", "")
    run.table(head, rows)
    rdma.write_table(run.path("rdma-spray.csv"), head, rows)
    if not run.small and set(run.schemes) == set(SCHEMES):
        claims(run, found)
        draw(run, found)


def claims(run, found):
    def share(name, scheme):
        return mean(found[scheme, name].shares)

    names = run.params.transports
    for name in ("rxe", "write_only", "gbn"):
        if name in names:
            run.claim(name, "%s: goodput at random over that with ECMP" % name,
                      share(name, "random") / share(name, "ecmp"), "<= 0.5")
    if "ddp" in names and "rxe" in names:
        run.claim("ddp", "NDP with regions, which sprays, over rxe sprayed at random",
                  share("ddp", "ecmp") / max(share("rxe", "random"), 1e-3), ">= 2")
    if "ddp" in names and "ndp" in names:
        run.claim("region", "NDP with regions over NDP", share("ddp", "ecmp") / share("ndp", "ecmp"), ">= 0.99")


def draw(run, found):
    _, axis = run.figure("rdma-spray", 1, 1, (8, 3.4))
    width = 0.8 / len(run.schemes)
    for i, scheme in enumerate(run.schemes):
        at = [(x, found[scheme, name]) for x, name in enumerate(run.params.transports) if (scheme, name) in found]
        axis.bar([x + (i - len(run.schemes) / 2 + 0.5) * width for x, _ in at], [mean(c.shares) for _, c in at], width,
                 yerr=lb.errors([c.shares for _, c in at]), color=run.colour(scheme), label=scheme,
                 error_kw={"linewidth": 0.7})
    axis.set_xticks(range(len(run.params.transports)), run.params.transports)
    axis.set(ylabel="goodput over the line's", ylim=(0, 1.05), title="Eight queue pairs, four paths")
    axis.legend(fontsize=7)

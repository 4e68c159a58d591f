# SPDX-License-Identifier: GPL-2.0-only
"""Head-of-line blocking and incast between leaves: virtual output queues with credit beside PFC, DCQCN and NDP.

All hosts but one of each sending leaf send messages to one host at another leaf, round after round. The last host of
each sending leaf sends a bulk flow to another host at that leaf, whose port is not congested: the victims.

    fifo        TCP cubic over drop-tail ports
    pfc         no congestion control over a lossless fabric: sch_dcqcn with PFC, without marks
    dcqcn       tcp_dcqcn over the same with marks
    ndp         the NDP transport over trimming ports
    voq         TCP cubic through closfab and sch_voq: the ingress leaf holds packets until the egress port grants credit

Each run measures the victims alone, and with the incast.
"""
from closlab import dcqcn, fab, lb, topo
from closlab.params import Param
from closlab.results import mean
from closlab.tcp import SERIES, Queue, goodputs

PARAMS = [
    Param("leaves", "count", "4", "sending leaves"),
    Param("senders", "count", "16", "senders of the incast at each leaf"),
    Param("spines", "count", "2", "spines"),
    Param("rate", "rate", "10gbit", "rate of the hosts"),
    Param("uplink", "rate", "40gbit", "rate of the links between leaves and spines"),
    Param("delay", "time", "1us", "delay of each link"),
    Param("bytes", "size", "1M", "messages of the incast"),
    Param("rounds", "count", "1000", "rounds of the incast, ended by the end of the measurement"),
    Param("buffer", "count", "400", "buffer of a port of fifo and voq, packets"),
    Param("credit", "count", "8192", "size of credits, bytes"),
    Param("rtt", "time", "50us", "option rtt of voq"),
    Param("warmup", "time", "10ms", "time before the measurement"),
    Param("time", "time", "30ms", "duration of the measurement"),
    Param("every", "time", "10us", "interval between samples of the queue"),
]
SMALL = {"leaves": "1", "senders": "3", "warmup": "1ms", "time": "2ms", "bytes": "50k"}
SCHEMES = ("fifo", "pfc", "dcqcn", "ndp", "voq")
CASES = ("alone", "incast")
MEMORY = 6  # GiB
CC = {"fifo": "cc=cubic", "pfc": "cc=dcqcn", "dcqcn": "cc=dcqcn", "ndp": "transport=ndp", "voq": "cc=cubic"}


def hosts(p):
    """Return: hosts of a leaf."""
    return p.senders + 1


# ---- in the guest

def voq(lab, net):
    """Put voq behind closfab: credit at the ingress leaves, grants at the hosts' ports."""
    p = lab.params
    fab.attach(lab, net, "mode reorder")
    lab.module("sch_voq")
    words = "credit_size %d rtt %dus" % (p.credit, p.rtt // 1000)
    for leaf in fab.leaves(net):
        lines = ["qdisc replace dev %s root voq grant limit 10000 %s" % (port.dev, words)
                 for port in leaf.ports.values() if port.peer.node.is_host]
        lines.append("qdisc replace dev fab0 root voq credit limit 200000 voq_limit 20000 " + words)
        topo.run("tc", "-n", leaf.name, "-batch", "-", text=lines)


def network(lab):
    """Build the network."""
    p, scheme = lab.params, lab.scheme
    net = topo.leaf_spine(p.leaves + 1, p.spines, hosts(p), p.rate, p.delay, uplink=p.uplink)
    if scheme in ("pfc", "dcqcn"):
        dcqcn.load(lab)
        dcqcn.switch_qdiscs(net, dcqcn.marking() if scheme == "dcqcn" else dcqcn.marking(dcqcn.NEVER, dcqcn.NEVER))
        net.build(seed=lab.seed)
        return net
    lb.build(lab, net, "ndp" if scheme == "ndp" else "cubic", 8, p.buffer, seed=lab.seed,
             prepare=fab.prefer_control if scheme == "voq" else None)
    if scheme == "voq":
        voq(lab, net)
    return net


def victims(p):
    """Return: [(source, destination)]: the last host of each sending leaf, and a host of the first leaf but h1."""
    return [("h%d" % ((leaf + 2) * hosts(p)), "h%d" % (leaf % (hosts(p) - 1) + 2)) for leaf in range(p.leaves)]


def patterns(p, scheme, case):
    """Return: words of the traffic generator; the victims' flows first."""
    words = []
    for source, destination in victims(p):
        words += ["bulk", "src=" + source, "dst=" + destination, "flows=1", "jitter=0ns", CC[scheme], "--"]
    if case == "alone":
        return words[:-1]
    for leaf in range(p.leaves):
        first = (leaf + 1) * hosts(p) + 1
        words += ["incast", "src=h%d-h%d" % (first, first + p.senders - 1), "dst=h1", "bytes=%d" % p.bytes,
                  "rounds=%d" % p.rounds, "jitter=1us", CC[scheme], "--"]
    return words[:-1]


def guest(lab):
    p = lab.params
    net = network(lab)
    lab.expect(len(CASES) * (p.warmup + p.time))
    for case in CASES:
        lab.sample("queue-%s.csv" % case, p.every, [net.nodes["leaf1"].port("h1")], p.warmup)
        lab.traffic(net, "--time", "%dns" % (p.warmup + p.time), "--drain", "0ns",
                    "--flows", lab.path("flows-%s.csv" % case), "--series", lab.path("series-%s.csv" % case), "--every",
                    "%dns" % (p.time // SERIES), *patterns(p, lab.scheme, case))
        drops = sum(dropped(switch) for switch in net.switches())
        with open(lab.path("counts-%s.csv" % case), "w", encoding="ascii") as f:
            f.write("name,count\ndrops,%d\n" % drops)
        dcqcn.drain()


def dropped(switch):
    """Return: packets that the root qdiscs of a switch have dropped."""
    text = topo.run("tc", "-n", switch.name, "-s", "qdisc", "show")
    return sum(int(line.split("dropped ")[1].split(",")[0]) for line in text.splitlines() if "dropped " in line
               and "Sent " in line)


# ---- on the host

class Case(Queue):
    """Results of a case.

    victims     goodput of the victims' flows, bit/s
    largest     largest sample of the congested port's queue, bytes
    dropped     packets dropped in all switches
    """

    def __init__(self, run, scheme, name):
        p = run.params
        begin, end = p.warmup, p.warmup + p.time
        super().__init__(run, scheme, name, p.rate, begin, end)
        # NDP's receivers count whole messages only
        self.victims = goodputs(run.csv(scheme, "series-%s.csv" % name), begin, end,
                                "acked_bytes" if scheme == "ndp" else "received_bytes")[:p.leaves]
        self.largest = max(self.queue_bytes)
        table = run.csv(scheme, "counts-%s.csv" % name)
        self.dropped = dict(zip(table["name"], table["count"]))["drops"]


def report(run):
    p, rows, kept = run.params, [], {}
    some = {scheme: {name: Case(run, scheme, name) for name in CASES} for scheme in run.schemes}
    for scheme, found in some.items():
        alone, incast = found["alone"], found["incast"]
        kept[scheme] = sum(incast.victims) / sum(alone.victims)
        rows.append((scheme, sum(alone.victims) / p.leaves / 1e9, sum(incast.victims) / p.leaves / 1e9, kept[scheme],
                     min(v / a for v, a in zip(incast.victims, alone.victims)), incast.sent_bytes * 8 / p.time,
                     mean(incast.queue_bytes) / 1e3, incast.largest / 1e3, incast.dropped - alone.dropped))
    run.table(("scheme", "victims alone, Gbit/s", "with incast", "kept", "worst", "congested port, Gbit/s",
               "its queue, kB: mean", "max", "drops"), rows)
    if "voq" in run.schemes:
        own = some["voq"]["incast"]
        run.claim("voq-drops", "voq: number of dropped packets", own.dropped - some["voq"]["alone"].dropped, "== 0")
        run.claim("voq-queue", "voq: largest queue of the congested port in credits a sender",
                  own.largest / (p.credit * p.leaves * p.senders), "<= 2")
        run.claim("voq-victims", "voq: victims' goodput with incast over goodput alone", kept["voq"], ">= 0.95")
    if not run.small and set(SCHEMES) == set(run.schemes):
        run.claim("pfc-victims", "pfc: victims' goodput with incast over goodput alone", kept["pfc"], "<= 0.7")
        draw(run, some, kept)


def draw(run, some, kept):
    _, axes = run.figure("voq", 1, 2, (8, 3.2))
    for x, scheme in enumerate(run.schemes):
        axes[0].bar(x, 100 * kept[scheme], 0.8, color=run.colour(scheme))
        axes[1].bar(x, some[scheme]["incast"].largest / 1e3, 0.8, color=run.colour(scheme))
    axes[0].set(ylabel="goodput kept by victims, %", title="Victims of a congested neighbour port")
    axes[1].set(yscale="log", ylabel="kB", title="Largest queue of the congested port")
    for axis in axes:
        axis.set_xticks(range(len(run.schemes)), run.schemes)

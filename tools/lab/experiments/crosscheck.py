# SPDX-License-Identifier: GPL-2.0-only
"""Dumbbell, incast and permutation in the form that tools/lab/crosscheck/compare repeats in ns-3.

A scheme is a scenario and a congestion control:

    dumbbell-CC      N endless flows, each between hosts of its own, through one link; a case for each number of `flows`
    incast-CC        N hosts at one switch send a message each to the same host, round after round
    permutation-CC   each host of a fat tree sends to one host and receives from one host, with ECMP by the five-tuple

dctcp's ports mark above K packets, the other ports are drop-tail FIFOs. `stack` "plain" switches off what ns-3 lacks:
TSO, RACK, tail loss probes and F-RTO.
"""
import math

from closlab import ndp, topo
from closlab.params import Param
from closlab.results import jain, mean, quantile
from closlab.tcp import AROUND, DATA, FRAME, HEADERS, SERIES, WIRE, Queue, goodputs

PARAMS = [
    Param("stack", "word", "linux", "TCP with all of Linux's features, or without those that ns-3 lacks",
          choices=("linux", "plain")),
    Param("rate", "rate", "10gbit", "rate of all links"),
    Param("rto_min", "time", "5ms", "TCP's shortest timeout"),
    Param("friendly", "count", "1", "cubic's parameter tcp_friendliness; 0: never grow as Reno"),
    Param("flows", "count", "2,8,32", "dumbbell: numbers of flows, a case each", several=True),
    Param("dumbbell_delay", "time", "16us", "dumbbell: delay of each link; an RTT has six"),
    Param("dumbbell_buffer", "count", "462", "dumbbell: buffer of a port, packets"),
    Param("dumbbell_k", "count", "65", "dumbbell: marking threshold, packets"),
    Param("dumbbell_warmup", "time", "50ms", "dumbbell: time before the measurement"),
    Param("dumbbell_time", "time", "100ms", "dumbbell: duration of the measurement"),
    Param("dumbbell_jitter", "time", "10ms", "dumbbell: interval in which the flows start"),
    Param("every", "time", "20us", "interval between queue samples"),
    Param("senders", "count", "8,32", "incast: numbers of senders, a case each", several=True),
    Param("bytes", "size", "100k,1M", "incast: sizes of a message, a case each", several=True),
    Param("rounds", "count", "5", "incast: number of rounds"),
    Param("incast_delay", "time", "5us", "incast: delay of each link; an RTT has four"),
    Param("incast_jitter", "time", "1us", "incast: interval in which the messages of a round start"),
    Param("arity", "count", "4", "permutation: k of the fat tree, which has k^3/4 hosts"),
    Param("permutations", "count", "2", "permutation: number of permutations, run in sequence"),
    Param("permutation_delay", "time", "1us", "permutation: delay of each link"),
    Param("permutation_warmup", "time", "5ms", "permutation: time before the measurement"),
    Param("permutation_time", "time", "20ms", "permutation: duration of the measurement"),
    Param("permutation_jitter", "time", "100us", "permutation: interval in which the flows start"),
    Param("buffer", "count", "200", "incast, permutation: buffer of a port, packets"),
    Param("k", "count", "30", "incast, permutation: marking threshold, packets"),
]
SMALL = {"flows": "2", "dumbbell_warmup": "20ms", "dumbbell_time": "5ms", "dumbbell_jitter": "1ms", "every": "100us",
         "senders": "4", "bytes": "100k", "rounds": "1", "arity": "2", "permutations": "1", "permutation_warmup": "1ms",
         "permutation_time": "2ms"}
SCHEMES = ("dumbbell-dctcp", "dumbbell-cubic", "dumbbell-reno", "incast-dctcp", "incast-cubic", "incast-reno",
           "permutation-dctcp")
MEMORY = 2  # GiB

FRIENDLY = "/sys/module/tcp_cubic/parameters/tcp_friendliness"
PLAIN = {"ipv4/tcp_recovery": "0", "ipv4/tcp_early_retrans": "0", "ipv4/tcp_frto": "0"}


def cases(params, scheme):
    """Return: [(name, flows, bytes or 0)] of a scheme."""
    if scheme.startswith("dumbbell"):
        return [("n%d" % n, n, 0) for n in params.flows]
    if scheme.startswith("incast"):
        return [("n%d-%d" % (n, size), n, size) for n in params.senders for size in params.bytes]
    return [("p%d" % number, params.arity ** 3 // 4, 0) for number in range(params.permutations)]


# ---- in the guest

def port_qdisc(cc, buffer, k):
    """Return: qdisc of a switch's port; red's thresholds as in dctcp_known.py."""
    if cc != "dctcp":
        return "bfifo limit %d" % (buffer * FRAME)
    return "red limit %d min %d max %d avpkt %d burst %d probability 1 ecn" % (
        buffer * FRAME, k * FRAME, k * FRAME + 1, FRAME, k)


def build(p, net, cc, buffer, k):
    for port in net.switch_ports():
        port.ring = 2       # two frames, so that packets queue in the qdisc
        port.qdisc = "%s%s" % (port_qdisc(cc, buffer, k), " bandwidth %dbit" % p.rate if cc == "dctcp" else "")
    net.host_sysctls["ipv4/tcp_rto_min_us"] = str(p.rto_min // 1000)
    if p.stack == "plain":
        net.host_sysctls.update(PLAIN)
    net.build()
    with open(FRIENDLY, "w", encoding="ascii") as f:
        f.write(str(p.friendly))
    if p.stack == "plain":
        for host in net.hosts():
            topo.run("ip", "-n", host.name, "link", "set", "eth0", "gso_max_segs", "1")


def series(lab, name, warmup, time):
    """Return: options of the traffic generator for an endless measurement."""
    return ("--time", "%dns" % (warmup + time), "--drain", "0ns", "--flows", lab.path("flows-%s.csv" % name),
            "--series", lab.path("series-%s.csv" % name), "--every", "%dns" % (math.gcd(warmup, time) // SERIES))


def guest(lab):
    scenario, _, cc = lab.scheme.partition("-")
    {"dumbbell": dumbbell, "incast": incast, "permutation": permutation}[scenario](lab, lab.params, cc)


def dumbbell(lab, p, cc):
    """Connections exist before the flows start, since a lost SYN costs a second."""
    net = topo.dumbbell(max(p.flows), p.rate, p.dumbbell_delay, p.rate, p.dumbbell_delay)
    build(p, net, cc, p.dumbbell_buffer, p.dumbbell_k)
    lab.expect(len(p.flows) * (p.dumbbell_warmup + p.dumbbell_time))
    for name, flows, _ in cases(p, lab.scheme):
        lab.sample("queue-%s.csv" % name, p.every, [net.nodes["left"].port("right")])
        lab.traffic(net, *series(lab, name, p.dumbbell_warmup, p.dumbbell_time), "bulk", "src=s1-s%d" % flows,
                    "dst=r1-r%d" % flows, "cc=" + cc, "jitter=%dns" % p.dumbbell_jitter, "connect=before")


def incast(lab, p, cc):
    net = topo.star(max(p.senders) + 1, p.rate, p.incast_delay)
    build(p, net, cc, p.buffer, p.k)
    lab.expect(sum(round(p.rounds * optimum_ns(p, *case[1:])) for case in cases(p, lab.scheme)))
    for name, senders, size in cases(p, lab.scheme):
        lab.sample("queue-%s.csv" % name, 5 * p.every, [net.nodes["switch"].port("h1")])
        lab.traffic(net, "--flows", lab.path("flows-%s.csv" % name), "incast", "src=h2-h%d" % (senders + 1), "dst=h1",
                    "bytes=%d" % size, "rounds=%d" % p.rounds, "jitter=%dns" % p.incast_jitter, "cc=" + cc)


def permutation(lab, p, cc):
    net = topo.fat_tree(p.arity, p.rate, p.permutation_delay)
    build(p, net, cc, p.buffer, p.k)
    lab.expect(p.permutations * (p.permutation_warmup + p.permutation_time))
    for number, (name, _, _) in enumerate(cases(p, lab.scheme)):
        lab.traffic(net, "--seed", 1000 * lab.seed + number,
                    *series(lab, name, p.permutation_warmup, p.permutation_time),
                    "permutation", "jitter=%dns" % p.permutation_jitter, "cc=" + cc)


# ---- on the host

def optimum_ns(params, senders, size):
    """Return: time in which the receiver's link carries all packets, plus an RTT of a packet and its ACK, ns."""
    rtt = 4 * params.incast_delay + 2 * (WIRE + HEADERS + AROUND) * 8e9 / params.rate
    return senders * ndp.wire_bytes(size, FRAME - 14, HEADERS) * 8e9 / params.rate + rtt


def of_dumbbell(run, scheme, name):
    p = run.params
    begin, end = p.dumbbell_warmup, p.dumbbell_warmup + p.dumbbell_time
    queue = Queue(run, scheme, name, p.rate, begin, end)
    packets = [size / FRAME for size in queue.queue_bytes]
    each = goodputs(run.csv(scheme, "series-%s.csv" % name), begin, end)
    return {"goodput": sum(each) / (p.rate * DATA / WIRE), "jain": jain(each), "queue mean": mean(packets),
            "queue p5": quantile(packets, 0.05), "queue p50": quantile(packets, 0.5),
            "queue p95": quantile(packets, 0.95), "drops": queue.drops}


def of_incast(run, scheme, name, senders, size):
    p = run.params
    by_round = {}
    for row in run.csv(scheme, "flows-%s.csv" % name).rows():
        by_round.setdefault(row["round"], []).append((row["start_ns"], row["start_ns"] + row["fct_ns"]))
    last = [(max(end for _, end in some) - min(start for start, _ in some)) / optimum_ns(p, senders, size)
            for some in by_round.values()]
    drops = run.csv(scheme, "queue-%s.csv" % name)["drops"]
    return {"last over optimum": quantile(last, 0.5), "worst round": max(last),
            "drops per round": (drops[-1] - drops[0]) / p.rounds}


def shares_of(run, scheme):
    """Return: goodputs of the flows of each permutation, relative to a link's maximum."""
    p = run.params
    begin, end = p.permutation_warmup, p.permutation_warmup + p.permutation_time
    return [[g / (p.rate * DATA / WIRE) for g in goodputs(run.csv(scheme, "series-%s.csv" % name), begin, end)]
            for name, _, _ in cases(p, scheme)]


def distribution(each):
    """Return: {measure: value} of the shares of EACH permutation."""
    shares = [share for some in each for share in some]
    middle = mean(shares)
    return {"goodput": middle, "spread": math.sqrt(mean([(share - middle) ** 2 for share in shares])),
            "goodput p10": quantile(shares, 0.1), "goodput p50": quantile(shares, 0.5),
            "jain": mean([jain(some) for some in each])}


def measures(run):
    """Return: {(scheme, case, measure): value}, of the lab or of ns-3."""
    found = {}
    for scheme in run.schemes:
        scenario = scheme.partition("-")[0]
        if scenario == "permutation":
            points = {"all": distribution(shares_of(run, scheme))}
        elif scenario == "incast":
            points = {case[0]: of_incast(run, scheme, *case) for case in cases(run.params, scheme)}
        else:
            points = {case[0]: of_dumbbell(run, scheme, case[0]) for case in cases(run.params, scheme)}
        found.update({(scheme, name, measure): value for name, point in points.items()
                      for measure, value in point.items()})
    return found


def report(run):
    found = measures(run)
    run.text("Goodput and spread relative to a link's maximum, queue in packets of %d bytes" % FRAME, "")
    run.table(("scheme", "case", "measure", "value"), [key + (value,) for key, value in found.items()])
    filled = [value for (scheme, _, measure), value in found.items()
              if scheme.startswith("dumbbell") and measure == "goodput"]
    if filled:
        run.claim("dumbbell-goodput", "smallest share of the bottleneck that the flows use", min(filled), ">= 0.9")

# SPDX-License-Identifier: GPL-2.0-only
"""Benchmark traffic of the DCQCN paper on RoCEv2: goodput of users and of an incast, PFC alone and DCQCN.

Y. Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, figures 15 and 16. The paper's
testbed (closlab.topo.two_pods) carries two kinds of traffic at once:

    users    pairs of hosts, chosen at random in each run, send flows of one size distribution one after the other
    incast   `degree` hosts send to one host, as if they restored a failed disk, all the time

Cases: 20 pairs with each incast degree (figure 15), and each number of pairs with the largest degree (figure 16). The
goodput of a user is that of each of its flows, bytes over time; of the incast, that of each sender.

    pfc     rxe, PFC alone
    dcqcn   rxe with sch_roce; switches mark before they pause
"""
import random

from closlab import lb, pcrp, rdma, topo
from closlab.params import Param
from closlab.results import log_axis, mean, quantile
from closlab.tcp import SERIES, goodputs

PARAMS = [
    Param("rate", "rate", "40gbit", "rate of all links"),
    Param("delay", "time", "1500ns", "delay of each link"),
    Param("sizes", "word", "alistorage2019", "distribution of sizes", choices=("alistorage2019", "websearch")),
    Param("degrees", "count", "2,6,10", "incast degrees, a case each", several=True),
    Param("pairs", "count", "20,40,80", "numbers of pairs, a case each", several=True),
    Param("runs", "count", "5", "runs of each case"),
    Param("pmax", "number", "20", "pmax of the marking, %"),
    Param("warmup", "time", "30ms", "time before the measurement"),
    Param("time", "time", "20ms", "duration of the measurement"),
]
SMALL = {"rate": "10gbit", "degrees": "2", "pairs": "4", "runs": "1", "warmup": "1ms", "time": "2ms"}
SCHEMES = ("pfc", "dcqcn")
HOSTS = 5           # at a ToR


def cases(params):
    """Return: [(pairs, degree)]."""
    return [(params.pairs[0], degree) for degree in params.degrees] + [
        (pairs, params.degrees[-1]) for pairs in params.pairs[1:]]


def file_name(kind, case, number):
    return "%s-%d-%d-%d.csv" % (kind, *case, number)


# ---- in the guest

def patterns(params, net, case, number, seed):
    """Return: words of the traffic generator: the incast, then the pairs."""
    pairs, degree = case
    draw = random.Random(1000 * seed + number)
    names = [host.name for host in net.hosts()]
    target, *senders = draw.sample(names, degree + 1)
    more = ["jitter=100us", *rdma.flow_words("roce", 64000)]
    words = ["bulk", "name=incast", "src=" + ",".join(senders), "dst=" + target, "connect=before", *more]
    peers = {}
    for _ in range(pairs):
        a, b = draw.sample(names, 2)
        peers.setdefault(a, []).append(b)
    for a, others in peers.items():
        words += ["--", "closed", "name=user", "src=" + a, "dst=" + ",".join(sorted(set(others))),
                  "concurrency=%d" % len(others), "cdf=" + pcrp.cdf(params.sizes), *more]
    return words


def guest(lab):
    p = lab.params
    lab.expect(len(cases(p)) * p.runs * (p.warmup + p.time))
    net = topo.two_pods(HOSTS, p.rate, p.delay, mtu=rdma.MTU)
    alone = lab.scheme == "pfc"
    rdma.build_dcqcn(lab, net, "roce", rdma.without_marks() if alone else "pmax %g%%" % p.pmax, not alone)
    for case in cases(p):
        for number in range(p.runs):
            lab.sample(file_name("ports", case, number), p.time, net.switch_ports(), p.warmup)
            lab.traffic(net, "--seed", 1000 * lab.seed + number, "--time", "%dns" % (p.warmup + p.time),
                        "--drain", "5ms", "--flows", lab.path(file_name("flows", case, number)),
                        "--series", lab.path(file_name("series", case, number)), "--every", "%dns" % (p.time // SERIES),
                        *patterns(p, net, case, number, lab.seed))
    rdma.write_counters(lab.path("rxe.csv"), net)


# ---- on the host

class Case:
    """Runs of a case: lists of p10 and median goodputs of users and of the incast's senders, Gbit/s; pause frames."""

    def __init__(self, run, scheme, case):
        p, end = run.params, run.params.warmup + run.params.time
        self.user_p10, self.user, self.incast_p10, self.incast, self.pauses, self.drops = [], [], [], [], [], []
        for number in range(p.runs):
            rows = run.csv(scheme, file_name("flows", case, number)).rows()
            users = [row["bytes"] * 8 / row["fct_ns"] for row in rows if row["name"] == "user" and
                     row["state"] == "done" and p.warmup <= row["start_ns"] < end]
            series = run.csv(scheme, file_name("series", case, number))
            both = [bps / 1e9 for bps in goodputs(series, p.warmup, end)]
            incast = both[:case[1]]
            ports = run.csv(scheme, file_name("ports", case, number))
            first, last = (ports.where(time_ns=at) for at in (p.warmup, end))
            for own, value in ((self.user_p10, quantile(users, 0.1)), (self.user, quantile(users, 0.5)),
                               (self.incast_p10, quantile(incast, 0.1)), (self.incast, quantile(incast, 0.5)),
                               (self.pauses, sum(last["pauses"]) - sum(first["pauses"])),
                               (self.drops, sum(last["drops"]) - sum(first["drops"]))):
                own.append(value)


HEAD = ("scheme", "pairs", "degree", "users: p10", "median", "incast: p10", "median", "pauses", "drops")


def report(run):
    found = {(scheme, case): Case(run, scheme, case) for scheme in run.schemes for case in cases(run.params)}
    rows = [(scheme, *case, *(lb.with_interval(values) for values in (c.user_p10, c.user, c.incast_p10, c.incast)),
             sum(c.pauses), sum(c.drops)) for (scheme, case), c in found.items()]
    run.text("Goodput in Gbit/s, means of the runs; pause frames and drops of all runs", "")
    run.table(HEAD, rows)
    rdma.write_table(run.path("rdma-benchmark.csv"), HEAD, rows)
    run.claim("drops", "number of dropped packets", sum(sum(c.drops) for c in found.values()), "== 0")
    if run.small or set(run.schemes) != set(SCHEMES):
        return
    for case in cases(run.params):
        pfc, own = found["pfc", case], found["dcqcn", case]
        name = "%d-%d" % case
        run.claim("user-" + name, "%d pairs, degree %d: users' median goodput with DCQCN over PFC alone" % case,
                  mean(own.user) / mean(pfc.user), ">= 1")
        run.claim("incast-" + name, "%d pairs, degree %d: incast's p10 with DCQCN over PFC alone" % case,
                  mean(own.incast_p10) / max(mean(pfc.incast_p10), 1e-3), ">= 1")
    run.claim("pauses", "pause frames with PFC alone over those with DCQCN (at least 1)",
              sum(sum(found["pfc", case].pauses) for case in cases(run.params)) /
              max(1, sum(sum(found["dcqcn", case].pauses) for case in cases(run.params))), ">= 100")
    draw(run, found)


def draw(run, found):
    _, axes = run.figure("rdma-benchmark", 1, 2, (10, 3.4))
    todo = cases(run.params)
    for axis, key, title in ((axes[0], "user", "Users"), (axes[1], "incast", "Incast")):
        for i, scheme in enumerate(run.schemes):
            for name, marker in ((key, "o"), (key + "_p10", "x")):
                values = [getattr(found[scheme, case], name) for case in todo]
                axis.errorbar([x + 0.1 * i for x in range(len(todo))], [mean(v) for v in values],
                              lb.errors(values), marker=marker, linestyle="-" if marker == "o" else ":",
                              color=run.colour(scheme), label="%s, %s" % (scheme, "p10" if marker == "x" else "median"))
        axis.set_xticks(range(len(todo)), ["%d pairs\ndegree %d" % case for case in todo])
        axis.set(title=title, ylabel="goodput, Gbit/s")
        log_axis(axis.yaxis)
        axis.legend(fontsize=7)

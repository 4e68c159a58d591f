# SPDX-License-Identifier: GPL-2.0-only
"""RoCEv2 of Linux's rxe with PFC alone, and with DCQCN of sch_roce: shares, throughput, pause frames.

The paper: Y. Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, figures 12 to 14. 2 to 20
hosts at one switch send RDMA WRITEs to another host, one queue pair each:

    pfc     no congestion control, as rxe has none: pause frames keep the network lossless
    dcqcn   sch_roce at the hosts: a rate limiter for each queue pair, and notification packets (CNPs) from the
            receiver; the switch marks before it pauses
    tcp     tcp_dcqcn at the hosts instead, with the same MTU, for comparison

The ports of the switch share a buffer with the paper's share of memory for each port, and dynamic thresholds with
beta = 8. CNPs have a higher priority than data. Parking lot and victims: dcqcn-pfc with transport=roce.
"""
from closlab import dcqcn, lb, rdma, topo
from closlab.params import Param
from closlab.results import jain, mean
from closlab.tcp import HEADERS, AROUND, SERIES, Queue, goodputs

PARAMS = [
    Param("rates", "rate", "10gbit,40gbit,100gbit", "rates of all links, a case each", several=True),
    Param("delay", "time", "1500ns", "delay of each link"),
    Param("senders", "count", "2,4,8,16,20", "numbers of senders, a case each", several=True, held_out=("2", "20")),
    Param("runs", "count", "5", "runs of each case"),
    Param("kmin", "size", "5k", "kmin of the marking"),
    Param("kmax", "size", "200k", "kmax"),
    Param("pmax", "number", "20", "pmax, %"),
    Param("message", "size", "64k", "bytes of a WRITE"),
    Param("jitter", "time", "1ms", "interval in which the flows start"),
    Param("warmup", "time", "60ms", "time before the measurement"),
    Param("time", "time", "20ms", "duration of the measurement"),
    Param("every", "time", "20us", "interval between queue samples"),
]
SMALL = {"rates": "10gbit", "senders": "2", "runs": "1", "jitter": "100us", "warmup": "2ms", "time": "2ms",
         "every": "100us"}
SCHEMES = ("pfc", "dcqcn", "tcp")
PAUSES_LESS = 100   # DCQCN reduces pause frames at least by this factor


def cases(params):
    return [(rate, senders) for rate in params.rates for senders in params.senders]


def file_name(kind, case, number):
    return "%s-%dg-%d-%d.csv" % (kind, case[0] // topo.GBIT, case[1], number)


# ---- in the guest

def guest(lab):
    p = lab.params
    lab.expect(len(cases(p)) * p.runs * (p.warmup + p.time))
    for rate in p.rates:
        net = topo.star(max(p.senders) + 1, rate, p.delay, mtu=rdma.MTU)
        alone = lab.scheme == "pfc"
        transport = "tcp" if lab.scheme == "tcp" else "roce"
        rdma.build_dcqcn(lab, net, transport,
                         rdma.without_marks() if alone else
                         "%s pmax %g%%" % (dcqcn.marking(p.kmin, p.kmax), p.pmax), not alone)
        for senders in p.senders:
            for number in range(p.runs):
                measure(lab, net, transport, (rate, senders), number)
        if transport == "roce":
            rdma.write_counters(lab.path("rxe-%dg.csv" % (rate // topo.GBIT)), net)
        rdma.remove(net)


def measure(lab, net, transport, case, number):
    p = lab.params
    lab.sample(file_name("queue", case, number), p.every, [net.nodes["switch"].port("h1")], p.warmup)
    lab.sample(file_name("ports", case, number), p.time, net.switch_ports(), p.warmup)
    lab.traffic(net, "--seed", 1000 * lab.seed + number, "--time", "%dns" % (p.warmup + p.time), "--drain", "1ms",
                "--series", lab.path(file_name("series", case, number)), "--every", "%dns" % (p.time // SERIES),
                "bulk", "src=h2-h%d" % (case[1] + 1), "dst=h1", "connect=before", "jitter=%dns" % p.jitter,
                *rdma.flow_words(transport, p.message))
    dcqcn.drain()


# ---- on the host

class Run:
    """Results of a run: share of the line's goodput, Jain's index, smallest share relative to an equal one, counts."""

    def __init__(self, run, scheme, case, number):
        p, end = run.params, run.params.warmup + run.params.time
        most = (rdma.MTU - HEADERS) / (rdma.MTU + AROUND) if scheme == "tcp" else rdma.SHARE
        self.goodputs = goodputs(run.csv(scheme, file_name("series", case, number)), p.warmup, end)
        self.share = sum(self.goodputs) / (case[0] * most)
        self.jain = jain(self.goodputs)
        self.least = min(self.goodputs) * len(self.goodputs) / sum(self.goodputs)
        name = "%dg-%d-%d" % (case[0] // topo.GBIT, case[1], number)
        queue = Queue(run, scheme, name, case[0], p.warmup, end)
        self.queue, self.p99 = queue.mean_us, queue.quantile_us(0.99)
        ports = run.csv(scheme, file_name("ports", case, number))
        first, last = (ports.where(time_ns=at) for at in (p.warmup, end))
        self.pauses, self.drops, self.marks = (
            sum(last[key]) - sum(first[key]) for key in ("pauses", "drops", "marks"))


class Case:
    """The runs of a case. values(NAME): an attribute of each run"""

    def __init__(self, run, scheme, case):
        self.scheme, self.rate, self.senders = scheme, *case
        self.runs = [Run(run, scheme, case, number) for number in range(run.params.runs)]

    def values(self, name):
        return [getattr(one, name) for one in self.runs]

    def row(self):
        return (self.scheme, self.rate // topo.GBIT, self.senders, lb.with_interval(self.values("share")),
                lb.with_interval(self.values("jain")), min(self.values("least")), mean(self.values("queue")),
                max(self.values("p99"))) + tuple(sum(self.values(key)) for key in ("marks", "pauses", "drops"))


HEAD = ("scheme", "Gbit/s", "senders", "utilization", "Jain", "min share", "queue µs", "p99", "marks", "pauses",
        "drops")


def report(run):
    found = {scheme: [Case(run, scheme, case) for case in cases(run.params)] for scheme in run.schemes}
    every = [case for some in found.values() for case in some]
    run.text("min share: the smallest goodput of all runs, 1 if all are equal; p99: the largest of the runs; marks, "
             "pause frames and drops of all runs", "")
    run.table(HEAD, [case.row() for case in every])
    rdma.write_table(run.path("rdma-dcqcn.csv"), HEAD, [case.row() for case in every])
    lost = sum(sum(run.csv(scheme, "rxe-%dg.csv" % (rate // topo.GBIT))["out_of_seq_request"])
               for scheme in run.schemes if scheme != "tcp" for rate in run.params.rates)
    run.claim("drops", "number of dropped packets", sum(sum(case.values("drops")) for case in every), "== 0")
    run.claim("lost", "number of packets that rxe misses", lost, "== 0")
    if not run.small:
        claims(run, found)
        draw(run, found)


def claims(run, found):
    for rate in run.params.rates:
        name = "%dg" % (rate // topo.GBIT)
        some = [case for case in found.get("dcqcn", ()) if case.rate == rate]
        for case in some:
            run.claim("share-%s-%d" % (name, case.senders), "%s, %d senders, DCQCN: mean utilization of the link" % (
                name, case.senders), mean(case.values("share")), ">= 0.975")
            run.claim("jain-%s-%d" % (name, case.senders), "%s, %d senders, DCQCN: mean of Jain's index" % (
                name, case.senders), mean(case.values("jain")), ">= 0.98")
        alone = [case for case in found.get("pfc", ()) if case.rate == rate]
        if some and alone:
            pauses, before = (sum(sum(case.values("pauses")) for case in of) for of in (some, alone))
            run.claim("pauses-" + name, "%s: pause frames with PFC alone, over those with DCQCN (at least 1)" % name,
                      before / max(pauses, 1), ">= %d" % PAUSES_LESS)


def draw(run, found):
    _, axes = run.figure("rdma-dcqcn", 1, 3, (12, 3.4))
    styles = dict(zip(run.params.rates, ("-", "--", ":")))
    for scheme, some in found.items():
        for rate in run.params.rates:
            of_rate = [case for case in some if case.rate == rate]
            names = [str(case.senders) for case in of_rate]
            label = "%s, %d Gbit/s" % (scheme, rate // topo.GBIT)
            for axis, key in ((axes[0], "share"), (axes[1], "jain")):
                axis.errorbar(names, [mean(case.values(key)) for case in of_rate],
                              lb.errors([case.values(key) for case in of_rate]), marker="o", markersize=3,
                              linewidth=1, linestyle=styles.get(rate, "-"), color=run.colour(scheme), label=label)
            axes[2].plot(names, [sum(case.values("pauses")) for case in of_rate], "o", markersize=3,
                         linestyle=styles.get(rate, "-"), color=run.colour(scheme))
    axes[0].set(xlabel="senders", ylabel="goodput over the line's", title="Utilization", ylim=(0.9, 1.01))
    axes[1].set(xlabel="senders", ylabel="Jain's index", title="Fairness", ylim=(0.9, 1.01))
    axes[2].set(xlabel="senders", ylabel="pause frames of all runs", yscale="symlog", title="PFC")
    axes[2].legend(*axes[0].get_legend_handles_labels(), fontsize=6, loc="center left", bbox_to_anchor=(1.02, 0.5))

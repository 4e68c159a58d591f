# SPDX-License-Identifier: GPL-2.0-only
"""RoCEv2 of Linux's rxe with PFC alone, and with DCQCN of sch_roce: shares, throughput, pause frames.

The paper: Y. Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015. Queue pairs of rdma_rxe
send RDMA WRITEs in two networks with links of one rate:

    lot     a row of four switches with one host each, which all send to a host at the end (figure 3). A paused port
            gives each of its inputs the same rate, so the expected shares are 1/8, 1/8, 1/4, 1/2
    star    2 to 20 hosts at one switch send to another one (figures 12 to 14)

    pfc     no congestion control, as rxe has none: pause frames keep the network lossless
    dcqcn   sch_roce at the hosts: a rate limiter for each queue pair, and notification packets (CNPs) from the
            receiver; the switches mark before they pause

The ports of a switch share a buffer with the paper's share of memory for each port, and dynamic thresholds with
beta = 8. CNPs share the queues of data, but in these networks no data goes their way.
"""
from closlab import dcqcn, rdma, topo
from closlab.params import Param
from closlab.results import jain
from closlab.tcp import SERIES, Queue, goodputs

PARAMS = [
    Param("rate", "rate", "40gbit", "rate of all links"),
    Param("delay", "time", "1500ns", "delay of each link"),
    Param("senders", "count", "2,4,8,16,20", "star: numbers of senders, a case each", several=True),
    Param("pmax", "count", "20", "pmax of the marking, %"),
    Param("message", "size", "64k", "bytes of a WRITE"),
    Param("jitter", "time", "1ms", "interval in which the flows start"),
    Param("warmup", "time", "60ms", "time before the measurement"),
    Param("time", "time", "20ms", "duration of the measurement"),
    Param("every", "time", "20us", "interval between queue samples"),
]
SMALL = {"rate": "10gbit", "senders": "2", "jitter": "100us", "warmup": "2ms", "time": "2ms", "every": "100us"}
SCHEMES = ("lot-pfc", "lot-dcqcn", "star-pfc", "star-dcqcn")
LOT = 4             # hosts that send
PAUSES_LESS = 100   # DCQCN reduces pause frames at least by this factor


def cases(params, scheme):
    """Return: [(name, senders, receiver)] of a scheme."""
    if scheme.startswith("lot"):
        return [("lot", "h1-h%d" % LOT, "r")]
    return [("star-%d" % n, "h2-h%d" % (n + 1), "h1") for n in params.senders]


# ---- in the guest

def network(params, scheme):
    if scheme.startswith("lot"):
        return topo.parking_lot(LOT, params.rate, params.delay, mtu=rdma.MTU)
    return topo.star(max(params.senders) + 1, params.rate, params.delay, mtu=rdma.MTU)


def port_to(net, host):
    """Return: the switch's port to the host."""
    return next(iter(net.nodes[host].ports.values())).peer


def guest(lab):
    p = lab.params
    lab.module("sch_dcqcn")
    lab.module("sch_roce")
    net = network(p, lab.scheme)
    net.rdma("rxe")
    with_dcqcn = lab.scheme.endswith("dcqcn")
    dcqcn.switch_qdiscs(net, "pmax %d%%" % p.pmax if with_dcqcn else dcqcn.marking(dcqcn.NEVER, dcqcn.NEVER))
    net.build(host_qdisc="roce" if with_dcqcn else None)
    todo = cases(p, lab.scheme)
    lab.expect(len(todo) * (p.warmup + p.time))
    for name, senders, receiver in todo:
        lab.sample("queue-%s.csv" % name, p.every, [port_to(net, receiver)], p.warmup)
        lab.sample("ports-%s.csv" % name, p.time, net.switch_ports(), p.warmup)
        lab.traffic(net, "--time", "%dns" % (p.warmup + p.time), "--drain", "1ms",
                    "--series", lab.path("series-%s.csv" % name), "--every", "%dns" % (p.time // SERIES),
                    "bulk", "src=" + senders, "dst=" + receiver, "transport=roce", "message=%d" % p.message,
                    "connect=before", "jitter=%dns" % p.jitter)
        dcqcn.drain()
    rdma.write_counters(lab.path("rxe.csv"), net)


# ---- on the host

class Case(Queue):
    """Results of a case: shares of the line's goodput, Jain's index, smallest share relative to an equal one, counts."""

    def __init__(self, run, scheme, name):
        p = run.params
        super().__init__(run, scheme, name, p.rate, p.warmup, p.warmup + p.time)
        self.scheme, self.name = scheme, name
        self.goodputs = goodputs(run.csv(scheme, "series-%s.csv" % name), p.warmup, p.warmup + p.time)
        self.goodput = sum(self.goodputs)
        self.share = self.goodput / (p.rate * rdma.SHARE)
        self.jain = jain(self.goodputs)
        self.least = min(self.goodputs) * len(self.goodputs) / self.goodput
        ports = run.csv(scheme, "ports-%s.csv" % name)
        first, last = (ports.where(time_ns=at) for at in (p.warmup, p.warmup + p.time))
        self.pauses, self.all_drops, self.marks = (
            sum(last[key]) - sum(first[key]) for key in ("pauses", "drops", "marks"))

    def row(self):
        return (self.scheme, self.name, self.goodput / 1e9, self.share, self.jain, self.least, self.mean_us,
                self.quantile_us(0.99), self.marks, self.pauses, self.all_drops)


def report(run):
    found = {scheme: [Case(run, scheme, name) for name, _, _ in cases(run.params, scheme)] for scheme in run.schemes}
    run.text("min share: the smallest goodput, 1 if all are equal; marks, pause frames and drops of all switches", "")
    run.table(("scheme", "case", "Gbit/s", "of max", "Jain", "min share", "queue µs", "p99", "marks", "pauses",
               "drops"), [case.row() for some in found.values() for case in some])
    lost = sum(sum(run.csv(scheme, "rxe.csv")["out_of_seq_request"]) for scheme in run.schemes)
    run.claim("drops", "number of dropped packets", sum(c.all_drops for some in found.values() for c in some), "== 0")
    run.claim("lost", "number of packets that rxe misses", lost, "== 0")
    if not run.small:
        claims(run, found)
        draw(run, found)


def claims(run, found):
    if "lot-pfc" in found:
        shares = found["lot-pfc"][0].goodputs
        run.claim("unfair", "lot, PFC alone: largest goodput over smallest", max(shares) / min(shares), ">= 3")
    for scheme in ("lot-dcqcn", "star-dcqcn"):
        some = found.get(scheme, ())
        for case in some:
            run.claim("share-" + case.name, "%s, DCQCN: utilization of the link" % case.name, case.share, ">= 0.975")
            run.claim("jain-" + case.name, "%s, DCQCN: Jain's index" % case.name, case.jain, ">= 0.98")
        alone = found.get(scheme.replace("dcqcn", "pfc"))
        if some and alone:
            pauses, before = (sum(case.pauses for case in cases_of) for cases_of in (some, alone))
            run.claim("pauses-" + scheme[:-6], "%s: pause frames with PFC alone, over those with DCQCN (at least 1)" %
                      scheme[:-6], before / max(pauses, 1), ">= %d" % PAUSES_LESS)


def draw(run, found):
    _, axes = run.figure("rdma-dcqcn", 1, 3, (12, 3.4))
    for scheme, some in found.items():
        colour, names = run.colour(scheme), [c.name.replace("star-", "") for c in some]
        if scheme.startswith("lot"):
            axes[0].plot(range(1, LOT + 1), [g / 1e9 for g in some[0].goodputs], "o-", color=colour, label=scheme)
            continue
        axes[1].plot(names, [c.share for c in some], "o-", color=colour, label=scheme)
        axes[1].plot(names, [c.jain for c in some], "x:", color=colour)
        axes[2].plot(names, [c.pauses for c in some], "o-", color=colour, label=scheme)
    axes[0].set(xlabel="host", ylabel="goodput, Gbit/s", title="Parking lot")
    axes[0].set_ylim(bottom=0)
    axes[1].set(xlabel="senders", ylabel="utilization (dotted: Jain's index)", ylim=(0.8, 1.02), title="Star")
    axes[2].set(xlabel="senders", ylabel="pause frames", yscale="symlog", title="Star: PFC")
    for axis in axes:
        if axis.get_legend_handles_labels()[0]:
            axis.legend()

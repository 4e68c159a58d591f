# SPDX-License-Identifier: GPL-2.0-only
"""RDMA with each congestion control: completion times of iWARP over TCP's, and of RoCEv2.

A leaf-spine fabric with Poisson arrivals of flows of one size distribution. iWARP is Linux's siw, whose connections
have the congestion control of their namespace. Schemes:

    cubic, dctcp, dcqcn, timely     siw over it; switches mark above `k` (dctcp) or by DCQCN's line (dcqcn)
    roce-pfc                        rxe, PFC alone
    roce-dcqcn                      rxe with sch_roce, marks before pauses

Each flow is a message on a connection of its own, which is part of its time. Each port has the paper's share of
memory; without PFC, it drops above that. Hosts without sch_roce have fq, so that a flow does not wait for long ones of
its own host.
"""
from closlab import dcqcn, lb, ndp, pcrp, rdma, topo
from closlab.params import Param
from closlab.results import log_axis, mean, quantile
from closlab.tcp import Module

PARAMS = [
    Param("leaves", "count", "4", "leaves"),
    Param("spines", "count", "4", "spines"),
    Param("hosts", "count", "4", "hosts at a leaf"),
    Param("rate", "rate", "10gbit", "rate of all links"),
    Param("delay", "time", "1us", "delay of each link"),
    Param("sizes", "word", "websearch", "distribution of sizes", choices=("websearch", "hadoop", "alistorage2019")),
    Param("load", "number", "0.5", "load of the hosts' links"),
    Param("flows", "count", "800", "mean number of flows of a run"),
    Param("runs", "count", "5", "number of runs"),
    Param("k", "size", "65k", "dctcp's marking threshold"),
    Param("drain", "time", "200ms", "time after the last arrival"),
]
SMALL = {"leaves": "2", "spines": "2", "hosts": "2", "flows": "20", "runs": "1", "drain": "50ms"}
SCHEMES = ("cubic", "dctcp", "dcqcn", "timely", "roce-pfc", "roce-dcqcn")
SHORT, LONG = 100_000, 1_000_000    # flows below, above


# ---- in the guest

def build(lab):
    p = lab.params
    net = topo.leaf_spine(p.leaves, p.spines, p.hosts, p.rate, p.delay, mtu=rdma.MTU)
    if lab.scheme.startswith("roce"):
        alone = lab.scheme == "roce-pfc"
        rdma.build_dcqcn(lab, net, "roce", rdma.without_marks() if alone else "pmax 20%", not alone)
        return net
    net.rdma("siw")
    net.host_sysctls["ipv4/tcp_congestion_control"] = lab.scheme
    net.host_sysctls["ipv4/tcp_rto_min_us"] = "5000"
    rdma.tail_drop(net)
    if lab.scheme == "dctcp":
        for port in net.switch_ports():
            port.qdisc = ndp.beside("dctcp", rdma.MTU + 14, p.rate, dcqcn.PORT_BUFFER // rdma.MTU, p.k // rdma.MTU)
    if lab.scheme == "dcqcn":
        dcqcn.load(lab)
        dcqcn.switch_qdiscs(net, "pmax 20%")
    if lab.scheme == "timely":
        Module(lab, "tcp_timely", source="sw")
    net.build(host_qdisc="fq")
    return net


def guest(lab):
    p = lab.params
    net = build(lab)
    sizes = p.sizes
    span = lb.poisson_ns(p, sizes, p.load)
    lab.expect(p.runs * (span + p.drain))
    transport = "transport=" + ("roce" if lab.scheme.startswith("roce") else "iwarp")
    now = rdma.counts(lab, net)
    for number in range(p.runs):
        lab.sample("ports-%d.csv" % number, span, net.switch_ports())
        lab.traffic(net, "--seed", 1000 * lab.seed + number, "--time", "%dns" % span, "--drain", "%dns" % p.drain,
                    "--flows", lab.path("flows-%d.csv" % number), "poisson",
                    "load=%.9f" % (p.load * pcrp.data_share(sizes)), "cdf=" + pcrp.cdf(sizes), transport, "message=1M")
        now = lb.write_counts(lab, net, lab.path("counts-%d.csv" % number), now, rdma.counts)


# ---- on the host

def columns(run, scheme):
    """Return: for each run, [mean; p50, p99 of short flows; p50, p99 of all; p50, p99 of long ones; unfinished]"""
    found = []
    for number in range(run.params.runs):
        rows = run.csv(scheme, "flows-%d.csv" % number).rows()
        done = [row for row in rows if row["state"] == "done"]
        values = [mean([row["slowdown"] for row in done])]
        for keep in (lambda n: n < SHORT, lambda n: True, lambda n: n >= LONG):
            some = [row["slowdown"] for row in done if keep(row["bytes"])]
            values += [quantile(some, q) if some else 0 for q in (0.5, 0.99)]
        found.append(values + [sum(row["state"] != "done" for row in rows)])
    return found


CAUSES = {"retransmissions": ("TcpRetransSegs", "duplicate_request", "out_of_seq_request"),
          "timeouts": ("TcpExtTCPTimeouts",), "of SYNs": ("TcpExtTCPSynRetrans",)}


def causes(run, scheme):
    """Return: sums of all runs: the counters of CAUSES; drops, pause frames and marks at switches"""
    counts = [lb.read_counts(run, scheme, "counts-%d.csv" % number) for number in range(run.params.runs)]
    ports = [run.csv(scheme, "ports-%d.csv" % number) for number in range(run.params.runs)]
    last = [table.where(time_ns=max(table["time_ns"])) for table in ports]
    first = [table.where(time_ns=min(table["time_ns"])) for table in ports]
    return tuple(sum(count[name] for count in counts for name in names) for names in CAUSES.values()) + tuple(
        sum(sum(end[key]) - sum(begin[key]) for begin, end in zip(first, last)) for key in ("drops", "pauses", "marks"))


HEAD = ("scheme", "mean", "short: p50", "p99", "all: p50", "p99", "long: p50", "p99", "unfinished")


def report(run):
    found = {scheme: list(zip(*columns(run, scheme))) for scheme in run.schemes}
    rows = [(scheme,) + tuple(lb.with_interval(values) for values in table[:-1]) + (sum(table[-1]),)
            for scheme, table in found.items()]
    run.text("Completion time over the ideal one; short: below 100 KB, long: from 1 MB on", "")
    run.table(HEAD, rows)
    rdma.write_table(run.path("rdma-fct.csv"), HEAD, rows)
    run.text("All runs, while flows arrive: packets sent again or useless, retransmission timeouts of TCP, those of SYNs; "
             "at switches", "")
    run.table(("scheme", *CAUSES, "drops", "pauses", "marks"), [(scheme, *causes(run, scheme)) for scheme in run.schemes])
    run.claim("unfinished", "flows that did not end", sum(sum(table[-1]) for table in found.values()), "== 0")
    if run.small or set(run.schemes) != set(SCHEMES):
        return
    for scheme in ("dctcp", "dcqcn", "timely"):
        run.claim(scheme, "p99 of short flows: cubic over %s" % scheme,
                  mean(found["cubic"][2]) / mean(found[scheme][2]), "> 1")
    run.claim("roce", "p99 of short flows: PFC alone over sch_roce",
              mean(found["roce-pfc"][2]) / mean(found["roce-dcqcn"][2]), "> 1")
    draw(run, found)


def draw(run, found):
    _, axes = run.figure("rdma-fct", 1, 2, (10, 3.4))
    for axis, first, title in ((axes[0], 1, "Flows below 100 KB"), (axes[1], 5, "Flows from 1 MB on")):
        for i, (scheme, table) in enumerate(found.items()):
            for j, shade in ((0, 1), (1, 0.5)):
                axis.bar([i + 0.4 * j - 0.2], [mean(table[first + j])], 0.38, yerr=lb.errors([table[first + j]]),
                         color=run.colour(scheme), alpha=shade, error_kw={"linewidth": 0.7})
        axis.set_xticks(range(len(found)), found, fontsize=8)
        axis.set(title=title + ": p50, p99", ylabel="completion time over the ideal one")
        log_axis(axis.yaxis)

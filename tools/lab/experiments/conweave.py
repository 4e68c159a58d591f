# SPDX-License-Identifier: GPL-2.0-only
"""ConWeave: completion times on an oversubscribed leaf-spine fabric, with a transport that does not tolerate
reordering.

Flows start as a Poisson process between any two hosts. All schemes have the same flows at the same times. The load is
that of the uplinks. Schemes:

    ecmp                        the kernel's hash
    letflow, drill, quality     act_lb: flowlets by chance; packets by two queues and the last best one, or by quality
    reorder                     closfab: packets by quality, in order at the other leaf
    conweave                    closfab: ConWeave, with the paper's times for this rate

Transports are TCP, NDP, go-back-N (`gbn`) and selective repeat (`sr`). Those with -pfc and -lossy have DCQCN: hosts with
sch_roce and switches that mark, with pause frames and without. `roce` is Linux's rxe, with a connection for each flow,
whose set-up counts. Pause frames do not pass the tunnel: with reorder and conweave only the spines send them.

A flow's slowdown is its time over the ideal time on an idle path. Means and quantiles are those of a run; intervals are
over runs with different flows. The latency is the slowdown of flows of one packet, all runs together. ECN marks become
ConWeave's NOTIFY; `gbn` and `sr` have none. Control packets have the highest priority in the fabric; `control_loss` % of
them are lost.
"""
from closlab import dcqcn, fab, lb, rdma, topo
from closlab.params import Param
from closlab.results import mean, quantile

PARAMS = [
    Param("leaves", "count", "4", "leaves"),
    Param("spines", "count", "4", "spines"),
    Param("hosts", "count", "8", "hosts at a leaf"),
    Param("mtu", "size", "1500", "MTU of the hosts"),
    Param("rate", "rate", "10gbit", "rate of all links"),
    Param("delay", "time", "1us", "delay of each link"),
    Param("transports", "word", "gbn,dctcp", "transports", several=True,
          choices=(*lb.TRANSPORTS, *(name + network for name in lb.OF_RDMA for network in ("-pfc", "-lossy")))),
    Param("sizes", "word", "alistorage2019,hadoop", "flow size distributions", several=True),
    Param("loads", "number", "0.5,0.8", "loads of the uplinks", several=True),
    Param("flows", "count", "2000", "approximate number of flows of a run"),
    Param("runs", "count", "5", "number of runs of each case"),
    Param("drain", "time", "1s", "time limit for unfinished flows"),
    Param("buffer", "count", "400", "buffer of a port, packets"),
    Param("k", "count", "65", "marking threshold of dctcp's port, packets"),
    Param("kmin", "size", "100k", "DCQCN's kmin"),
    Param("kmax", "size", "400k", "DCQCN's kmax"),
    Param("control_loss", "number", "0", "control packets lost in each switch, %; not with DCQCN"),
    Param("theta_reply", "time", "40us", "time to drain 50 kB"),
    Param("theta_path_busy", "time", "80us", "time to drain 100 kB"),
    Param("theta_inactive", "time", "3ms", "see ip-link-closfab(8)"),
    Param("theta_resume_extra", "time", "160us", "the same"),
    Param("theta_resume_default", "time", "2ms", "the same"),
]
SMALL = {"leaves": "2", "spines": "2", "hosts": "4", "transports": "gbn", "sizes": "alistorage2019", "loads": "0.5",
         "flows": "30", "runs": "1"}
SCHEMES = ("ecmp", "letflow", "drill", "quality", "reorder", "conweave")
OTHERS = ("ecmp", "letflow", "drill", "quality")
MEMORY = 4  # GiB
CONTROL = 20 + 8 + 20 + 38  # bytes of a control packet on the wire


def cases(params):
    return [(transport, sizes, load) for transport in params.transports for sizes in params.sizes
            for load in params.loads]


def name_of(case):
    return "%s-%s-%g" % case


def plain(transport):
    """Return: the transport without its network."""
    return transport.partition("-")[0]


def host_load(params, load):
    """Return: load of the hosts' links at a LOAD of the uplinks; the destination is any other host."""
    total = params.leaves * params.hosts
    crossing = (total - params.hosts) / (total - 1)
    return load * params.spines / params.hosts / crossing


# ---- in the guest

def words_of(lab):
    p = lab.params
    if lab.scheme == "reorder":
        return "mode reorder select quality"
    if lab.scheme != "conweave":
        return None
    thetas = ("theta_reply", "theta_path_busy", "theta_inactive", "theta_resume_extra", "theta_resume_default")
    return "mode conweave fifos 256 " + " ".join("%s %dns" % (name, getattr(p, name)) for name in thetas)


def counts(lab, net):
    sums = rdma.counts(lab, net) | {"disordered": fab.disordered(net)}
    return sums | (fab.counts(net) if words_of(lab) else {})


def build(lab, transport):
    """Return: the network."""
    p = lab.params
    net = topo.leaf_spine(p.leaves, p.spines, p.hosts, p.rate, p.delay, mtu=p.mtu)
    if transport != plain(transport):
        rdma.build_dcqcn(lab, net, plain(transport), dcqcn.marking(p.kmin, p.kmax) + " pmax 20%",
                         xoff="pfc none" if transport.endswith("-lossy") else "xoff dynamic beta 8")
        lb.balance(lab, net, lb.POLICIES.get(lab.scheme))
    else:
        lb.build(lab, net, transport, 8, p.buffer, p.k, prepare=lambda net: fab.prefer_control(net, p.control_loss))
    if words_of(lab):
        fab.attach(lab, net, words_of(lab))
    return net


def guest(lab):
    p = lab.params
    lab.expect(p.runs * sum(lb.poisson_ns(p, sizes, host_load(p, load)) for _, sizes, load in cases(p)))
    for transport in p.transports:
        net = build(lab, transport)
        now = counts(lab, net)
        for case in cases(p):
            for number in range(p.runs if case[0] == transport else 0):
                now = lb.poisson(lab, net, name_of(case), number, plain(transport), case[1], host_load(p, case[2]), now,
                                 counts)
        if words_of(lab):
            with open(lab.path("maxima-%s.csv" % transport), "w", encoding="ascii") as f:
                f.write("name,count\n" + "".join("%s,%d\n" % item for item in fab.maxima(net).items()))
        rdma.remove(net)


# ---- on the host

def late(point):
    """Return: packets that closfab delivered out of order, % of all."""
    count = point.count
    total = sum(count.get(name, 0) for name in ("tx_ordered", "tx_conweave")) or 1
    return 100 * sum(count.get(name, 0) for name in ("rx_late", "rx_unheld", "rx_stray", "rx_unordered")) / total


def control(point, mtu):
    """Return: bytes of control packets, % of data, at most."""
    count = point.count
    packets = sum(count.get(name, 0) for name in ("tx_replies", "tx_clears", "tx_notifies"))
    return 100 * packets * CONTROL / ((count.get("tx_conweave", 0) or 1) * mtu)


def latency(run, scheme, case):
    """Return: 99.9th percentile of the slowdown of flows of one packet."""
    most = run.params.mtu - lb.headers(plain(case[0]))
    rows = [row for number in range(run.params.runs)
            for row in run.csv(scheme, "flows-%s-%d.csv" % (name_of(case), number)).rows()]
    return quantile([row["slowdown"] for row in rows if row["state"] == "done" and row["bytes"] <= most], 0.999)


def report(run):
    some = {(scheme, case): [lb.Slowdowns(run, scheme, name_of(case), number, plain(case[0]))
                             for number in range(run.params.runs)]
            for scheme in run.schemes for case in cases(run.params)}
    rows = []
    for case in cases(run.params):
        for scheme in run.schemes:
            points = some[scheme, case]
            base = some.get(("ecmp", case), points)
            rows.append(case + (scheme, lb.with_interval([r.mean for r in points]),
                                lb.with_interval([r.p99 for r in points]),
                                lb.with_interval([own.p99 / b.p99 for own, b in zip(points, base)]),
                                latency(run, scheme, case), mean([r.again for r in points]), mean([r.count.get("tx_moves", 0) for r in points]),
                                mean([late(r) for r in points]), mean([control(r, run.params.mtu) for r in points])))
    run.text("Slowdown of the flows; p99 relative to ecmp's, run by run; p99.9 of flows of one packet", "")
    head = ("transport", "sizes", "load", "scheme", "mean", "p99", "of ecmp", "p99.9", "rtx %", "moves", "late %", "control %")
    run.table(head, rows)
    with open(run.path("conweave.csv"), "w", encoding="utf-8") as f:
        for row in [head] + rows:
            f.write(",".join(cell if isinstance(cell, str) else "%.3g" % cell for cell in row) + "\n")
    if "conweave" in run.schemes:
        maxima = [(transport, *lb.read_counts(run, "conweave", "maxima-%s.csv" % transport).values())
                  for transport in run.params.transports]
        run.text("", "conweave: FIFOs and bytes held at a time, at most, in a leaf", "")
        run.table(("transport", "FIFOs", "bytes"), maxima)
        for transport, fifos, held in maxima:
            run.claim(transport + "-fifos", "%s: FIFOs of a leaf in use at a time, over its ports to hosts" % transport,
                      fifos / run.params.hosts, "<= 15")
            run.claim(transport + "-held", "%s: MB held in a leaf at a time" % transport, held / 1e6, "<= 2.4")
    run.claim("done", "number of unfinished flows", sum(r.unfinished for runs in some.values() for r in runs), "== 0")
    if not run.small and {"ecmp", "reorder"} <= set(run.schemes):
        for case in cases(run.params):
            run.claim(name_of(case) + "-latency", "%s: p99.9 slowdown of flows of one packet, reorder over ecmp"
                      % name_of(case), latency(run, "reorder", case) / latency(run, "ecmp", case), "<= 0.5")
    if not run.small and {"ecmp", "conweave"} <= set(run.schemes):
        claims(run, some)
        draw(run, some)


def claims(run, some):
    for case in cases(run.params):
        p99 = lambda scheme: mean([r.p99 for r in some[scheme, case]])
        average = lambda scheme: mean([r.mean for r in some[scheme, case]])
        name = name_of(case)
        run.claim(name + "-p99", "%s: p99 slowdown of conweave over ecmp's" % name, p99("conweave") / p99("ecmp"),
                  "<= 0.6")
        run.claim(name + "-mean", "%s: mean slowdown of conweave over ecmp's" % name,
                  average("conweave") / average("ecmp"), "<= 1")
        run.claim(name + "-best", "%s: p99 slowdown of conweave over the best other one's" % name,
                  p99("conweave") / min(p99(scheme) for scheme in OTHERS if scheme in run.schemes), "<= 0.64")
        run.claim(name + "-order", "%s: packets out of order behind the tunnel, %%" % name,
                  max(late(r) for r in some["conweave", case]), "<= 0.1")
        run.claim(name + "-control", "%s: bytes of control packets, %% of data" % name,
                  max(control(r, run.params.mtu) for r in some["conweave", case]), "<= 1.2")


def draw(run, some):
    rows, columns = len(run.params.transports), len(run.params.sizes) * len(run.params.loads)
    _, axes = run.figure("conweave", rows, columns, (2.4 * columns, 2.9 * rows))
    axes = list(axes.flat) if rows * columns > 1 else [axes]
    for axis, case in zip(axes, cases(run.params)):
        for i, scheme in enumerate(run.schemes):
            values = [r.p99 for r in some[scheme, case]]
            axis.bar(i, mean(values), 0.8, yerr=lb.errors([values]), color=run.colour(scheme))
        axis.set_title("%s, %s,\nload %g" % case, fontsize=8)
        axis.set_xticks(range(len(run.schemes)), run.schemes, rotation=90, fontsize=8)
    for axis in axes[::columns]:
        axis.set_ylabel("p99 slowdown")

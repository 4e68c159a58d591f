# SPDX-License-Identifier: GPL-2.0-only
"""Collectives on a leaf-spine fabric: completion time by way of load balancing.

Each rank is a host. In `all-to-all`, each sends `bytes` / N to each other rank, all at once. In `ring`, an all-reduce
of `bytes` per rank, each rank sends 2 (N - 1) / N of them to its successor; neighbours on the ring are at different
leaves, so that all traffic crosses the spines. The steps of the ring overlap, as with pipelined chunks, so each rank
sends one flow. In `incast`, the ring's flows are beside an incast of the same size: the hosts of all other leaves
send `bytes` together to the first rank. A fat tree has 2 `hosts`^2 leaves: 32 of 4 hosts with k = 8.

The effective bandwidth is the time in which the busiest host's link could carry its bytes over the time until the last
flow ends. Schemes and fabrics are those of lb-permutation; `glb` is `quality` with adverts of the spines.
"""
from closlab import lb
from closlab.params import Param
from closlab.results import mean
from closlab.tcp import AROUND

PARAMS = [
    *lb.NETWORK_PARAMS,
    Param("fabrics", "word", "symmetric", "fabrics", several=True, choices=lb.FABRICS),
    Param("transports", "word", "dctcp", "transports", several=True, choices=lb.TRANSPORTS),
    Param("collectives", "word", "all-to-all,ring", "collectives", several=True,
          choices=("all-to-all", "ring", "incast")),
    Param("bytes", "size", "1M", "data of a rank"),
    Param("runs", "count", "5", "number of runs of each case"),
    *lb.PORT_PARAMS,
    Param("jitter", "time", "20us", "interval in which the flows start"),
    *lb.TCP_PARAMS,
    Param("longest", "time", "20ms", "estimate of a run's time, for the display of progress"),
]
SMALL = {"leaves": "2", "spines": "2", "hosts": "2", "transports": "dctcp", "bytes": "100k", "runs": "1"}
SCHEMES = ("ecmp", "letflow", "flowlet-quality", "random", "rr", "drill", "quality", "glb")
MEMORY = 4  # GiB


def cases(params):
    return [(fabric, transport, collective) for fabric in params.fabrics for transport in params.transports
            for collective in params.collectives]


def sent_bytes(params, collective):
    """Return: bytes that each rank sends to the others, without those of the incast."""
    ranks = params.leaves * params.hosts
    return (params.bytes // ranks if collective == "all-to-all" else 2 * params.bytes // ranks) * (ranks - 1)


def busiest_bytes(params, collective):
    """Return: bytes that the busiest host's link carries in a direction."""
    return sent_bytes(params, collective) + (params.bytes if collective == "incast" else 0)


# ---- in the guest

def patterns(params, net, collective, transport):
    """Return: words of the traffic generator."""
    names = [host.name for host in net.hosts()]
    size = sent_bytes(params, collective)
    if collective == "all-to-all":
        flows = [(name, names[i + 1:] + names[:i], size) for i, name in enumerate(names)]
    else:
        # the ranks in turn from each leaf
        ring = [names[leaf * params.hosts + i] for i in range(params.hosts) for leaf in range(params.leaves)]
        flows = [(name, [ring[(i + 1) % len(ring)]], size) for i, name in enumerate(ring)]
    if collective == "incast":
        others = names[params.hosts:]
        flows += [(name, [names[0]], params.bytes // len(others)) for name in others]
    words = []
    for source, to, total in flows:
        words += ["--", "bulk", "src=" + source, "dst=" + ",".join(to), "bytes=%d" % (total // len(to)), "stagger=0",
                  "jitter=%dns" % params.jitter, lb.transport_words(transport)]
    return words[1:]


def guest(lab):
    p = lab.params
    lab.expect(len(cases(p)) * p.runs * p.longest)
    for fabric in p.fabrics:
        for transport in p.transports:
            net = lb.fabric(fabric, p.leaves, p.spines, p.hosts, p.rate, p.delay, p.mtu)
            lb.build(lab, net, transport, p.limit, p.buffer, p.k)
            now = lb.counts(lab, net)
            for collective in p.collectives:
                for number in range(p.runs):
                    lb.vary_hashes(net, 1000 * lab.seed + number)
                    case = "%s-%s-%s-%d.csv" % (fabric, transport, collective, number)
                    lab.traffic(net, "--seed", 1000 * lab.seed + number, "--flows", lab.path("flows-" + case),
                                *patterns(p, net, collective, transport))
                    now = lb.write_counts(lab, net, lab.path("counts-" + case), now)
            lb.remove(net)


# ---- on the host

def effective(run, scheme, case, number):
    """Return: (effective bandwidth, a share of a host's link; retransmitted packets, %)"""
    p = run.params
    fabric, transport, collective = case
    name = "%s-%s-%s-%d.csv" % (fabric, transport, collective, number)
    rows = run.csv(scheme, "flows-" + name).rows()
    end = max(row["start_ns"] + row["fct_ns"] for row in rows)
    data = p.mtu - lb.headers(transport)
    packets = sum(-(-row["bytes"] // data) for row in rows)
    again = lb.again(transport, rows, lb.read_counts(run, scheme, "counts-" + name))
    return busiest_bytes(p, collective) * 8e9 / (p.rate * data / (p.mtu + AROUND)) / end, 100 * again / packets


def report(run):
    p = run.params
    both = {(scheme, case): [effective(run, scheme, case, number) for number in range(p.runs)]
            for scheme in run.schemes for case in cases(p)}
    some = {key: [bandwidth for bandwidth, _ in values] for key, values in both.items()}
    rows = []
    for case in cases(p):
        for scheme in run.schemes:
            values = some[scheme, case]
            base = some.get(("ecmp", case), values)
            rows.append(case + (scheme, lb.with_interval(values),
                                lb.with_interval([own / b for own, b in zip(values, base)]),
                                "%.3g" % mean([again for _, again in both[scheme, case]])))
    head = ("fabric", "transport", "collective", "scheme", "effective bandwidth", "over ecmp", "rtx %")
    run.table(head, rows)
    with open(run.path("lb-collective.csv"), "w", encoding="utf-8") as f:
        for row in (head, *rows):
            f.write(",".join(row) + "\n")
    if run.small:
        return
    for case in cases(p):
        for scheme in run.schemes:
            if scheme != "ecmp" and "ecmp" in run.schemes:
                run.claim("%s-%s-%s-%s" % (case + (scheme,)), "effective bandwidth: %s over ecmp" % scheme,
                          mean(some[scheme, case]) / mean(some["ecmp", case]), ">= 0.98")
        if case[0] == "remote" and {"quality", "glb"} <= set(run.schemes):
            run.claim("%s-%s-%s-remote" % case, "effective bandwidth: glb over quality",
                      mean(some["glb", case]) / mean(some["quality", case]), "> 1")
        if "quality" in run.schemes and case[1] == "ndp" and case[0] == "symmetric":
            run.claim("%s-%s-%s-fills" % case, "effective bandwidth of quality", mean(some["quality", case]), ">= 0.95")
    draw(run, some)


def draw(run, some):
    p = run.params
    _, axes = run.figure("lb-collective", 1, len(p.fabrics), (4.6 * len(p.fabrics), 3.4))
    width = 0.8 / len(run.schemes)
    for axis, fabric in zip(axes if len(p.fabrics) > 1 else [axes], p.fabrics):
        todo = [case for case in cases(p) if case[0] == fabric]
        for i, scheme in enumerate(run.schemes):
            values = [some[scheme, case] for case in todo]
            axis.bar([x + (i - len(run.schemes) / 2 + 0.5) * width for x in range(len(values))],
                     [mean(v) for v in values], width, yerr=lb.errors(values),
                     color=run.colour(scheme), label=scheme, error_kw={"linewidth": 0.7})
        axis.set(title=fabric, ylim=(0, 1.25), yticks=[0, 0.2, 0.4, 0.6, 0.8, 1], ylabel="effective bandwidth")
        axis.set_xticks(range(len(todo)), ["%s\n%s" % (collective, transport) for _, transport, collective in todo])
        axis.legend(fontsize=6, loc="upper left", ncol=4)

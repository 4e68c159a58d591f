# SPDX-License-Identifier: GPL-2.0-only
"""Options of act_lb's quality: which sampling interval, bands and weights give short completion times?

Each packet goes to an uplink of the best quality, as in the scheme `quality` of lb-load. A scheme changes one option of
act_lb; `default` changes none, and in `random` no load is read. Each case is run with the same flows in all schemes.
"""
from closlab import lb
from closlab.params import Param
from closlab.results import mean

QUALITY = "granularity packet select quality "
VARIANTS = {
    "random": "granularity packet select random",
    "default": QUALITY,
    "nocharge": QUALITY + "nocharge",
    "interval-1us": QUALITY + "interval 1us",
    "interval-4us": QUALITY + "interval 4us",
    "interval-64us": QUALITY + "interval 64us",
    "interval-64us-nocharge": QUALITY + "interval 64us nocharge",
    "band-250ns": QUALITY + "band 250ns",
    "band-4us": QUALITY + "band 4us",
    "band-16us": QUALITY + "band 16us",
    "queue-only": QUALITY + "queue_weight 100 utilization_weight 0",
    "queue-90": QUALITY + "queue_weight 90 utilization_weight 10",
    "utilization-only": QUALITY + "queue_weight 0 utilization_weight 100",
    "drill": "granularity packet select drill",
    "flowlet": "granularity flowlet select quality",
    "flowlet-64us": "granularity flowlet select quality gap 64us",
    "flowlet-1ms": "granularity flowlet select quality gap 1ms",
}
PARAMS = [
    *lb.NETWORK_PARAMS,
    Param("variants", "word", ",".join(VARIANTS), "options to run with", several=True, choices=tuple(VARIANTS)),
    Param("fabrics", "word", "symmetric,slow", "fabrics", several=True, choices=lb.FABRICS),
    Param("transport", "word", "dctcp", "transport", choices=lb.TRANSPORTS),
    Param("sizes", "word", "alistorage2019", "flow size distribution"),
    Param("load", "number", "0.8", "load of the hosts' links"),
    Param("flows", "count", "1000", "approximate number of flows of a run"),
    Param("runs", "count", "5", "number of runs of each case"),
    Param("drain", "time", "1s", "time limit for unfinished flows"),
    *lb.PORT_PARAMS,
]
SMALL = {"variants": "random,default", "leaves": "2", "spines": "2", "hosts": "2",
         "fabrics": "slow", "flows": "30", "runs": "1"}
SCHEMES = ("all",)
MEMORY = 4  # GiB


def name_of(fabric, variant):
    return "%s-%s" % (fabric, variant)


def guest(lab):
    p = lab.params
    lab.expect(p.runs * len(p.fabrics) * len(p.variants) * lb.poisson_ns(p, p.sizes, p.load))
    for fabric in p.fabrics:
        for variant in p.variants:
            net = lb.fabric(fabric, p.leaves, p.spines, p.hosts, p.rate, p.delay, p.mtu)
            lb.build(lab, net, p.transport, p.limit, p.buffer, p.k, words=VARIANTS[variant])
            now = lb.counts(lab, net)
            for number in range(p.runs):
                now = lb.poisson(lab, net, name_of(fabric, variant), number, p.transport, p.sizes, p.load, now)
            lb.remove(net)


def report(run):
    p = run.params
    rows = []
    some = {(fabric, variant): [lb.Slowdowns(run, "all", name_of(fabric, variant), number, p.transport)
                                for number in range(p.runs)] for fabric in p.fabrics for variant in p.variants}
    for (fabric, variant), runs in some.items():
        base = some.get((fabric, "default"), runs)
        rows.append((fabric, variant, lb.with_interval([r.mean for r in runs]), lb.with_interval([r.p99 for r in runs]),
                     lb.with_interval([own.mean / b.mean for own, b in zip(runs, base)]),
                     lb.with_interval([own.p99 / b.p99 for own, b in zip(runs, base)]), mean([r.again for r in runs])))
    head = ("fabric", "options", "mean", "p99", "mean over default", "p99 over default", "retransmitted %")
    run.table(head, rows)
    with open(run.path("lb-options.csv"), "w", encoding="utf-8") as f:
        for row in [head] + rows:
            f.write(",".join(cell if isinstance(cell, str) else "%.3g" % cell for cell in row) + "\n")
    run.claim("done", "number of unfinished flows", sum(r.unfinished for runs in some.values() for r in runs), "== 0")
    if run.small:
        return
    _, axes = run.figure("lb-options", 1, len(p.fabrics), (4.2 * len(p.fabrics), 3.6))
    for axis, fabric in zip(axes if len(p.fabrics) > 1 else [axes], p.fabrics):
        values = [[r.p99 for r in some[fabric, variant]] for variant in p.variants]
        axis.barh(range(len(values)), [mean(v) for v in values], xerr=lb.errors(values),
                  color="#0072b2", error_kw={"linewidth": 0.7})
        axis.set_yticks(range(len(values)), p.variants, fontsize=7)
        axis.invert_yaxis()
        axis.set(title=fabric, xlabel="p99 slowdown")

# SPDX-License-Identifier: GPL-2.0-only
"""PFC's unfairness and victim flows, and DCQCN's remedy: the DCQCN paper's figures 3 and 4.

Y. Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, section 2.2. Two networks, all links
of one rate:

    lot     a row of four switches with one host each, which all send to a host at the end. A paused port gives each of
            its inputs the same rate, so the expected shares are 1/8, 1/8, 1/4, 1/2
    clos    the paper's testbed (closlab.topo.two_pods), in which ECMP spreads the flows. Each run has other ports, and
            thus other paths. Only t1's uplinks are fixed: h11, h12 and h15 use l1, h13 and h14 use l2
            unfair      h11, h21, h31 and h42 send to h41, which shares h42's ToR
            victim-K    h15 sends to h21 in its own pod, while h11 to h14, at h15's ToR, and K hosts of t3 send to h41.
                        The victim and the flows to h41 share no congested link, only links that PFC pauses

Each network runs with PFC alone (`pfc`: the switches do not mark, so that tcp_dcqcn flows stay at line rate, as RDMA
without congestion control does), and with marking (`dcqcn`). With transport=roce, the flows are RDMA WRITEs of Linux's
rxe, without sch_roce (`pfc`) and with it (`dcqcn`); its queue pairs have other paths in each run, too. transport=gbn
is the traffic generator's model of a NIC, with a window of any length. Switches have the paper's share of memory for
each port, and dynamic thresholds with beta = 8.
"""
from closlab import dcqcn, rdma, topo
from closlab.params import Param
from closlab.results import SCHEME_COLOURS, jain, mean, quantile
from closlab.tcp import SERIES, goodputs

PARAMS = [
    Param("rate", "rate", "40gbit", "rate of all links"),
    Param("delay", "time", "1500ns", "delay of each link"),
    Param("transport", "word", "tcp", "tcp_dcqcn, or rxe or a model of a NIC (gbn) with sch_roce",
          choices=(*rdma.TRANSPORTS, "gbn")),
    Param("window", "count", "128", "gbn: packets of a queue pair without acknowledgment; rxe's"),
    Param("pmax", "number", "1", "pmax of the marking, %"),
    Param("runs", "count", "3", "runs of each case"),
    Param("others", "count", "0,1,2", "values of K, a case each", several=True),
    Param("jitter", "time", "100us", "interval in which the flows start"),
    Param("warmup", "time", "40ms", "time before the measurement"),
    Param("time", "time", "15ms", "duration of the measurement"),
]
SMALL = {"rate": "10gbit", "runs": "1", "others": "1", "warmup": "2ms", "time": "2ms"}
SCHEMES = ("lot-pfc", "lot-dcqcn", "clos-pfc", "clos-dcqcn")
LOT = 4         # hosts
NAMES = {"pfc": "PFC alone", "dcqcn": "DCQCN"}
UPLINKS = {"l1": ("h11", "h12", "h15"), "l2": ("h13", "h14")}


def cases(params, scheme):
    """Return: [(name, run, patterns)] of a scheme; the victim is its case's first flow."""
    if scheme.startswith("lot"):
        some = [("lot", [("h1-h%d" % LOT, "r")])]
        return [(name, run, patterns) for name, patterns in some for run in range(params.runs)]
    some = [("unfair", [("h11,h21,h31,h42", "h41")])]
    for k in params.others:
        some.append(("victim-%d" % k, [("h15", "h21"), (",".join(["h11-h14", "h31", "h32"][:k + 1]), "h41")]))
    return [(name, run, patterns) for name, patterns in some for run in range(params.runs)]


# ---- in the guest

def fix_uplinks(tor):
    """Route two of the four flows through each uplink, so that the victim shares its uplink with two flows."""
    lines = []
    for table, (leaf, hosts) in enumerate(UPLINKS.items(), 1):
        lines.append("route add default via %s dev %s onlink table %d" % (tor.port(leaf).peer.node.address, leaf,
                                                                          table))
        lines += ["rule add iif %s table %d" % (host, table) for host in hosts]
    topo.run("ip", "-n", tor.name, "-batch", "-", text=lines)


def guest(lab):
    p = lab.params
    topology, size = (topo.parking_lot, LOT) if lab.scheme.startswith("lot") else (topo.two_pods, 5)
    net = topology(size, p.rate, p.delay, mtu=rdma.mtu(p.transport))
    alone = lab.scheme.endswith("pfc")
    rdma.build_dcqcn(lab, net, p.transport,
                     dcqcn.marking(dcqcn.NEVER, dcqcn.NEVER) if alone else "pmax %g%%" % p.pmax, not alone)
    if lab.scheme.startswith("clos"):
        fix_uplinks(net.nodes["t1"])
    flow = rdma.flow_words(p.transport) + (["window=%d" % p.window] if p.transport == "gbn" else [])
    todo = cases(p, lab.scheme)
    lab.expect(len(todo) * (p.warmup + p.time))
    for name, run, patterns in todo:
        words = []
        for i, (src, dst) in enumerate(patterns):
            words += ["--"] * bool(i) + ["bulk", "src=" + src, "dst=" + dst, "jitter=%dns" % p.jitter, *flow]
            if p.transport != "gbn":    # has another source port in each run
                # ECMP maps other ports to other paths
                words.append("port=%d" % (20000 + 10 * run + i))
        lab.sample("ports-%s-%d.csv" % (name, run), p.time, net.switch_ports(), p.warmup)
        lab.traffic(net, "--time", "%dns" % (p.warmup + p.time), "--drain", "1ms",
                    "--series", lab.path("series-%s-%d.csv" % (name, run)), "--every", "%dns" % (p.time // SERIES),
                    *words)
        dcqcn.drain()


# ---- on the host

class Case:
    """All runs of a case: goodputs[run] of each flow in Gbit/s; pauses, drops and marks of all switches and runs."""

    def __init__(self, run, scheme, name):
        p = run.params
        self.scheme, self.name, self.goodputs = scheme, name, []
        self.pauses = self.drops = self.marks = 0
        for case, number, _ in cases(p, scheme):
            if case != name:
                continue
            series = run.csv(scheme, "series-%s-%d.csv" % (name, number))
            self.goodputs.append([bps / 1e9 for bps in goodputs(series, p.warmup, p.warmup + p.time)])
            ports = run.csv(scheme, "ports-%s-%d.csv" % (name, number))
            for sign, at in ((-1, p.warmup), (1, p.warmup + p.time)):
                counts = ports.where(time_ns=at)
                self.pauses += sign * sum(counts["pauses"])
                self.drops += sign * sum(counts["drops"])
                self.marks += sign * sum(counts["marks"])
        self.victims = [flows[0] for flows in self.goodputs]
        # flows to the common receiver
        self.others = [flows[name.startswith("victim"):] for flows in self.goodputs]

    def rows(self):
        for number, (all_flows, others) in enumerate(zip(self.goodputs, self.others)):
            yield (self.scheme, self.name, number, " ".join("%.2f" % g for g in all_flows), sum(others), jain(others),
                   others[-1] / mean(others[:-1]))


def found(run):
    """Return: {(network, case): {"pfc": Case, "dcqcn": Case}}."""
    some = {}
    for scheme in run.schemes:
        network, control = scheme.split("-")
        for name in dict.fromkeys(name for name, _, _ in cases(run.params, scheme)):
            some.setdefault((network, name), {})[control] = Case(run, scheme, name)
    return some


def report(run):
    some = found(run)
    run.text("Gbit/s of each flow, the victim's first; last over others: of the flows to one host, the nearest over",
             "the others' mean", "")
    run.table(("scheme", "case", "run", "flows", "sum", "Jain", "last over others"),
              [row for controls in some.values() for case in controls.values() for row in case.rows()])
    run.text("All runs of a case: pause frames (XOFF), marks and drops of all switches during the measurement", "")
    run.table(("scheme", "case", "victim: min", "median", "max", "pauses", "marks", "drops"),
              [(c.scheme, c.name) + (tuple(quantile(c.victims, q) for q in (0, 0.5, 1)) if "victim" in c.name
                                     else ("-",) * 3) + (c.pauses, c.marks, c.drops)
               for controls in some.values() for c in controls.values()])
    every = [c for controls in some.values() for c in controls.values()]
    run.claim("drops", "number of dropped packets", sum(c.drops for c in every), "== 0")
    run.claim("pfc-pauses", "PFC alone: fewest pause frames of a case", min(
        (c.pauses for c in every if c.scheme.endswith("pfc")), default=1), "> 0")
    if not run.small and set(run.schemes) == set(SCHEMES):
        claim(run, some)
        draw(run, some)


def claim(run, some):
    lot, unfair = some["lot", "lot"], some["clos", "unfair"]
    run.claim("lot-pfc", "parking lot, PFC alone: goodput of the nearest flow over the farthest; 4 is expected",
              quantile([flows[-1] / flows[0] for flows in lot["pfc"].goodputs], 0.5), "3..5")
    run.claim("lot-dcqcn", "parking lot, DCQCN: smallest Jain's index", min(map(jain, lot["dcqcn"].goodputs)),
              ">= 0.95")
    run.claim("unfair-pfc", "PFC alone: median of h42's goodput over the others' mean",
              quantile([flows[-1] / mean(flows[:-1]) for flows in unfair["pfc"].goodputs], 0.5), ">= 1.3")
    run.claim("unfair-dcqcn", "DCQCN: smallest Jain's index of the four flows",
              min(jain(flows) for flows in unfair["dcqcn"].goodputs), ">= 0.95")
    run.claim("unfair-share", "DCQCN: smallest total goodput over the link's rate",
              min(sum(flows) for flows in unfair["dcqcn"].goodputs) / (run.params.rate / 1e9), ">= 0.9")
    first, last = (some["clos", "victim-%d" % k] for k in (run.params.others[0], run.params.others[-1]))
    median = {(control, i): quantile(c[control].victims, 0.5) for control in ("pfc", "dcqcn") for i,
              c in enumerate((first, last))}
    run.claim("victim-pfc", "PFC alone: victim's median goodput with %d additional senders over that with %d" % (
        run.params.others[-1], run.params.others[0]), median["pfc", 1] / median["pfc", 0], "<= 0.7")
    run.claim("victim-dcqcn", "DCQCN: victim's median goodput with %d additional senders over that with %d" % (
        run.params.others[-1], run.params.others[0]), median["dcqcn", 1] / median["dcqcn", 0], ">= 0.9")
    run.claim("victim-gain", "victim's median goodput with DCQCN over PFC alone, %d additional senders" %
              run.params.others[-1], median["dcqcn", 1] / median["pfc", 1], ">= 2")
    run.claim("pauses", "pause frames with PFC alone over pause frames with DCQCN (at least 1), all cases",
              sum(controls["pfc"].pauses for controls in some.values()) /
              max(1, sum(controls["dcqcn"].pauses for controls in some.values())), ">= 1000")


def draw(run, some):
    _, axes = run.figure("dcqcn-pfc", 1, 3, (12, 3.4))
    for axis, key, names in ((axes[0], ("lot", "lot"), ["h%d" % (i + 1) for i in range(LOT)]),
                             (axes[1], ("clos", "unfair"), ["h11", "h21", "h31", "h42"])):
        for control, shift in (("pfc", -0.2), ("dcqcn", 0.2)):
            flows = [mean(column) for column in zip(*some[key][control].goodputs)]
            axis.bar([x + shift for x in range(len(flows))], flows, 0.38, color=SCHEME_COLOURS[control],
                     label=NAMES[control])
        axis.set_xticks(range(len(names)), names)
        axis.axhline(run.params.rate / 1e9 / len(names), color="#666666", linewidth=0.8, linestyle=":")
    for control, shift in (("pfc", -0.08), ("dcqcn", 0.08)):
        axes[2].plot([k + shift for k in run.params.others],
                     [quantile(some["clos", "victim-%d" % k][control].victims, 0.5) for k in run.params.others], "o-",
                     color=SCHEME_COLOURS[control], label=NAMES[control])
    axes[0].set(title="Parking lot", xlabel="sender, nearest last")
    axes[1].set(title="Unfairness, mean of the runs", xlabel="sender")
    axes[2].set(title="Victim, median of the runs", xlabel="senders to h41 below t3")
    axes[2].set_xticks(run.params.others)
    for axis in axes:
        axis.set(ylabel="goodput, Gbit/s", ylim=(0, run.params.rate / 1e9 * 0.75))
    axes[-1].legend(loc="center left", bbox_to_anchor=(1.02, 0.5))

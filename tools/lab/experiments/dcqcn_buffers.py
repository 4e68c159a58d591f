# SPDX-License-Identifier: GPL-2.0-only
"""DCQCN's buffer thresholds: right ones let marks precede pause frames, wrong ones do not.

Y. Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, section 4: senders must learn of
congestion before PFC pauses them. Hosts at one switch all start to send to one host at line rate at the same instant.
The switch has the paper's share of memory for each of its ports.

    dynamic     t_PFC depends on the free memory, beta = 8, with the paper's marking: the result of section 4, and of
                `closnet buffers`
    static      t_PFC is an equal share of the buffer for each port and priority, with the paper's marking
    misset      t_PFC as in static, marking above `wrong` times t_PFC

There are two cases for each number of senders: the start, in which queue, marks and pause frames are sampled every
`fine`, and a later measurement, after `warmup`.
"""
from closlab import dcqcn, rdma, topo
from closlab.params import Param
from closlab.results import mean
from closlab.tcp import SERIES, Window

PARAMS = [
    Param("rate", "rate", "40gbit", "rate of all links"),
    Param("delay", "time", "1500ns", "delay of each link"),
    Param("transport", "word", "tcp", "tcp_dcqcn, or rxe with sch_roce", choices=rdma.TRANSPORTS),
    Param("pmax", "number", "1", "pmax of the marking, %"),
    Param("senders", "count", "2,4,8", "numbers of senders, a case each", several=True),
    Param("wrong", "count", "5", "misset: kmin and kmax as a multiple of t_PFC"),
    Param("start", "time", "1ms", "duration of the start"),
    Param("fine", "time", "1us", "interval between samples of the start"),
    Param("warmup", "time", "40ms", "time before the measurement"),
    Param("time", "time", "20ms", "duration of the measurement"),
    Param("every", "time", "10us", "interval between queue samples"),
]
SMALL = {"senders": "2", "start": "200us", "warmup": "2ms", "time": "2ms", "every": "100us"}
SCHEMES = ("dynamic", "static", "misset")
PRIOS = 8


# ---- in the guest

def guest(lab):
    p = lab.params
    net = topo.star(max(p.senders) + 1, p.rate, p.delay, mtu=rdma.mtu(p.transport))
    switch = net.nodes["switch"]
    rdma.build_dcqcn(lab, net, p.transport, "pmax %g%%" % p.pmax,
                     xoff="xoff dynamic beta 8" if lab.scheme == "dynamic" else "xoff auto")
    dcqcn.write_ports(lab.path("limits.csv"), switch)
    if lab.scheme == "misset":
        k = p.wrong * t_pfc(lab.path("limits.csv"))
        topo.run("tc", "-n", "switch", "qdisc", "change", "dev", "h1", *rdma.DCQCN_AT[p.transport],
                 "dcqcn", *dcqcn.marking(k, k).split())
    lab.expect(len(p.senders) * (p.start + p.warmup + p.time))
    for senders in p.senders:
        inputs = [switch.port("h%d" % (i + 2)) for i in range(senders)]
        lab.sample("start-%d.csv" % senders, p.fine, [switch.port("h1")] + inputs)
        lab.traffic(net, "--time", "%dns" % p.start, "--drain", "1ms", *words(p, senders))
        dcqcn.drain()
        lab.sample("queue-%d.csv" % senders, p.every, [switch.port("h1")], p.warmup)
        lab.sample("inputs-%d.csv" % senders, p.time, inputs, p.warmup)
        lab.traffic(net, "--time", "%dns" % (p.warmup + p.time), "--drain", "1ms",
                    "--series", lab.path("series-%d.csv" % senders), "--every", "%dns" % (p.time // SERIES),
                    *words(p, senders))
        dcqcn.drain()
    dcqcn.write_ports(lab.path("ports.csv"), switch)


def words(params, senders):
    return ("bulk", "src=h2-h%d" % (senders + 1), "dst=h1", "connect=before", *rdma.flow_words(params.transport))


def t_pfc(path):
    """Return: t_PFC of a pool's first port in a file of write_ports(), bytes."""
    with open(path, encoding="ascii") as f:
        return int(f.read().splitlines()[1].split(",")[1])


# ---- on the host

def first_us(samples, name):
    """Return: time of a counter's first increase at any port, µs; None: never."""
    before = {}
    for row in samples.rows():
        if row[name] > before.setdefault(row["port"], row[name]):
            return row["time_ns"] / 1e3
    return None


class Case(Window):
    """mark, pause: time of the first one at the start, µs, or None; pauses: number after the warm-up."""

    def __init__(self, run, scheme, senders):
        p, end = run.params, run.params.warmup + run.params.time
        super().__init__(run, scheme, str(senders), p.rate, p.warmup, end, mtu=rdma.mtu(p.transport))
        self.scheme, self.senders = scheme, senders
        start = run.csv(scheme, "start-%d.csv" % senders)
        self.mark, self.pause = first_us(start, "marks"), first_us(start, "pauses")
        inputs = run.csv(scheme, "inputs-%d.csv" % senders)
        self.pauses = sum(inputs.where(time_ns=end)["pauses"]) - sum(inputs.where(time_ns=p.warmup)["pauses"])

    def row(self):
        return (self.scheme, self.senders) + tuple("-" if us is None else us for us in (self.mark, self.pause)) + (
            sum(self.goodputs) / 1e9, self.share, self.jain, mean(self.queue_bytes) / 1e3, max(self.queue_bytes) / 1e3,
            self.marks, self.pauses, self.drops)

    def marks_first(self):
        return self.mark is not None and (self.pause is None or self.mark < self.pause)


def t_ecn(params, limits):
    """Return: the upper bound of kmin by section 4, bytes: the share of the switch's buffer without headroom."""
    ports = max(params.senders) + 1
    free = ports * dcqcn.PORT_BUFFER - PRIOS * sum(limits["pool_headroom_bytes"])
    return {"dynamic": 8 * free / (PRIOS * ports * 9), "static": free / (PRIOS * ports * ports)}


def report(run):
    some = {scheme: [Case(run, scheme, n) for n in run.params.senders] for scheme in run.schemes}
    for scheme in run.schemes:
        limits = run.csv(scheme, "limits.csv")
        run.text("%s: t_PFC %.1f KB with empty queues, headroom %.1f KB; marks come first in any case if t_ECN < "
                 "%.2f KB" % (scheme, limits["pool_xoff_bytes"][0] / 1e3, limits["pool_headroom_bytes"][0] / 1e3,
                              t_ecn(run.params, limits)["dynamic" if scheme == "dynamic" else "static"] / 1e3))
    run.text("", "First mark and first pause frame after the start, µs; other columns: after the warm-up. Queue in KB",
             "")
    run.table(("scheme", "senders", "mark", "pause", "Gbit/s", "of most", "Jain", "queue: mean", "max", "marks",
               "pauses",
               "drops"), [c.row() for found in some.values() for c in found])
    ports = {scheme: run.csv(scheme, "ports.csv") for scheme in run.schemes}
    run.claim("drops", "number of dropped packets, including the start",
              sum(sum(c["dropped_headroom_packets"]) for c in ports.values()),
              "== 0")
    run.claim("headroom", "largest used share of a headroom", max(
        max(a / b for a, b in zip(c["headroom_peak_bytes"], c["pool_headroom_bytes"])) for c in ports.values()), "<= 1")
    if "dynamic" in some:
        run.claim("dynamic-first",
                  "dynamic: cases in which a pause frame precedes the first mark",
                  sum(not c.marks_first() for c in some["dynamic"]), "== 0")
        run.claim("dynamic-pauses", "dynamic: number of pause frames after the warm-up",
                  sum(c.pauses for c in some["dynamic"]),
                  "== 0" if not run.small else ">= 0")
    if "misset" in some:
        run.claim("misset-first", "misset: cases in which a mark precedes the first pause frame",
                  sum(c.marks_first() for c in some["misset"]), "== 0")
        # with so few inputs, the queue cannot reach the marking threshold
        limits = run.csv("misset", "limits.csv")
        t_pfc_now, headroom = (limits[name][0] for name in ("pool_xoff_bytes", "pool_headroom_bytes"))
        few = [c for c in some["misset"] if c.senders * (t_pfc_now + headroom) < run.params.wrong * t_pfc_now]
        if few:
            run.claim("misset-pauses", "misset, up to %d senders: fewest pause frames after the warm-up" %
                      few[-1].senders, min(c.pauses for c in few), "> 0")
            run.claim("misset-marks", "misset, up to %d senders: number of marks after the warm-up" % few[-1].senders,
                      sum(c.marks for c in few), "== 0")
    if set(SCHEMES) == set(run.schemes) and not run.small:
        draw(run, some)


def draw(run, some):
    _, axes = run.figure("dcqcn-buffers", 1, 3, (12, 3.4))
    senders = run.params.senders[-1]
    for scheme in some:
        start = run.csv(scheme, "start-%d.csv" % senders)
        port = start.where(port="switch/h1")
        times = [t / 1e3 for t in port["time_ns"]]
        axes[0].plot(times, [q / 1e3 for q in port["bytes"]], color=run.colour(scheme), label=scheme)
        sums = {}
        for t, pauses in zip(start["time_ns"], start["pauses"]):
            sums[t] = sums.get(t, 0) + pauses
        base = next(iter(sums.values()))
        axes[1].plot(times, [n - base for n in sums.values()], color=run.colour(scheme), label=scheme)
    for x, (scheme, found) in enumerate(some.items()):
        axes[2].bar([i + 0.25 * (x - 1) for i in range(len(found))], [c.pauses + 0.5 for c in found], 0.22,
                    color=run.colour(scheme), label=scheme)
    axes[0].set(xlabel="µs after the start", ylabel="queue, KB", title="Start, %d senders" % senders, ylim=(0, None))
    axes[1].set(xlabel="µs after the start", ylabel="pause frames sent", title="Start, %d senders" % senders)
    axes[2].set(xlabel="senders", ylabel="pause frames", yscale="log",
                title="%g ms after the warm-up" % (run.params.time / 1e6))
    axes[2].set_xticks(range(len(run.params.senders)), [str(n) for n in run.params.senders])
    run.of_one_run.extend(axes[:2])
    for axis in axes[:2]:
        axis.set_xlim(0, run.params.start / 1e3)
        axis.legend()

# SPDX-License-Identifier: GPL-2.0-only
"""NDP traffic and TCP share a port: does either starve the other?

The NDP paper (SIGCOMM 2017, section 3) uses one queue for each and fair queueing between them, which sch_ndp does by
deficit round robin in bytes. Bulk TCP flows run alone at first. Then unresponsive senders of UDP to NDP's port join
them, at a moderate rate or each at the full rate of its NIC. For comparison, the same runs with a plain pfifo, in which
senders that do not back off win.

A frame's share of the link's time includes its check sequence, preamble and gap. The receivers count the payloads of
TCP and UDP, and trimmed packets.
"""
import random

from closlab import topo
from closlab.params import Param
from closlab.results import jain

PARAMS = [
    Param("tcp", "word", "cubic,dctcp", "TCP's congestion control", several=True, choices=("cubic", "dctcp", "bbr")),
    Param("mixes", "word", "4:4,32:1,2:8", "TCP flows:NDP senders, each on its own host", several=True),
    Param("loads", "number", "0.3,0", "payload that all NDP senders offer, relative to the port's rate; "
          "0: each sends at its NIC's rate", several=True),
    Param("time", "time", "100ms", "duration of a measurement; NDP senders join after a fifth of it"),
    Param("clocks", "count", "1000", "maximum error of the senders' clocks, ppm"),
    Param("rate", "rate", "10gbit", "rate of all links"),
    Param("delay", "time", "1us", "delay of all links"),
    Param("mtu", "size", "1500", "length of full packets with IP header"),
    Param("trim_size", "size", "64", "length of a trimmed packet"),
    Param("queue", "size", "300k", "queue for TCP: sch_ndp's queue for other traffic, pfifo's whole queue"),
    Param("marking", "size", "98k", "queue above which sch_ndp marks dctcp's packets"),
]
SMALL = {"tcp": "dctcp", "mixes": "2:2", "time": "5ms"}
SCHEMES = ("ndp", "pfifo")

UDP_PORT = 61199            # sch_ndp trims packets to this port
IP_UDP, IP_TCP = 28, 52     # bytes of headers
ETHERNET = 14
ON_WIRE = 24                # check sequence, preamble, gap
PARTS = 5                   # of a measurement: TCP alone, one to settle, and three that are evaluated
TICKS = 10                  # samples in a part
KINDS = (("TCP", "#009e73"), ("NDP: whole packets", "#0072b2"), ("NDP: trimmed packets", "#56b4e9"))


def settings(params):
    return [(tcp, mix, load) for load in params.loads for tcp in params.tcp for mix in params.mixes]


def flows_of(mix):
    return tuple(int(number) for number in mix.split(":"))


def csv_name(what, setting):
    return "%s-%s-%s-%g.csv" % (what, setting[0], setting[1].replace(":", "-"), setting[2])


# ---- in the guest

def guest(lab):
    params = lab.params
    lab.module("sch_ndp")
    most = [max(number) for number in zip(*(flows_of(mix) for mix in params.mixes))]
    net = topo.star(sum(most) + 1, params.rate, params.delay, mtu=params.mtu)
    # with equal clocks, packets of one sender would take each free place of a full queue forever
    rng = random.Random(lab.seed)
    for host in net.hosts()[1:]:
        host.port("switch").rate += round(params.rate * params.clocks * rng.uniform(-1, 1) / 10**6)
    net.build()
    # a ring of two frames, so that packets queue in the qdisc
    topo.run("ip", "-n", "switch", "link", "set", "h1", "type", "closwire", "ring", "2")
    lab.expect(params.time * len(settings(params)))
    for setting in settings(params):
        measure(lab, net, most[0], setting)


def measure(lab, net, tcp_hosts, setting):
    params = lab.params
    tcp, mix, load = setting
    tcp_flows, ndp_flows = flows_of(mix)
    topo.run("tc", "-n", "switch", "qdisc", "add", "dev", "h1", "root", *qdisc(lab.scheme, params, tcp))
    part = params.time // PARTS
    first = tcp_hosts + 2
    blast = ["blast", "src=h%d-h%d" % (first, first + ndp_flows - 1), "dst=h1", "port=%d" % UDP_PORT,
             "size=%d" % (params.mtu - IP_UDP), "start=%dns" % part, "stagger=0", "jitter=10us"]
    if load:
        blast.append("rate=%dbit" % (load * params.rate / ndp_flows))
    lab.sample(csv_name("queue", setting), part // TICKS, [net.nodes["switch"].port("h1")])
    lab.traffic(net, "--time", "%dns" % params.time, "--drain", "0ns", "--flows", lab.path(csv_name("flows", setting)),
                "--series", lab.path(csv_name("series", setting)), "--every", "%dns" % (part // TICKS),
                "bulk", "src=h2-h%d" % (tcp_flows + 1), "dst=h1", "cc=" + tcp, "stagger=0", "jitter=500us",
                "--", *blast)
    topo.run("tc", "-n", "switch", "qdisc", "del", "dev", "h1", "root")


def qdisc(scheme, params, tcp):
    frame = params.mtu + ETHERNET
    if scheme == "pfifo":
        return "pfifo", "limit", str(params.queue // frame)
    marking = params.marking if tcp == "dctcp" else 0
    return ("ndp", "hlimit", str(8 * frame), "trim_size", str(params.trim_size),
            "rts", "other_limit", str(params.queue), "other_ecn", str(marking))


# ---- on the host

class Point:
    """Results of a scheme and a setting."""

    def __init__(self, run, scheme, setting):
        self.params, self.scheme = run.params, scheme
        self.tcp_name, self.mix, self.load = setting
        tcp_flows, ndp_flows = flows_of(self.mix)
        self.tcp, self.ndp = range(tcp_flows), range(tcp_flows, tcp_flows + ndp_flows)
        samples = run.csv(scheme, csv_name("series", setting)).rows()
        self.times = sorted({row["time_ns"] for row in samples})
        self.samples = {(row["time_ns"], row["flow"]): row for row in samples}
        self.alone = self.shares(TICKS // 2, TICKS - 2)
        self.both = self.shares(2 * TICKS, -1)
        queue = run.csv(scheme, csv_name("queue", setting))
        self.drops, self.marks = queue["drops"][-1], queue["marks"][-1]

    def increase(self, flows, column, begin, end):
        """Return: each flow's increase of a column from sample BEGIN to END."""
        return [self.value(end, flow, column) - self.value(begin, flow, column) for flow in flows]

    def value(self, number, flow, column):
        row = self.samples.get((self.times[number], flow))
        return row[column] if row else 0

    def shares(self, begin, end):
        """Return: each kind of frame's share of the link's time from sample BEGIN to END."""
        full = self.params.mtu + ETHERNET
        frames = (sum(self.increase(self.tcp, "acked_bytes", begin, end)) / (self.params.mtu - IP_TCP),
                  sum(self.increase(self.ndp, "whole_packets", begin, end)),
                  sum(self.increase(self.ndp, "short_packets", begin, end)))
        bits = (self.times[end] - self.times[begin]) * self.params.rate / 10**9
        return [count * (size + ON_WIRE) * 8 / bits for count, size in zip(frames, (full, full, self.params.trim_size))]

    def ndp_bytes(self):
        """Return: NDP's share of all bytes, as the qdisc counts them."""
        full = self.params.mtu + ETHERNET
        tcp, data, headers = (share * size / (size + ON_WIRE)
                              for share, size in zip(self.both, (full, full, self.params.trim_size)))
        return (data + headers) / (tcp + data + headers)

    def whole(self):
        """Return: share of the NDP senders' packets that arrive whole."""
        return sum(self.increase(self.ndp, "whole_packets", 2 * TICKS, -1)) / \
            sum(self.increase(self.ndp, "sent_packets", 2 * TICKS, -1))

    def tcp_use(self):
        """Return: TCP's share of the link time that NDP leaves."""
        return self.both[0] / (1 - self.both[1] - self.both[2])

    def title(self):
        load = "%g %% load" % (100 * self.load) if self.load else "overload"
        return "%s %s, %s" % (self.tcp_name, self.mix, load)

    def row(self):
        tcp = self.increase(self.tcp, "acked_bytes", 2 * TICKS, -1)
        return [self.title(), self.scheme] + [100 * share for share in self.both] + \
            [100 * self.ndp_bytes(), 100 * self.whole(), jain(tcp), self.drops, self.marks]


def report(run):
    points = {scheme: [Point(run, scheme, setting) for setting in settings(run.params)] for scheme in run.schemes}
    rows = [p.row() for pair in zip(*points.values()) for p in pair]
    run.table(("TCP flows:NDP senders", "port", "tcp %", "data %", "headers %", "NDP bytes %", "NDP whole %",
               "Jain tcp", "drops", "marks"), rows)
    draw(run, points)
    everything = [p for scheme in points.values() for p in scheme]
    if not run.small:       # dctcp starts within the few ms
        run.claim("alone", "TCP alone: smallest share of the link", min(p.alone[0] for p in everything), ">= 0.97")
    if "ndp" in points:
        claim(run, points["ndp"])
    if "pfifo" in points:
        run.claim("pfifo-starves", "pfifo: TCP's largest share of the link under overload by NDP senders",
                  max(p.both[0] for p in points["pfifo"] if not p.load), "<= 0.05")


def claim(run, points):
    heavy, light = [p for p in points if not p.load], [p for p in points if p.load]
    run.claim("busy", "ndp: smallest utilization of the link", min(sum(p.both) for p in points), ">= 0.98")
    run.claim("half", "ndp: largest deviation of NDP's share of bytes from a half under overload",
              max(abs(p.ndp_bytes() - 0.5) for p in heavy), "<= 0.02")
    run.claim("tcp-half", "ndp: TCP's smallest share of the link's time under overload by NDP senders",
              min(p.both[0] for p in heavy), ">= 0.46")
    run.claim("tcp-rest", "ndp: TCP's smallest share of the link time that moderate NDP senders leave",
              min(p.tcp_use() for p in light), ">= 0.97")
    run.claim("ndp-whole", "ndp: smallest share of moderate NDP senders' packets that arrive whole",
              min(p.whole() for p in light), ">= 0.99")


def draw(run, points):
    height = 1.2 + 0.2 * len(settings(run.params))
    figure, axes = run.figure("coexist", 2, len(points), (2.6 + 3.2 * len(points), height + 2.4))
    axes = axes.reshape(2, -1)
    for column, (scheme, row) in enumerate(points.items()):
        bars(axes[0][column], row, "port with " + scheme)
        course(axes[1][column], next((p for p in row if not p.load), row[0]))
        run.of_one_run.append(axes[1][column])
    for axis in axes[0][1:]:
        axis.set_yticklabels([])
    axes[0][-1].legend(loc="center left", bbox_to_anchor=(1.02, 0.5))


def bars(axis, points, title):
    """Draw a bar for each setting with the kinds of frames on the link."""
    left = [0] * len(points)
    for kind, (name, colour) in enumerate(KINDS):
        widths = [100 * p.both[kind] for p in points]
        axis.barh([p.title() for p in points], widths, left=left, color=colour, height=0.7, label=name)
        left = [a + b for a, b in zip(left, widths)]
    axis.axvline(50, color="black", linewidth=0.7, linestyle=":")
    axis.invert_yaxis()
    axis.set_xlim(0, 100)
    axis.set_xlabel("share of the link's time, %")
    axis.set_title(title)


def course(axis, point):
    """Draw the course of a measurement."""
    times = [time / 1e6 for time in point.times[1:]]
    shares = [[100 * share for share in point.shares(i, i + 1)] for i in range(len(times))]
    axis.stackplot(times, *zip(*shares), colors=[colour for _, colour in KINDS])
    axis.set_ylim(0, 100)
    axis.set_xlim(times[0], times[-1])
    axis.set_xlabel("time, ms")
    axis.set_ylabel("share of the link's time, %")
    axis.set_title(point.title())

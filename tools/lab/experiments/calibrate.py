# SPDX-License-Identifier: GPL-2.0-only
"""Is the lab exact? Serialization, delay and queueing against closed forms, M/D/1 against theory, TCP's goodput.

A scheme is a rate of the links. The network:

    fast ==== leaf1 ---- spine ---- leaf2 ---- far      ----  links of the scheme's rate
    h1, h2, ... --/                                     ====  a link of four times that rate

One process sends UDP datagrams, which fq lets go at the instants that come with
them, and reads when the kernel and the NIC (hardware time stamps) say that they
have arrived. As the CPU takes no time, these times are the network's alone.
What they should be is computed in report(), in integers.
"""
import bisect
import ctypes
import decimal
import math
import random
import socket
import statistics
import struct
import time

from closlab import topo
from closlab.guest import sleep_until
from closlab.params import RATES, Param, scaled
from closlab.results import COLOURS, mean

PARAMS = [
    Param("delay", "time", "1500ns", "of each link"),
    Param("sizes", "size", "60,714,1514", "of frames, for the delay through 1, 2 and 4 links", several=True),
    Param("burst", "count", "1000", "frames back to back, 1000 at most"),
    Param("senders", "count", "16", "hosts that send a frame to one, all at the same instant"),
    Param("loads", "number", "0.5,0.7,0.8,0.9,0.95", "of the M/D/1 queue", several=True),
    Param("packets", "count", "40000,60000,100000,200000,300000", "through that queue, for each load", several=True),
    Param("tcp", "count", "40000", "frames of 1514 bytes' time that a TCP flow lasts"),
]
SMALL = {"sizes": "60,1514", "burst": "50", "senders": "4", "loads": "0.5,0.8", "packets": "1000,1000", "tcp": "1000"}
SCHEMES = ("1gbit", "10gbit", "25gbit", "100gbit")

FRAME = 1514                            # of the bursts and of the M/D/1 queue
AROUND = 24                             # bytes of the line around a frame: FCS 4, preamble 8, gap 12
GAP, PREAMBLE = 12, 8
HEADERS = 14 + 20 + 8
FAST = 4                                # rate of the link of "fast", over the others'
PORT = 7000
DESTINATIONS = (("leaf1", 1), ("h2", 2), ("far", 4))    # and how many links away from h1
MTUS = (1500, 9000)
CONTROLS = ("cubic", "dctcp")
TCP_DATA = 20 + 20 + 12                 # IPv4, TCP, time stamps: what the MTU has beside data

SO_SNDBUFFORCE, SO_RCVBUFFORCE = 32, 33
SO_TIMESTAMPING = 37
SO_TXTIME = 61
# SOF_TIMESTAMPING_RX_HARDWARE, RX_SOFTWARE, SOFTWARE, RAW_HARDWARE
STAMPS = 1 << 2 | 1 << 3 | 1 << 4 | 1 << 6
BATCH = 1000
CONTROL = 64                            # bytes of control messages: a cmsghdr and three struct timespec at most
LEAD_NS = 10**6                         # a datagram is in the qdisc that long before its time at least
# each datagram leaves at the time that comes with it
FQ = "fq limit %d flow_limit %d timer_slack 0" % (4 * BATCH, 4 * BATCH)


def rate_of(scheme):
    return scaled(scheme, RATES, "rate")


# ---- in the guest

def topology(rate, delay, hosts):
    net = topo.Network(mtu=9000)
    leaves = [net.switch("leaf%d" % (i + 1), "10.0.%d.1" % i) for i in range(2)]
    spine = net.switch("spine", "10.255.0.1")
    for i in range(hosts):
        net.attach(net.host("h%d" % (i + 1), "10.0.0.%d" % (i + 2), 0, 0), leaves[0], rate, delay)
    net.attach(net.host("far", "10.0.1.2", 1, 0), leaves[1], rate, delay)
    net.attach(net.host("fast", "10.0.0.250", 0, 0), leaves[0], FAST * rate, delay)
    for i, leaf in enumerate(leaves):
        net.link(leaf, spine, rate, delay)
        leaf.routes.append(("0.0.0.0/0", ["spine"]))
        spine.routes.append(("10.0.%d.0/24" % i, [leaf.name]))
    return net


LIBC = ctypes.CDLL(None, use_errno=True)


class Iovec(ctypes.Structure):
    """struct iovec"""
    _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]


class Header(ctypes.Structure):
    """struct msghdr"""
    _fields_ = [("name", ctypes.c_void_p), ("namelen", ctypes.c_uint), ("iov", ctypes.POINTER(Iovec)),
                ("iovlen", ctypes.c_size_t), ("control", ctypes.c_void_p), ("controllen", ctypes.c_size_t),
                ("flags", ctypes.c_int)]


class Message(ctypes.Structure):
    """struct mmsghdr"""
    _fields_ = [("header", Header), ("len", ctypes.c_uint)]


class Batch:
    """A socket and up to BATCH datagrams that one system call sends or receives: the calls are what costs wall time."""

    def __init__(self, node, frame):
        topo.enter("/run/netns/" + node.name)
        self.node = node
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.data = ctypes.create_string_buffer(frame - HEADERS)
        self.iov = Iovec(ctypes.addressof(self.data), len(self.data))
        self.controls = ctypes.create_string_buffer(BATCH * CONTROL)
        self.messages = (Message * BATCH)()
        for i, message in enumerate(self.messages):
            message.header.iov, message.header.iovlen = ctypes.pointer(self.iov), 1
            message.header.control = ctypes.addressof(self.controls) + i * CONTROL

    def call(self, function, count, *more):
        done = function(self.socket.fileno(), self.messages, count, 0, *more)
        if done != count:
            raise OSError(ctypes.get_errno(), "%d of %d datagrams" % (done, count))


class Sender(Batch):
    """Sends to a Receiver, through a device that has fq."""

    def __init__(self, node, to, frame=FRAME):
        super().__init__(node, frame)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 28)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TXTIME, struct.pack("iI", time.CLOCK_MONOTONIC, 0))
        self.socket.connect((to.node.address, PORT))

    def send(self, times):
        """A datagram for each of the times: when fq shall let it go."""
        for i, ns in enumerate(times):
            struct.pack_into("QiiQ", self.controls, i * CONTROL, 24, socket.SOL_SOCKET, SO_TXTIME, ns)
            self.messages[i].header.controllen = 24
        self.call(LIBC.sendmmsg, len(times))


class Receiver(Batch):
    """Receives what is sent to PORT, with time stamps."""

    def __init__(self, node):
        super().__init__(node, HEADERS + 1)
        for port in node.ports.values():
            topo.stamp_received(port.dev)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 28)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, STAMPS)
        self.socket.bind((node.address, PORT))

    def receive(self, count):
        """[(arrival by the stack, start frame delimiter by the NIC)] of the next datagrams, by the real-time clock."""
        for message in self.messages[:count]:
            message.header.controllen = CONTROL
        self.call(LIBC.recvmmsg, count, None)
        stamps = [struct.unpack_from("16x6q", self.controls, i * CONTROL) for i in range(count)]
        return [(s[0] * 10**9 + s[1], s[4] * 10**9 + s[5]) for s in stamps]


class Bench:
    """Sends datagrams and writes down when they left and came."""

    def __init__(self, lab, net):
        self.lab, self.nodes = lab, net.nodes
        # to read the clock takes 1 ns
        before, real, after = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
        self.real_ns = real - (before + after) // 2

    def open(self, name, *columns):
        out = open(self.lab.path(name), "w", encoding="ascii", newline="")
        out.write(",".join(columns) + "\n")
        return out

    def burst(self, out, test, sources, destination, links, frame, count):
        """Each of the sources sends that many frames, all at one instant."""
        receiver = Receiver(self.nodes[destination])
        senders = [Sender(self.nodes[name], receiver, frame) for name in sources]
        due = time.monotonic_ns() + LEAD_NS
        for sender in senders:
            sender.send([due] * count)
        zero = self.lab.origin + self.real_ns
        for number, (arrived, sfd) in enumerate(receiver.receive(count * len(senders))):
            out.write("%s,%d,%d,%d,%d,%d,%d\n" % (test, links, frame, number, due - self.lab.origin, arrived - zero,
                                                  sfd - zero))

    def queue(self, out, count, gap_ns, rng):
        """Frames from "fast" to h1 at exponential gaps."""
        receiver = Receiver(self.nodes["h1"])
        sender = Sender(self.nodes["fast"], receiver)
        due = time.monotonic_ns() + LEAD_NS
        times, before = [], []
        while count or before:
            for _ in range(min(count, BATCH)):
                due += rng.expovariate(1) * gap_ns
                times.append(int(due))
            count -= len(times)
            sender.send(times)
            # one batch is on its way while the next is made
            for sent, (arrived, _) in zip(before, receiver.receive(len(before))):
                out.write("%d,%d\n" % (sent - self.lab.origin, arrived - self.real_ns - self.lab.origin))
            times, before = [], times


def tcp_time(params, rate):
    return params.tcp * (FRAME + AROUND) * 8 * 10**9 // rate


def guest(lab):
    rate, p = rate_of(lab.scheme), lab.params
    net = topology(rate, p.delay, p.senders + 1)
    net.build(host_qdisc=FQ)
    gaps_ns = [(FRAME + AROUND) * 8e9 / rate / load for load in p.loads]
    lab.expect(int(sum(n * gap for n, gap in zip(p.packets, gaps_ns))) + 4 * tcp_time(p, rate))
    bench = Bench(lab, net)
    lab.begin()
    sleep_until(lab.origin)
    with bench.open("frames.csv", "test", "links", "bytes", "frame", "sent_ns", "arrived_ns", "sfd_ns") as out:
        for destination, links in DESTINATIONS:
            for size in p.sizes:
                bench.burst(out, "delay", ["h1"], destination, links, size, 1)
        bench.burst(out, "burst", ["h1"], "leaf1", 1, FRAME, p.burst)
        bench.burst(out, "incast", ["h%d" % (i + 2) for i in range(p.senders)], "h1", 2, FRAME, 1)
    for load, count, gap in zip(p.loads, p.packets, gaps_ns):
        with bench.open("queue-%g.csv" % load, "sent_ns", "arrived_ns") as out:
            bench.queue(out, count, gap, random.Random("%d %s %g" % (lab.seed, lab.scheme, load)))
    lab.end()
    for mtu in MTUS:
        for name in ("h1", "far"):
            topo.run("ip", "-n", name, "link", "set", "eth0", "mtu", str(mtu))
        for cc in CONTROLS:
            span = tcp_time(p, rate)
            lab.traffic(net, "--time", "%dns" % span, "--every", "%dns" % (span // 5),
                        "--series", lab.path("tcp-%s-%d.csv" % (cc, mtu)), "bulk", "src=h1", "dst=far", "cc=" + cc)


# ---- on the host: what the times should be

def line_ns(rate, size):
    """What SIZE bytes of the line take, in whole ns."""
    return size * 8 * 10**9 // rate


def expected(rate, delay, links, size, number, sent):
    """(arrival, start frame delimiter) of a frame with NUMBER others before it on the last link; they left at SENT."""
    ahead = number * (size + AROUND)
    last = sent + (links - 1) * (line_ns(rate, size + AROUND - GAP) + delay)
    return (last + line_ns(rate, ahead + size + AROUND - GAP) + delay,
            last + line_ns(rate, ahead) + line_ns(rate, PREAMBLE) + delay)


class Line:
    """A sender and its link, for frames that come at any time; its clock counts ns/rate, so that nothing is rounded."""

    def __init__(self, rate, delay):
        self.rate, self.delay = rate, delay
        self.end = 0

    def send(self, now, size):
        """When a frame that is sent at NOW arrives. It starts at once, or follows the last one."""
        start = self.end + GAP * 8 * 10**9
        if now > start // self.rate:
            start = now * self.rate
        self.end = start + (size + AROUND - GAP) * 8 * 10**9
        return self.end // self.rate + self.delay


def path_alone(rate, delay):
    """What the way from "fast" to h1 takes when nobody else is on it."""
    return Line(rate, delay).send(Line(FAST * rate, delay).send(0, FRAME), FRAME)


def lindley(rate, delay, sent):
    """When the M/D/1 queue's frames should arrive."""
    access, port = Line(FAST * rate, delay), Line(rate, delay)
    return [port.send(access.send(ns, FRAME), FRAME) for ns in sent]


def md1_mean(load):
    """Mean time in an M/D/1 queue (Pollaczek-Khinchine), in service times."""
    return load / (2 * (1 - load))


def md1_within(load, t):
    """P(a frame waits at most T service times) in an M/D/1 queue (Erlang, 1909); the terms alternate and are huge."""
    with decimal.localcontext() as context:
        context.prec = 200
        load, t = decimal.Decimal(load), decimal.Decimal(t)
        total = (load * t).exp()
        for k in range(1, int(t) + 1):
            total += (load * (k - t)) ** k / math.factorial(k) * (load * (t - k)).exp()
        return float((1 - load) * total)


# ---- on the host: what they were

def worst(pairs):
    """The largest difference of what was measured from what it should be, with its sign."""
    return max((got - want for got, want in pairs), key=abs)


class Frames:
    """The frames of a scheme that were sent alone or in bursts."""

    def __init__(self, run, scheme):
        self.rate, self.delay = rate_of(scheme), run.params.delay
        self.frames = run.csv(scheme, "frames.csv")

    def rows(self, test, **which):
        """[(row, arrival expected, its start frame delimiter expected)]"""
        rows = self.frames.where(test=test, **which).rows()
        first = rows[0]["sent_ns"]
        return [(row,) + expected(self.rate, self.delay, row["links"], row["bytes"], number, first)
                for number, row in enumerate(rows)]

    def worst(self, test, **which):
        rows = self.rows(test, **which)
        return (worst((row["arrived_ns"], arrived) for row, arrived, _ in rows),
                worst((row["sfd_ns"], sfd) for row, _, sfd in rows))


def report_delay(run):
    run.text("A frame alone: from the sender's qdisc to the receiver's stack, ns; difference from store and forward,",
             "of the kernel's time stamp and of the NIC's", "")
    rows = []
    for scheme in run.schemes:
        frames = Frames(run, scheme)
        differences = []
        for _, links in DESTINATIONS:
            for size in run.params.sizes:
                row, arrived, _ = frames.rows("delay", links=links, bytes=size)[0]
                off = frames.worst("delay", links=links, bytes=size)
                differences += off
                rows.append((scheme, links, size, arrived - row["sent_ns"], row["arrived_ns"] - row["sent_ns"]) + off)
        run.claim("delay-" + scheme, "the delay of a frame alone through 1, 2, 4 links: farthest from closed form, ns",
                  max(differences, key=abs), "== 0")
    run.table(("rate", "links", "bytes", "closed form", "measured", "difference", "NIC's"), rows)


def report_bursts(run):
    run.text("Frames of %d bytes: %d back to back on a link, and one of each of %d hosts to the same port at once" % (
        FRAME, run.params.burst, run.params.senders), "")
    rows = []
    for scheme in run.schemes:
        frames = Frames(run, scheme)
        times = [row["arrived_ns"] for row, _, _ in frames.rows("burst")]
        gaps = [b - a for a, b in zip(times, times[1:])]
        burst, incast = frames.worst("burst"), frames.worst("incast")
        rows.append((scheme, "%.2f" % ((FRAME + AROUND) * 8e9 / frames.rate), "%.2f" % mean(gaps), min(gaps), max(gaps))
                    + burst + incast)
        run.claim("burst-" + scheme, "frame n of a burst arrives after n frames' time: farthest from that, ns",
                  max(burst, key=abs), "== 0")
        run.claim("incast-" + scheme, "the n-th of frames that meet at a port waits for n: farthest from that, ns",
                  max(incast, key=abs), "== 0")
    run.table(("rate", "frame's ns", "mean gap", "least", "most", "burst: off", "NIC's", "incast: off", "NIC's"), rows)


class Queue:
    """What came of the M/D/1 queue at one load, over all rates: waiting times in service times."""

    def __init__(self, run, load):
        self.load, self.off, self.by_scheme = load, {}, {}
        for scheme in run.schemes:
            rate, delay = rate_of(scheme), run.params.delay
            frames = run.csv(scheme, "queue-%g.csv" % load)
            sent, arrived = frames["sent_ns"], frames["arrived_ns"]
            alone = path_alone(rate, delay)
            service = (FRAME + AROUND) * 8e9 / rate
            self.off[scheme] = worst(zip(arrived, lindley(rate, delay, sent)))
            self.by_scheme[scheme] = [(b - a - alone) / service for a, b in zip(sent, arrived)]

    def all(self):
        return [w for values in self.by_scheme.values() for w in values]

    def interval(self, batches=20):
        """Half of the mean's 95 % confidence interval, from the means of batches."""
        means = []
        for values in self.by_scheme.values():
            size = len(values) // batches
            means += [mean(values[i * size:(i + 1) * size]) for i in range(batches)]
        return 1.96 * statistics.stdev(means) / math.sqrt(len(means))


def curve(load):
    """Points (t, P(wait > t)) of the theory, down to one in 10^4."""
    points = [(0, load)]
    while points[-1][1] > 1e-4:
        t = points[-1][0] + 0.25
        points.append((t, 1 - md1_within(load, t)))
    return points


def share_above(ordered, t):
    return 1 - bisect.bisect_right(ordered, t) / len(ordered)


def report_queue(run):
    queues = [Queue(run, load) for load in run.params.loads]
    curves = {queue.load: curve(queue.load) for queue in queues}
    rows, apart = [], {}
    # with fewer frames, chance is larger than the bars
    enough = not run.small and len(run.schemes) == len(SCHEMES)
    for queue in queues:
        ordered = sorted(queue.all())
        got, theory = mean(ordered), md1_mean(queue.load)
        # not at whole t, where the frames' whole ns would decide
        apart[queue.load] = max(abs(share_above(ordered, t) - p) for t, p in curves[queue.load][1::2])
        rows.append((queue.load, len(ordered), theory, got, queue.interval(), 100 * (got / theory - 1),
                     apart[queue.load], max(queue.off.values(), key=abs)))
        if enough:
            run.claim("md1-%g" % queue.load, "mean wait over rho / 2(1 - rho) at load %g" % queue.load, got / theory,
                      "0.95..1.05")
    run.text("M/D/1: the mean wait, in service times; how far the share of frames that wait longer than t is from",
             "theory at most; and how far a frame is from Lindley's recursion at most, ns", "")
    run.table(("load", "frames", "theory", "measured", "+-95 %", "off by %", "P(wait > t) off", "Lindley off"), rows)
    if enough:
        run.claim("md1-distribution", "P(wait > t), largest distance from theory, all loads", max(apart.values()),
                  "<= 0.02")
    for scheme in run.schemes:
        run.claim("lindley-" + scheme, "every frame of the M/D/1 queue against Lindley's recursion: farthest off, ns",
                  max((queue.off[scheme] for queue in queues), key=abs), "== 0")
    draw(run, queues, curves)


def draw_burst(axes, run):
    for scheme in run.schemes:
        rows = Frames(run, scheme).rows("incast")
        first = rows[0][0]["arrived_ns"]
        numbers = range(1, len(rows))
        axes.plot(numbers, [(arrived - rows[0][1]) / 1e3 for _, arrived, _ in rows[1:]], "-", color=run.colour(scheme))
        axes.plot(numbers, [(row["arrived_ns"] - first) / 1e3 for row, _, _ in rows[1:]], "o", markersize=3.5,
                  color=run.colour(scheme), label=name_of(scheme))
    axes.set_yscale("log")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel("n")
    axes.set_ylabel("wait, µs")
    axes.set_title("The n-th of frames that meet at a port")
    axes.legend(title="lines: n frames' time", ncols=2)


def draw_means(axes, run, queues):
    loads = [i / 200 for i in range(192)]
    axes.plot(loads, [md1_mean(load) for load in loads], color="#666666", label="theory")
    for scheme in run.schemes:
        axes.plot([queue.load for queue in queues], [mean(queue.by_scheme[scheme]) for queue in queues], "o",
                  markersize=4, markerfacecolor="none", color=run.colour(scheme), label=name_of(scheme))
    axes.set_xlabel("load")
    axes.set_ylabel("mean wait, service times")
    axes.set_title("M/D/1 queue: mean")
    axes.legend()


def draw_tails(axes, queues, curves):
    for queue, colour in zip(queues, COLOURS):
        points = curves[queue.load]
        ordered = sorted(queue.all())
        axes.plot([t for t, _ in points], [p for _, p in points], color="#666666", linewidth=1)
        marks = points[1::max(2, len(points) // 25 // 2 * 2)]
        axes.plot([t for t, _ in marks], [share_above(ordered, t) for t, _ in marks], "o", markersize=3.5, color=colour,
                  label="load %g" % queue.load)
    axes.set_yscale("log")
    axes.set_ylim(1e-4, 1.2)
    axes.set_xlabel("t, service times")
    axes.set_ylabel("frames that wait longer than t")
    axes.set_title("M/D/1 queue: distribution")
    axes.legend(title="lines: theory")


def name_of(scheme):
    return scheme.replace("gbit", " Gbit/s")


def draw(run, queues, curves):
    _, axes = run.figure("calibrate", 1, 3, size=(11, 3.6))
    draw_burst(axes[0], run)
    draw_means(axes[1], run, queues)
    draw_tails(axes[2], queues, curves)


def goodput_bps(series):
    """Of data that was acknowledged, without the first and the last fifth of the time."""
    rows = series.rows()
    return (rows[-1]["acked_bytes"] - rows[0]["acked_bytes"]) * 8e9 / (rows[-1]["time_ns"] - rows[0]["time_ns"])


def report_tcp(run):
    run.text("A TCP flow through 4 links: goodput, Gbit/s; at most: what headers and gaps leave of the rate", "")
    rows = []
    for scheme in run.schemes:
        for mtu in MTUS:
            most = rate_of(scheme) / 1e9 * (mtu - TCP_DATA) / (mtu + 14 + AROUND)
            for cc in CONTROLS:
                got = goodput_bps(run.csv(scheme, "tcp-%s-%d.csv" % (cc, mtu))) / 1e9
                rows.append((scheme, mtu, cc, "%.3f" % most, "%.3f" % got, "%.4f" % (got / most)))
                if not run.small:
                    run.claim("tcp-%s-%d-%s" % (scheme, mtu, cc), "goodput, Gbit/s", got,
                              ">= %g" % (rate_of(scheme) / 1e9 * {1500: 0.94, 9000: 0.985}[mtu]))
    run.table(("rate", "MTU", "", "at most", "measured", "share"), rows)


def report(run):
    report_delay(run)
    report_bursts(run)
    report_queue(run)
    report_tcp(run)

# SPDX-License-Identifier: GPL-2.0-only
"""Accuracy of the lab: serialization, delay and queueing against closed forms, an M/D/1 queue, and TCP goodput.

A scheme is a link rate. The network:

    fast ==== leaf1 ---- spine ---- leaf2 ---- far      ----  links of the scheme's rate
    h1, h2, ... --/                                     ====  a link of four times that rate

One process sends UDP datagrams, which fq releases at their individual times, and reads the receive timestamps of the
kernel and of the NIC (hardware timestamps). Because the CPU takes no time, these times depend on the network alone.
report() computes the expected times in integers.
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

from closlab import delays, topo
from closlab.guest import sleep_until
from closlab.params import RATES, Param, scaled
from closlab.results import COLOURS, mean

PARAMS = [
    Param("delay", "time", "1500ns", "delay of each link"),
    Param("sizes", "size", "60,714,1514", "frame sizes for the delay through 1, 2 and 4 links", several=True),
    Param("burst", "count", "1000", "back-to-back frames, at most 1000"),
    Param("senders", "count", "16", "hosts that send one frame each to one host at the same instant"),
    Param("loads", "number", "0.5,0.7,0.8,0.9,0.95", "loads of the M/D/1 queue", several=True),
    Param("packets", "count", "40000,60000,100000,200000,300000", "frames through that queue for each load",
          several=True),
    Param("tcp", "count", "40000", "duration of a TCP flow in transmission times of 1514 bytes"),
]
SMALL = {"sizes": "60,1514", "burst": "50", "senders": "4", "loads": "0.5,0.8", "packets": "1000,1000", "tcp": "1000"}
SCHEMES = ("1gbit", "10gbit", "25gbit", "100gbit")

FRAME = 1514                            # frame size of bursts and of the M/D/1 queue
AROUND = 24                             # bytes on the link besides a frame: FCS 4, preamble 8, gap 12
GAP, PREAMBLE = 12, 8
HEADERS = 14 + 20 + 8
FAST = 4                                # rate of the link of "fast" relative to other links
PORT = 7000
DESTINATIONS = (("leaf1", 1), ("h2", 2), ("far", 4))    # (host, number of links from h1)
MTUS = (1500, 9000)
CONTROLS = ("cubic", "dctcp")
TCP_DATA = 20 + 20 + 12                 # bytes of the MTU without data: IPv4, TCP, timestamps

SO_SNDBUFFORCE, SO_RCVBUFFORCE = 32, 33
SO_TIMESTAMPING = 37
SO_TXTIME = 61
# SOF_TIMESTAMPING_RX_HARDWARE, RX_SOFTWARE, SOFTWARE, RAW_HARDWARE
STAMPS = 1 << 2 | 1 << 3 | 1 << 4 | 1 << 6
BATCH = 1000
CONTROL = 64                            # bytes of control messages: a cmsghdr and three struct timespec at most
LEAD_NS = 10**6                         # minimum time from sending to the release by fq
# fq releases each datagram at its SO_TXTIME
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
    """A socket that sends or receives up to BATCH datagrams per system call, because system calls cost wall time."""

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
    """Sends datagrams to a Receiver through a device with fq."""

    def __init__(self, node, to, frame=FRAME):
        super().__init__(node, frame)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 28)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TXTIME, struct.pack("iI", time.CLOCK_MONOTONIC, 0))
        self.socket.connect((to.node.address, PORT))

    def send(self, times):
        """Send a datagram for each of the times, at which fq releases it."""
        for i, ns in enumerate(times):
            struct.pack_into("QiiQ", self.controls, i * CONTROL, 24, socket.SOL_SOCKET, SO_TXTIME, ns)
            self.messages[i].header.controllen = 24
        self.call(LIBC.sendmmsg, len(times))


class Receiver(Batch):
    """Receives datagrams to PORT with timestamps."""

    def __init__(self, node):
        super().__init__(node, HEADERS + 1)
        for port in node.ports.values():
            topo.stamp_received(port.dev)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 28)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, STAMPS)
        self.socket.bind((node.address, PORT))

    def receive(self, count):
        """Return: [(receive time in the stack, start frame delimiter at the NIC)] by the real-time clock, ns."""
        for message in self.messages[:count]:
            message.header.controllen = CONTROL
        self.call(LIBC.recvmmsg, count, None)
        stamps = [struct.unpack_from("16x6q", self.controls, i * CONTROL) for i in range(count)]
        return [(s[0] * 10**9 + s[1], s[4] * 10**9 + s[5]) for s in stamps]


class Bench:
    """Sends datagrams and records their departure and arrival times."""

    def __init__(self, lab, net):
        self.lab, self.net, self.nodes = lab, net, net.nodes
        # reading the clock takes 1 ns
        before, real, after = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
        self.real_ns = real - (before + after) // 2

    def open(self, name, *columns):
        out = open(self.lab.path(name), "w", encoding="ascii", newline="")
        out.write(",".join(columns) + "\n")
        return out

    def burst(self, out, histograms, test, sources, destination, links, frame, count):
        """Send COUNT frames from each source, all at the same instant."""
        receiver = Receiver(self.nodes[destination])
        port = self.net.path(self.nodes[sources[0]], receiver.node)[-1].peer
        delays.start([port])
        senders = [Sender(self.nodes[name], receiver, frame) for name in sources]
        due = time.monotonic_ns() + LEAD_NS
        for sender in senders:
            sender.send([due] * count)
        zero = self.lab.origin + self.real_ns
        for number, (arrived, sfd) in enumerate(receiver.receive(count * len(senders))):
            out.write("%s,%d,%d,%d,%d,%d,%d\n" % (test, links, frame, number, due - self.lab.origin, arrived - zero,
                                                  sfd - zero))
        histograms.writelines("%s,%d,%d,%d,%d,%d\n" % (test, links, frame, *row) for row in delays.stop(port))

    def queue(self, out, count, gap_ns, rng):
        """Send frames from "fast" to h1 with exponential gaps."""
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
            # one batch is in flight while the next one is prepared
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
    with bench.open("frames.csv", "test", "links", "bytes", "frame", "sent_ns", "arrived_ns", "sfd_ns") as out, \
            bench.open("delays.csv", "test", "links", "bytes", *delays.COLUMNS[1:]) as histograms:
        for destination, links in DESTINATIONS:
            for size in p.sizes:
                bench.burst(out, histograms, "delay", ["h1"], destination, links, size, 1)
        bench.burst(out, histograms, "burst", ["h1"], "leaf1", 1, FRAME, p.burst)
        bench.burst(out, histograms, "incast", ["h%d" % (i + 2) for i in range(p.senders)], "h1", 2, FRAME, 1)
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


# ---- on the host: expected times

def line_ns(rate, size):
    """Return: transmission time of SIZE bytes, in whole ns."""
    return size * 8 * 10**9 // rate


def expected(rate, delay, links, size, number, sent):
    """Return: (arrival, start frame delimiter) of a frame sent at SENT behind NUMBER frames on the last link."""
    ahead = number * (size + AROUND)
    last = sent + (links - 1) * (line_ns(rate, size + AROUND - GAP) + delay)
    return (last + line_ns(rate, ahead + size + AROUND - GAP) + delay,
            last + line_ns(rate, ahead) + line_ns(rate, PREAMBLE) + delay)


class Line:
    """A sender and its link for frames at any time. The clock counts ns/rate, which avoids rounding."""

    def __init__(self, rate, delay):
        self.rate, self.delay = rate, delay
        self.end = 0

    def send(self, now, size):
        """Return: arrival of a frame sent at NOW; it starts at once, or after the previous one."""
        start = self.end + GAP * 8 * 10**9
        if now > start // self.rate:
            start = now * self.rate
        self.end = start + (size + AROUND - GAP) * 8 * 10**9
        return self.end // self.rate + self.delay


def path_alone(rate, delay):
    """Return: delay from "fast" to h1 without other traffic, ns."""
    return Line(rate, delay).send(Line(FAST * rate, delay).send(0, FRAME), FRAME)


def lindley(rate, delay, sent):
    """Return: expected arrival times of the frames through the M/D/1 queue."""
    access, port = Line(FAST * rate, delay), Line(rate, delay)
    return [port.send(access.send(ns, FRAME), FRAME) for ns in sent]


def md1_mean(load):
    """Return: mean wait in an M/D/1 queue in service times (Pollaczek-Khinchine)."""
    return load / (2 * (1 - load))


def md1_within(load, t):
    """Return: P(wait <= T service times) in an M/D/1 queue (Erlang, 1909); terms are large and alternate in sign."""
    with decimal.localcontext() as context:
        context.prec = 200
        load, t = decimal.Decimal(load), decimal.Decimal(t)
        total = (load * t).exp()
        for k in range(1, int(t) + 1):
            total += (load * (k - t)) ** k / math.factorial(k) * (load * (t - k)).exp()
        return float((1 - load) * total)


# ---- on the host: measured times

def worst(pairs):
    """Return: the largest difference between measured and expected values, with its sign."""
    return max((measured - predicted for measured, predicted in pairs), key=abs)


class Frames:
    """The frames of a scheme that were sent one by one or in bursts."""

    def __init__(self, run, scheme):
        self.rate, self.delay = rate_of(scheme), run.params.delay
        self.frames = run.csv(scheme, "frames.csv")

    def rows(self, test, **which):
        """Return: [(row, expected arrival, expected start frame delimiter)]."""
        rows = self.frames.where(test=test, **which).rows()
        first = rows[0]["sent_ns"]
        return [(row,) + expected(self.rate, self.delay, row["links"], row["bytes"], number, first)
                for number, row in enumerate(rows)]

    def worst(self, test, **which):
        rows = self.rows(test, **which)
        return (worst((row["arrived_ns"], arrived) for row, arrived, _ in rows),
                worst((row["sfd_ns"], sfd) for row, _, sfd in rows))


def report_delay(run):
    run.text("A single frame: delay from the sender's qdisc to the receiver's stack, ns; error of store and forward,",
             "for the timestamps of the kernel and of the NIC", "")
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
        run.claim("delay-" + scheme, "delay of a single frame through 1, 2 and 4 links: largest error, ns",
                  max(differences, key=abs), "== 0")
    run.table(("rate", "links", "bytes", "closed form", "measured", "difference", "NIC's"), rows)


def report_histograms(run):
    """Claim that closwire's histograms of one-way delays count each frame in the bucket of its expected delay."""
    for scheme in run.schemes:
        frames, histograms = Frames(run, scheme), run.csv(scheme, "delays.csv")
        misplaced, extremes = 0, []
        for test, links, size in sorted(set(zip(*(histograms[name] for name in ("test", "links", "bytes"))))):
            which = {"links": links, "bytes": size}
            buckets = histograms.where(test=test, **which)
            rows = frames.rows(test, **which)
            expected_ns = sorted(arrived - row["sent_ns"] for row, arrived, _ in rows)
            extremes += [(min(buckets["from_ns"]), expected_ns[0]), (max(buckets["to_ns"]), expected_ns[-1])]
            for first, last, count in zip(buckets["from_ns"], buckets["to_ns"], buckets["frames"]):
                misplaced += abs(count - sum(first <= ns <= last for ns in expected_ns))
            misplaced += abs(len(expected_ns) - sum(buckets["frames"]))
        run.claim("histogram-" + scheme, "frames of the above tests in another bucket of closwire's histogram of delays",
                  misplaced, "== 0")
        run.claim("extremes-" + scheme, "smallest and largest delay of each histogram: largest error, ns",
                  worst(extremes), "== 0")


def report_bursts(run):
    run.text("Frames of %d bytes: %d back to back on a link, and one from each of %d hosts to one port at once" % (
        FRAME, run.params.burst, run.params.senders), "")
    rows = []
    for scheme in run.schemes:
        frames = Frames(run, scheme)
        times = [row["arrived_ns"] for row, _, _ in frames.rows("burst")]
        gaps = [b - a for a, b in zip(times, times[1:])]
        burst, incast = frames.worst("burst"), frames.worst("incast")
        rows.append((scheme, "%.2f" % ((FRAME + AROUND) * 8e9 / frames.rate), "%.2f" % mean(gaps), min(gaps), max(gaps))
                    + burst + incast)
        run.claim("burst-" + scheme, "arrival of frame n of a burst after n transmission times: largest error, ns",
                  max(burst, key=abs), "== 0")
        run.claim("incast-" + scheme, "wait of the n-th of simultaneous frames at a port: largest error, ns",
                  max(incast, key=abs), "== 0")
    run.table(("rate", "frame time ns", "mean gap", "min", "max", "burst: off", "NIC's", "incast: off", "NIC's"), rows)


class Queue:
    """Results of the M/D/1 queue at one load for all rates: waiting times in service times."""

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
        """Return: half of the mean's 95 % confidence interval, by batch means."""
        means = []
        for values in self.by_scheme.values():
            size = len(values) // batches
            means += [mean(values[i * size:(i + 1) * size]) for i in range(batches)]
        return 1.96 * statistics.stdev(means) / math.sqrt(len(means))


def curve(load):
    """Return: points (t, P(wait > t)) of the theory, down to 10^-4."""
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
    # with fewer frames, random errors exceed the bars
    enough = not run.small and len(run.schemes) == len(SCHEMES)
    for queue in queues:
        ordered = sorted(queue.all())
        measured, theory = mean(ordered), md1_mean(queue.load)
        # not at whole t, where rounding to whole ns would decide
        apart[queue.load] = max(abs(share_above(ordered, t) - p) for t, p in curves[queue.load][1::2])
        rows.append((queue.load, len(ordered), theory, measured, queue.interval(), 100 * (measured / theory - 1),
                     apart[queue.load], max(queue.off.values(), key=abs)))
        if enough:
            run.claim("md1-%g" % queue.load, "mean wait over rho / 2(1 - rho) at load %g" % queue.load,
                      measured / theory,
                      "0.95..1.05")
    run.text("M/D/1: mean wait in service times; largest error of the share of frames that wait longer than t;",
             "largest error of a frame relative to Lindley's recursion, ns", "")
    run.table(("load", "frames", "theory", "measured", "+-95 %", "off by %", "P(wait > t) off", "Lindley off"), rows)
    if enough:
        run.claim("md1-distribution", "P(wait > t): largest error at all loads", max(apart.values()),
                  "<= 0.02")
    for scheme in run.schemes:
        run.claim("lindley-" + scheme, "frames of the M/D/1 queue against Lindley's recursion: largest error, ns",
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
    axes.set_title("Wait of the n-th simultaneous frame")
    axes.legend(title="lines: n transmission times", ncols=2)


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
    """Return: goodput by acknowledged data, without the first and last fifth of the time."""
    rows = series.rows()
    return (rows[-1]["acked_bytes"] - rows[0]["acked_bytes"]) * 8e9 / (rows[-1]["time_ns"] - rows[0]["time_ns"])


def report_tcp(run):
    run.text("A TCP flow through 4 links: goodput, Gbit/s; maximum: rate without headers and gaps", "")
    rows = []
    for scheme in run.schemes:
        for mtu in MTUS:
            maximum = rate_of(scheme) / 1e9 * (mtu - TCP_DATA) / (mtu + 14 + AROUND)
            for cc in CONTROLS:
                goodput = goodput_bps(run.csv(scheme, "tcp-%s-%d.csv" % (cc, mtu))) / 1e9
                rows.append((scheme, mtu, cc, "%.3f" % maximum, "%.3f" % goodput, "%.4f" % (goodput / maximum)))
                if not run.small:
                    run.claim("tcp-%s-%d-%s" % (scheme, mtu, cc), "goodput, Gbit/s", goodput,
                              ">= %g" % (rate_of(scheme) / 1e9 * {1500: 0.94, 9000: 0.985}[mtu]))
    run.table(("rate", "MTU", "", "maximum", "measured", "share"), rows)


def report(run):
    report_delay(run)
    report_bursts(run)
    report_histograms(run)
    report_queue(run)
    report_tcp(run)

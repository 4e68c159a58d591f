# SPDX-License-Identifier: GPL-2.0-only
"""TIMELY's RTT: how exact it is with hardware's and with software's time stamps, and whether it shows the queue.

The paper: R. Mittal et al., "TIMELY: RTT-based Congestion Control for the
Datacenter", SIGCOMM 2015, figures 1, 2 and 11.

    hw, sw, rtt     where tcp_timely gets its RTTs from. A few hosts send to one, all
                    by tcp_timely, with NICs that interrupt late (`rx_usecs`) and
                    whose clocks are wrong and drift. The true RTT of each sample is
                    taken at the sender's port: a packet socket writes down when each
                    burst is given to the NIC, and when each acknowledgement is there,
                    by the NIC's stamps. What the NIC's clock shows is exactly known,
                    as it can be asked for, together with the system's.
    queue           100 flows from 10 hosts to one: RTT against the queue at the
                    switch's port, which is looked at each microsecond

Bytes of the line are those of whole frames: headers, check sequence, preamble and gap.
"""
import bisect
import ctypes
import fcntl
import re
import socket
import struct
import subprocess
import time

from closlab import topo
from closlab.guest import TICK_NS, sleep_until
from closlab.params import Param
from closlab.results import mean, quantile
from closlab.tcp import DATA, FRAME, ON_WIRE, WIRE, Module

PARAMS = [
    Param("rate", "rate", "10gbit", "rate of all links"),
    Param("delay", "time", "4us", "delay of each link; an RTT has four"),
    Param("senders", "count", "4", "hosts that send"),
    Param("flows", "count", "16", "flows of all hosts together"),
    Param("rx_usecs", "count", "0,20,50,100", "of the senders' NICs; 50 in any case", several=True),
    Param("seg_kb", "count", "16,32,64", "timely's segments, KB", several=True),
    Param("offset", "time", "37s", "how wrong the clock of the first sender's NIC is; the second's twice that, ..."),
    Param("drift", "count", "20000", "and how much too fast, ppb; the second's as much too slow, ..."),
    Param("settle", "time", "300ms", "before a measurement: nicclock learns the NICs' clocks"),
    Param("time", "time", "100ms", "duration of a measurement"),
    Param("idle_rate", "rate", "1gbit", "of a flow that has the way for itself"),
    Param("clients", "count", "10", "hosts that send in scheme queue"),
    Param("many", "count", "100", "flows of them all"),
    Param("every", "time", "1us", "interval between queue samples"),
]
SMALL = {"senders": "2", "flows": "4", "rx_usecs": "50", "seg_kb": "64", "settle": "200ms", "time": "20ms",
         "rate": "1gbit", "idle_rate": "300mbit", "clients": "2", "many": "4", "every": "10us"}
SCHEMES = ("hw", "sw", "rtt", "queue")
SOURCES = SCHEMES[:3]

LATE = 50                   # rx-usecs that the claims are about
PORT = 20000                # of the receivers, traffic's default
HEADERS = WIRE - DATA       # bytes of the line beside the data of a frame; and those of an acknowledgement
GAP, PREAMBLE = 12, 8       # of them, what comes after a frame and before it
SEQUENCE = 1 << 32

ETH_P_ALL = 3
BPF_RET = 6
SOL_PACKET, PACKET_STATISTICS = 263, 6
SO_ATTACH_FILTER, SO_RCVBUFFORCE, SO_TIMESTAMPING = 26, 33, 37
# SOF_TIMESTAMPING_RX_HARDWARE, RX_SOFTWARE, SOFTWARE, RAW_HARDWARE
STAMPS = 1 << 2 | 1 << 3 | 1 << 4 | 1 << 6
PTP_SYS_OFFSET_PRECISE = 0xc0403d08
# of IPv4: length, addresses; of TCP: ports, sequence number, acknowledgement, data offset
HEAD = struct.Struct("!2xH8x4s4s2H2IB")
IP = 20


def loads(params):
    """The rx-usecs of the measurements with load."""
    return sorted({*params.rx_usecs, LATE})


def settings(params):
    """(name, rx-usecs, segments' KB, senders, flows) of each measurement: with load, and of one flow alone."""
    return [("load-%d-%d" % (late, seg), late, seg, params.senders, params.flows)
            for late in loads(params) for seg in params.seg_kb] + \
        [("idle-%d-%d" % (late, seg), late, seg, 1, 1) for late in (0, LATE) for seg in params.seg_kb]


# ---- in the guest

class PortClock:
    """The clock of this namespace's eth0, exactly: closwire reads it together with the system's."""

    def __init__(self):
        self.path = "/dev/ptp" + re.search(r"PTP Hardware Clock: (\d+)", topo.run("ethtool", "-T", "eth0"))[1]
        before, real, after = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
        self.real_ns = real - (before + after) // 2
        self.first = self.last = self.read()

    def read(self):
        """(its time, CLOCK_MONOTONIC)"""
        answer = bytearray(64)
        with open(self.path, "rb") as f:
            fcntl.ioctl(f, PTP_SYS_OFFSET_PRECISE, answer)
        seconds, ns, real_s, real_ns = struct.unpack_from("qI4xqI", answer)
        return seconds * 10**9 + ns, real_s * 10**9 + real_ns - self.real_ns

    def monotonic(self, ns):
        """CLOCK_MONOTONIC when it showed NS."""
        return self.first[1] + (ns - self.first[0]) * (self.last[1] - self.first[1]) // (self.last[0] - self.first[0])


class Tap:
    """A packet socket that keeps the heads of what a host sends, before it is cut into frames, and receives."""

    def __init__(self, host):
        topo.enter("/run/netns/" + host)
        self.host, self.clock = host, PortClock()
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 29)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, STAMPS)
        # a program of one instruction, which returns HEAD's size: no more of a packet is kept
        code = ctypes.create_string_buffer(struct.pack("HBBI", BPF_RET, 0, 0, HEAD.size))
        self.socket.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HxxxxxxP", 1, ctypes.addressof(code)))

    def begin(self):
        self.socket.bind(("eth0", ETH_P_ALL))

    def lines(self):
        """src, what, CLOCK_MONOTONIC, sequence or acknowledgement number, bytes of data: of all packets, in order."""
        self.socket.setblocking(False)
        self.clock.last = self.clock.read()
        while True:
            try:
                data, control, _, _ = self.socket.recvmsg(HEAD.size, 64)
            except BlockingIOError:
                break
            length, source, destination, port, to, sequence, ack, offset = HEAD.unpack(data)
            stamps = struct.unpack("6q", control[0][2])
            length -= IP + (offset >> 4) * 4
            if to == PORT and length:
                yield line(source, port, "burst", stamps[0] * 10**9 + stamps[1] - self.clock.real_ns, sequence, length)
            elif port == PORT:
                yield line(destination, to, "ack", self.clock.monotonic(stamps[4] * 10**9 + stamps[5]), ack, length)
        if lost := struct.unpack("II", self.socket.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))[1]:
            raise RuntimeError("%s: %d packets were not written down" % (self.host, lost))
        self.socket.close()


def line(address, port, *more):
    return "%s:%d,%s,%d,%d,%d\n" % (socket.inet_ntoa(address), port, *more)


def network(params, senders):
    """h1, which receives, and the senders, whose clocks are wrong."""
    net = topo.star(senders + 1, params.rate, params.delay)
    for number, host in enumerate(net.hosts()[1:], 1):
        port = host.port("switch")
        port.clock_offset = params.offset * number
        port.clock_drift = params.drift if number % 2 else -params.drift
    return net


def guest(lab):
    if lab.scheme == "queue":
        guest_queue(lab)
    else:
        guest_source(lab)


def guest_source(lab):
    p = lab.params
    net = network(p, p.senders)
    net.build(port_qdisc="pfifo limit 100000", rx_stamps=True)
    timely = Module(lab, "tcp_timely", mode="classic")
    todo = settings(p)
    lab.expect(len(todo) * (p.settle + p.time))
    for name, late, seg, senders, flows in todo:
        rates = {"max_rate": p.idle_rate // 10**6}
        if flows > 1:
            # or it would take long until there is a queue again: they all begin at line rate
            rates = {"min_rate": p.rate // 2 // flows // 10**6}
        timely.set(source=lab.scheme, seg_kb=seg, prompt_ack=1, **rates)
        measure_source(lab, net, name, late, senders, flows)


def measure_source(lab, net, name, late, senders, flows):
    taps = []
    for number in range(senders):
        taps.append(Tap("h%d" % (number + 2)))
        topo.moderate("eth0", late)
    lab.trace("samples-%s.csv" % name, "timely:timely_sample")
    lab.begin()
    traffic = subprocess.Popen(lab.generator(net, *words(lab.params, senders, flows)))
    sleep_until(lab.origin + lab.params.settle)
    for tap in taps:
        tap.begin()
    if traffic.wait():
        raise RuntimeError("traffic: status %d" % traffic.returncode)
    with open(lab.path("tap-%s.csv" % name), "w", encoding="ascii", newline="") as f:
        f.write("src,what,mono_ns,number,bytes\n")
        for tap in taps:
            f.writelines(tap.lines())
    lab.end()


def words(params, senders, flows):
    """What the traffic generator shall do."""
    return ("--time", "%dns" % (params.settle + params.time), "--drain", "0ns", "bulk", "src=h2-h%d" % (senders + 1),
            "dst=h1", "flows=%d" % flows, "jitter=%dns" % (params.settle // 30), "cc=timely")


def guest_queue(lab):
    p = lab.params
    net = network(p, p.clients)
    net.build(port_qdisc="pfifo limit 100000", rx_stamps=True)
    Module(lab, "tcp_timely", mode="classic").set(source="hw", seg_kb=p.seg_kb[-1], prompt_ack=1)
    lab.expect(p.settle + p.time)
    lab.sample("queue.csv", p.every, [net.nodes["switch"].port("h1")], p.settle)
    lab.trace("samples.csv", "timely:timely_sample")
    lab.traffic(net, *words(p, p.clients, p.many))


# ---- on the host: what is true

def wire_ns(rate, data):
    """What that much data takes on the line, in full frames but for the last one."""
    return (data + -(-data // DATA) * HEADERS) * 8e9 / rate


def path_ns(params, data):
    """The RTT of a burst when nothing else is on its way: the last frame's time, the acknowledgement's, the cables'.

    The burst's own time on the first line, with the gap at its end, is
    subtracted from an RTT; and the NIC stamps when a frame's preamble is over.
    """
    last = data - (-(-data // DATA) - 1) * DATA + HEADERS
    return (last + HEADERS + PREAMBLE - 3 * GAP) * 8e9 / params.rate + 4 * params.delay


class Flow:
    """What the taps have seen of a flow; numbers count from the first there."""

    def __init__(self):
        self.first = None
        self.sent, self.begins = [], []     # bursts: when, and their first bytes
        self.came, self.acked = [], []      # acknowledgements

    def add(self, row):
        """A line of a tap's file."""
        if self.first is None:
            self.first = row["number"]
        when, place = (self.sent, self.begins) if row["what"] == "burst" else (self.came, self.acked)
        when.append(row["mono_ns"])
        place.append((row["number"] - self.first + SEQUENCE // 2) % SEQUENCE - SEQUENCE // 2)

    def saw(self, sent_ns):
        return self.sent and self.sent[0] - 1 <= sent_ns

    def find(self, sent_ns, data):
        """Of the burst that TCP sent at SENT_NS: when the NIC got it, and when that much of it was acknowledged."""
        burst = bisect.bisect_left(self.sent, sent_ns - 1)
        ack = bisect.bisect_left(self.acked, self.begins[burst] + data)
        return self.sent[burst], self.came[ack]


class Case:
    """Samples of RTT beside the truth, in us.

    rtts    what tcp_timely says
    truths  what was
    errors  the difference, without its sign
    share   samples of the scheme's source, of all
    off_ns  how far the truth is from the path's own RTT
    waits   ns that bursts waited until the NIC took them; it is in the RTT, as in the paper
    """

    def __init__(self, run, scheme, setting):
        self.scheme, (self.name, self.late, self.seg, *_) = scheme, setting
        self.idle = self.name.startswith("idle")
        self.rtts, self.truths, self.off_ns, self.waits = [], [], [], []
        p, flows, own = run.params, self.flows(run), 0
        for row in run.csv(scheme, "samples-%s.csv" % self.name).rows():
            flow = flows.get(row["src"])
            # at the end the connections are closed, and then nobody sees the stamps
            if flow and flow.saw(row["send_ns"]) and row["time_ns"] < p.settle + p.time:
                self.add(p, row, *flow.find(row["send_ns"], row["bytes"]))
                own += row["source"] == scheme
        self.share = own / len(self.rtts)
        self.errors = [abs(rtt - truth) for rtt, truth in zip(self.rtts, self.truths)]

    def flows(self, run):
        found = {}
        for row in run.csv(self.scheme, "tap-%s.csv" % self.name).rows():
            found.setdefault(row["src"], Flow()).add(row)
        return found

    def add(self, params, row, sent, came):
        truth = came - row["send_ns"] - wire_ns(params.rate, row["bytes"])
        self.rtts.append(row["rtt_ns"] / 1e3)
        self.truths.append(truth / 1e3)
        self.off_ns.append(truth - path_ns(params, row["bytes"]))
        self.waits.append(sent - row["send_ns"])

    def error(self, q):
        return quantile(self.errors, q)

    def row(self):
        return (self.scheme, self.name, len(self.rtts), 100 * self.share, quantile(self.truths, 0.5),
                quantile(self.truths, 0.99), quantile(self.rtts, 0.5), quantile(self.rtts, 0.99), self.error(0.5),
                self.error(0.99), max(self.errors))


class Queue:
    """Scheme queue's, in us: RTTs without the path's own, and the queue.

    over    the RTTs
    times   the queue at each time
    found   what the last frame of each burst found when it came to the port
    """

    def __init__(self, run):
        p = run.params
        samples = run.csv("queue", "queue.csv")
        self.times = unfinished(p, samples)
        self.over, self.found = [], []
        for row in run.csv("queue", "samples.csv").rows():
            # the last frame is at the port; measurements begin at a multiple of TICK_NS
            came = row["send_ns"] % TICK_NS + row["wire_ns"] + p.delay - p.settle
            turn, since = divmod(came, p.every)
            if row["source"] == "hw" and 0 <= turn < len(self.times):
                self.over.append((row["rtt_ns"] - path_ns(p, row["bytes"])) / 1e3)
                self.found.append(max(0, self.times[turn] - since / 1e3))


def unfinished(params, samples):
    """What the port had to send at each time, us of its line: in the qdisc, and given to the NIC but not yet sent."""
    found, nic, before = [], 0, samples["sent_bytes"][0]
    for packets, data, sent in zip(samples["packets"], samples["bytes"], samples["sent_bytes"]):
        # a byte that the qdisc counts is WIRE / FRAME of them on the line
        nic = max(0, nic - params.every / 1e3 + (sent - before) * WIRE / FRAME * 8e6 / params.rate)
        before = sent
        found.append(nic + (data + packets * ON_WIRE) * 8e6 / params.rate)
    return found


def distance(a, b):
    """Kolmogorov's: the most that two distributions differ by, of values in whole us."""
    a, b = sorted(round(x) for x in a), sorted(round(x) for x in b)
    return max(abs(bisect.bisect_right(a, x) / len(a) - bisect.bisect_right(b, x) / len(b)) for x in {*a, *b})


# ---- on the host: reports

def report(run):
    cases = [Case(run, scheme, setting) for scheme in run.schemes if scheme in SOURCES
             for setting in settings(run.params)]
    if cases:
        report_sources(run, cases)
    if "queue" in run.schemes:
        report_queue(run)


def report_sources(run, cases):
    run.text("RTT, us: the true one, tcp_timely's, and its error without the sign", "")
    run.table(("source", "load-RX_USECS-KB", "samples", "own %", "true p50", "p99", "RTT p50", "p99", "error p50",
               "p99", "max"), [case.row() for case in cases])
    idle = [case for case in cases if case.idle]
    run.claim("truth", "idle path: the packet sockets' RTT against the links' rates and delays: farthest off, ns",
              max((off for case in idle for off in case.off_ns), key=abs), "-5..5")
    run.claim("departure", "idle path: from TCP's departure time to the NIC, ns",
              max((wait for case in idle for wait in case.waits), key=abs), "-2..2")
    for scheme in SOURCES:
        own = [case for case in cases if case.scheme == scheme]
        late = [case for case in own if case.late == LATE and not case.idle]
        if scheme == "hw" and own:
            claim_hardware(run, own, late)
        elif late:
            run.claim(scheme + "-late", "%s: p99 error at rx-usecs %d, all segment sizes, us: least" % (scheme, LATE),
                      min(case.error(0.99) for case in late), "> 20")
    draw_sources(run, cases)


def claim_hardware(run, own, late):
    load = [case for case in own if not case.idle]
    exact = [case for case in own if case.idle and not case.late]
    run.claim("hw-late", "hw: p99 error at rx-usecs %d, all segment sizes, us" % LATE,
              max(case.error(0.99) for case in late), "< 2")
    run.claim("hw-load", "hw: p99 error at all rx-usecs and segment sizes, us", max(case.error(0.99) for case in load),
              "< 2")
    run.claim("hw-share", "hw: least share of RTTs by hardware's stamps", min(case.share for case in load), ">= 0.99")
    medians = [quantile(case.rtts, 0.5) for case in exact]
    run.claim("segments", "hw, idle path, rx-usecs 0: medians of the segment sizes differ by, us",
              max(medians) - min(medians), "<= 0.1")


def report_queue(run):
    queue = Queue(run)
    run.text("RTT above the path's own, and the queue at the port, us", "")
    run.table(("", "values", "mean", "p10", "p25", "p50", "p75", "p90", "p99"),
              [(name, len(values), mean(values)) + tuple(quantile(values, q) for q in (0.1, 0.25, 0.5, 0.75, 0.9, 0.99))
               for name, values in (("RTT", queue.over), ("queue found by bursts", queue.found),
                                    ("queue at all times", queue.times))])
    if not run.small:
        run.claim("queue", "Kolmogorov's distance of RTT from the queue that the bursts have found",
                  distance(queue.over, queue.found), "< 0.1")
        run.claim("queue-times", "Kolmogorov's distance of RTT from the queue at all times",
                  distance(queue.over, queue.times), "< 0.1")
    draw_queue(run, queue)


def curve(axis, values, **style):
    """A cumulative distribution."""
    ordered = sorted(values)
    axis.step(ordered, [(i + 1) / len(ordered) for i in range(len(ordered))], where="post", **style)


def draw_sources(run, cases):
    _, axes = run.figure("timely-rtt", 1, 3, (12, 3.4))
    seg = run.params.seg_kb[-1]
    for scheme in run.schemes:
        some = {case.name: case for case in cases if case.scheme == scheme}
        if not some:
            continue
        colour = run.colour(scheme)
        curve(axes[0], some["idle-%d-%d" % (LATE, seg)].rtts, color=colour, label=scheme)
        curve(axes[1], some["load-%d-%d" % (LATE, seg)].errors, color=colour, label=scheme)
        for style, size in zip(("-o", "--s", ":^"), run.params.seg_kb):
            p99 = [some["load-%d-%d" % (late, size)].error(0.99) for late in loads(run.params)]
            axes[2].plot(loads(run.params), p99, style, color=colour, markersize=4,
                         label="%s, %d KB" % (scheme, size))
    curve(axes[0], [case for case in cases if case.idle and case.seg == seg][0].truths, color="black", linestyle=":",
          label="true")
    what = "rx-usecs %d, %d KB" % (LATE, seg)
    axes[0].set(xlabel="RTT, µs", ylabel="share of RTTs", title="idle path, " + what)
    axes[1].set(xlabel="error, µs", ylabel="share of RTTs", xscale="log", title="load, " + what)
    axes[2].set(xlabel="rx-usecs", ylabel="p99 error, µs", yscale="log", title="load")
    for axis in axes[:2]:
        axis.legend()
    axes[2].legend(loc="center left", bbox_to_anchor=(1.02, 0.5))


def draw_queue(run, queue):
    _, axis = run.figure("timely-rtt-queue", size=(5.2, 3.4))
    curve(axis, queue.over, label="RTT above the path's own")
    curve(axis, queue.found, label="queue found by bursts", linestyle="--")
    curve(axis, queue.times, label="queue at all times", linestyle=":")
    axis.set(xlabel="µs", ylabel="share")
    axis.legend()

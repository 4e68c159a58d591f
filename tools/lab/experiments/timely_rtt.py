# SPDX-License-Identifier: GPL-2.0-only
"""TIMELY's RTT: its accuracy with hardware and software timestamps, and its agreement with the queue.

The paper: R. Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015, figures 1, 2 and
11.

    hw, sw, rtt     source of tcp_timely's RTTs. A few hosts send to one host with tcp_timely. Their NICs delay
                    interrupts (`rx_usecs`) and have clocks with offset and drift. The true RTT of each sample is
                    measured at the sender's port: a packet socket records when each burst is passed to the NIC, and
                    when each ACK arrives by the NIC's timestamps. The NIC's clock is known exactly, because it can be
                    read together with the system's clock.
    queue           100 flows from 10 hosts to one: RTT against the queue at the switch's port, sampled every
                    microsecond

Bytes on the link are bytes of whole frames with headers, check sequence, preamble and gap.
"""
import bisect
import ctypes
import fcntl
import math
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
    Param("senders", "count", "4", "number of senders"),
    Param("flows", "count", "16", "flows of all hosts together"),
    Param("rx_usecs", "count", "0,20,50,100", "rx-usecs of the senders' NICs; 50 is always tested", several=True),
    Param("seg_kb", "count", "16,32,64", "timely's segment sizes, KB", several=True),
    Param("offset", "time", "37s", "clock offset of the first sender's NIC, twice that of the second's, ..."),
    Param("drift", "count", "20000",
          "clock drift of the first sender's NIC, ppb, the negative value of the second's, ..."),
    Param("settle", "time", "300ms", "time before a measurement, in which nicclock learns the NICs' clocks"),
    Param("time", "time", "100ms", "duration of a measurement"),
    Param("idle_rate", "rate", "1gbit", "rate of a flow on an idle path"),
    Param("clients", "count", "10", "senders in the scheme queue"),
    Param("many", "count", "100", "flows in the scheme queue"),
    Param("every", "time", "1us", "interval between queue samples"),
]
SMALL = {"senders": "2", "flows": "4", "rx_usecs": "50", "seg_kb": "64", "settle": "200ms", "time": "20ms",
         "rate": "1gbit", "idle_rate": "300mbit", "clients": "2", "many": "4", "every": "10us"}
SCHEMES = ("hw", "sw", "rtt", "queue")
SOURCES = SCHEMES[:3]

LATE = 50                   # rx-usecs of the claims
PORT = 20000                # the traffic generator's default receiver port
HEADERS = WIRE - DATA       # bytes on the link of a frame without its data, or of an ACK
GAP, PREAMBLE = 12, 8       # bytes of HEADERS after and before a frame
SEQUENCE = 1 << 32
STEPS = 500                 # points of a drawn distribution
TICKS_US = (0.1, 1, 10, 100)    # of drawn errors

ETH_P_ALL = 3
BPF_RET = 6
SOL_PACKET, PACKET_STATISTICS = 263, 6
SO_ATTACH_FILTER, SO_RCVBUFFORCE, SO_TIMESTAMPING = 26, 33, 37
# SOF_TIMESTAMPING_RX_HARDWARE, RX_SOFTWARE, SOFTWARE, RAW_HARDWARE
STAMPS = 1 << 2 | 1 << 3 | 1 << 4 | 1 << 6
PTP_SYS_OFFSET_PRECISE = 0xc0403d08
# IPv4: length, addresses; TCP: ports, sequence number, acknowledgement, data offset
HEAD = struct.Struct("!2xH8x4s4s2H2IB")
IP = 20


def loads(params):
    """Return: rx-usecs of the measurements with load."""
    return sorted({*params.rx_usecs, LATE})


def settings(params):
    """Return: (name, rx-usecs, segment size in KB, senders, flows) of each measurement, with load and idle."""
    return [("load-%d-%d" % (late, seg), late, seg, params.senders, params.flows)
            for late in loads(params) for seg in params.seg_kb] + \
        [("idle-%d-%d" % (late, seg), late, seg, 1, 1) for late in (0, LATE) for seg in params.seg_kb]


# ---- in the guest

class PortClock:
    """The exact clock of this namespace's eth0: closwire reads it together with the system's clock."""

    def __init__(self):
        self.path = "/dev/ptp" + re.search(r"PTP Hardware Clock: (\d+)", topo.run("ethtool", "-T", "eth0"))[1]
        before, real, after = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
        self.real_ns = real - (before + after) // 2
        self.first = self.last = self.read()

    def read(self):
        """Return: (the NIC's time, CLOCK_MONOTONIC), ns."""
        answer = bytearray(64)
        with open(self.path, "rb") as f:
            fcntl.ioctl(f, PTP_SYS_OFFSET_PRECISE, answer)
        seconds, ns, real_s, real_ns = struct.unpack_from("qI4xqI", answer)
        return seconds * 10**9 + ns, real_s * 10**9 + real_ns - self.real_ns

    def monotonic(self, ns):
        """Return: CLOCK_MONOTONIC at the time NS of the NIC."""
        return self.first[1] + (ns - self.first[0]) * (self.last[1] - self.first[1]) // (self.last[0] - self.first[0])


class Tap:
    """A packet socket that records the headers of a host's packets in both directions, before segmentation."""

    def __init__(self, host):
        topo.enter("/run/netns/" + host)
        self.host, self.clock = host, PortClock()
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 29)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, STAMPS)
        # a BPF program of one instruction, which truncates packets to HEAD's size
        code = ctypes.create_string_buffer(struct.pack("HBBI", BPF_RET, 0, 0, HEAD.size))
        self.socket.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HxxxxxxP", 1, ctypes.addressof(code)))

    def begin(self):
        self.socket.bind(("eth0", ETH_P_ALL))

    def lines(self):
        """Yield "src,burst|ack,CLOCK_MONOTONIC,sequence or ACK number,bytes of data" for all packets in order."""
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
            raise RuntimeError("%s: %d packets were not recorded" % (self.host, lost))
        self.socket.close()


def line(address, port, *more):
    return "%s:%d,%s,%d,%d,%d\n" % (socket.inet_ntoa(address), port, *more)


def network(params, senders):
    """Return: a star of receiver h1 and senders whose clocks have offset and drift."""
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
            # with lower rates, the queue would take long to build up again: all flows start at line rate
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
    """Return: arguments of the traffic generator."""
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


# ---- on the host: true values

def wire_ns(rate, data):
    """Return: transmission time of DATA bytes in full frames except the last one, ns."""
    return (data + -(-data // DATA) * HEADERS) * 8e9 / rate


def path_ns(params, data):
    """Return: RTT of a burst on an idle path, ns: the times of the last frame, of the ACK, and of the cables.

    The burst's transmission time on the first link, with the gap at its end, is subtracted from an RTT, and the NIC's
    timestamps are taken at the end of a frame's preamble.
    """
    last = data - (-(-data // DATA) - 1) * DATA + HEADERS
    return (last + HEADERS + PREAMBLE - 3 * GAP) * 8e9 / params.rate + 4 * params.delay


class Flow:
    """A flow as the taps recorded it; sequence numbers count from the first recorded one."""

    def __init__(self):
        self.first = None
        self.sent, self.begins = [], []     # bursts: times, first bytes
        self.ack_times, self.acked = [], []     # ACKs: times, acknowledged bytes

    def add(self, row):
        """Add a row of a tap's file."""
        if self.first is None:
            self.first = row["number"]
        when, place = (self.sent, self.begins) if row["what"] == "burst" else (self.ack_times, self.acked)
        when.append(row["mono_ns"])
        place.append((row["number"] - self.first + SEQUENCE // 2) % SEQUENCE - SEQUENCE // 2)

    def saw(self, sent_ns):
        return self.sent and self.sent[0] - 1 <= sent_ns

    def find(self, sent_ns, data):
        """Return: when the NIC got the burst that TCP sent at SENT_NS, and when DATA bytes of it were acknowledged."""
        burst = bisect.bisect_left(self.sent, sent_ns - 1)
        ack = bisect.bisect_left(self.acked, self.begins[burst] + data)
        return self.sent[burst], self.ack_times[ack]


class Case:
    """RTT samples and true RTTs, in µs.

    rtts    tcp_timely's samples
    truths  true RTTs
    errors  absolute differences
    share   share of samples from the scheme's source
    off_ns  difference between true RTT and the path's RTT, ns
    waits   wait of bursts until the NIC accepts them, ns; part of the RTT, as in the paper
    """

    def __init__(self, run, scheme, setting):
        self.scheme, (self.name, self.late, self.seg, *_) = scheme, setting
        self.idle = self.name.startswith("idle")
        self.rtts, self.truths, self.off_ns, self.waits = [], [], [], []
        p, flows, own = run.params, self.flows(run), 0
        for row in run.csv(scheme, "samples-%s.csv" % self.name).rows():
            flow = flows.get(row["src"])
            # after connections are closed, their ACKs have no recorded timestamps
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

    def add(self, params, row, sent, acked):
        truth = acked - row["send_ns"] - wire_ns(params.rate, row["bytes"])
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
    """Results of scheme queue in µs: RTTs without the path's RTT, and the queue.

    over    the RTTs
    times   the queue at each time
    found   queue that the last frame of each burst finds at the port
    """

    def __init__(self, run):
        p = run.params
        samples = run.csv("queue", "queue.csv")
        self.times = unfinished(p, samples)
        self.over, self.found = [], []
        for row in run.csv("queue", "samples.csv").rows():
            # arrival of the last frame at the port; measurements start at a multiple of TICK_NS
            arrival = row["send_ns"] % TICK_NS + row["wire_ns"] + p.delay - p.settle
            turn, since = divmod(arrival, p.every)
            if row["source"] == "hw" and 0 <= turn < len(self.times):
                self.over.append((row["rtt_ns"] - path_ns(p, row["bytes"])) / 1e3)
                self.found.append(max(0, self.times[turn] - since / 1e3))


def unfinished(params, samples):
    """Return: the port's backlog at each time, in µs of its link: in the qdisc and in the NIC."""
    found, nic, before = [], 0, samples["sent_bytes"][0]
    for packets, data, sent in zip(samples["packets"], samples["bytes"], samples["sent_bytes"]):
        # a byte that the qdisc counts is WIRE / FRAME bytes on the link
        nic = max(0, nic - params.every / 1e3 + (sent - before) * WIRE / FRAME * 8e6 / params.rate)
        before = sent
        found.append(nic + (data + packets * ON_WIRE) * 8e6 / params.rate)
    return found


def distance(a, b):
    """Return: Kolmogorov's distance of two distributions of values in whole µs."""
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
    run.text("RTT in µs: true RTT, tcp_timely's, and its absolute error", "")
    run.table(("source", "load-RX_USECS-KB", "samples", "own %", "true p50", "p99", "RTT p50", "p99", "error p50",
               "p99", "max"), [case.row() for case in cases])
    idle = [case for case in cases if case.idle]
    run.claim("truth", "idle path: packet sockets' RTT against rates and delays of the links: largest error, ns",
              max((off for case in idle for off in case.off_ns), key=abs), "-5..5")
    run.claim("departure", "idle path: largest delay from TCP's departure time to the NIC, ns",
              max((wait for case in idle for wait in case.waits), key=abs), "-2..2")
    for scheme in SOURCES:
        own = [case for case in cases if case.scheme == scheme]
        late = [case for case in own if case.late == LATE and not case.idle]
        if scheme == "hw" and own:
            claim_hardware(run, own, late)
        elif late:
            run.claim(scheme + "-late",
                      "%s: smallest p99 error of all segment sizes at rx-usecs %d, µs" % (scheme, LATE),
                      min(case.error(0.99) for case in late), "> 20")
    draw_sources(run, cases)


def claim_hardware(run, own, late):
    load = [case for case in own if not case.idle]
    exact = [case for case in own if case.idle and not case.late]
    run.claim("hw-late", "hw: largest p99 error of all segment sizes at rx-usecs %d, µs" % LATE,
              max(case.error(0.99) for case in late), "< 2")
    run.claim("hw-load", "hw: largest p99 error of all rx-usecs and segment sizes, µs",
              max(case.error(0.99) for case in load),
              "< 2")
    run.claim("hw-share", "hw: smallest share of RTTs by hardware timestamps", min(case.share for case in load),
              ">= 0.99")
    medians = [quantile(case.rtts, 0.5) for case in exact]
    run.claim("segments", "hw, idle path, rx-usecs 0: largest difference of the segment sizes' medians, µs",
              max(medians) - min(medians), "<= 0.1")


def report_queue(run):
    queue = Queue(run)
    run.text("RTT above the path's RTT, and the queue at the port, µs", "")
    run.table(("", "values", "mean", "p10", "p25", "p50", "p75", "p90", "p99"),
              [(name, len(values), mean(values)) + tuple(quantile(values, q) for q in (0.1, 0.25, 0.5, 0.75, 0.9, 0.99))
               for name, values in (("RTT", queue.over), ("queue found by bursts", queue.found),
                                    ("queue at all times", queue.times))])
    if not run.small:
        run.claim("queue", "Kolmogorov's distance between RTT and the queue that bursts find",
                  distance(queue.over, queue.found), "< 0.1")
        run.claim("queue-times", "Kolmogorov's distance between RTT and the queue at all times",
                  distance(queue.over, queue.times), "< 0.1")
    draw_queue(run, queue)


def curve(axis, values, **style):
    """Draw a cumulative distribution, with the same ordinates for any number of values."""
    ordered = sorted(values)
    shares = [i / STEPS for i in range(STEPS + 1)]
    axis.plot([ordered[max(0, math.ceil(q * len(ordered)) - 1)] for q in shares], shares, **style)


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
    setting = "rx-usecs %d, %d KB" % (LATE, seg)
    axes[0].set(xlabel="RTT, µs", ylabel="share of RTTs", title="idle path, " + setting)
    axes[1].set(xlabel="error, µs", ylabel="share of RTTs", xscale="log", title="load, " + setting)
    axes[2].set(xlabel="rx-usecs", ylabel="p99 error, µs", yscale="log", title="load")
    axes[1].set_xticks(TICKS_US, TICKS_US)
    axes[2].set_yticks(TICKS_US, TICKS_US)
    for axis in axes[:2]:
        axis.legend()
    axes[2].legend(loc="center left", bbox_to_anchor=(1.02, 0.5))


def draw_queue(run, queue):
    _, axis = run.figure("timely-rtt-queue", size=(5.2, 3.4))
    curve(axis, queue.over, label="RTT above the path's RTT")
    curve(axis, queue.found, label="queue found by bursts", linestyle="--")
    curve(axis, queue.times, label="queue at all times", linestyle=":")
    axis.set(xlabel="µs", ylabel="share")
    axis.legend()

# SPDX-License-Identifier: GPL-2.0-only
"""DCQCN marking: sch_dcqcn marks by the paper's curve, by the instantaneous queue, and each packet independently.

Bursts of frames arrive at a switch's empty port faster than it sends a single frame, so that the queue that each frame
finds is known exactly: the frames before it in the burst, less the frames that the NIC has taken. A burst passes
`levels` queue lengths between kmin and kmax, and one above. For each level, an exact binomial test compares the number
of marks in all bursts with the curve's probability. For each two neighbouring levels, it compares the number of bursts
in which both frames are marked with the product of their probabilities.

    paper   sch_dcqcn with the paper's kmin 5 KB, kmax 200 KB, pmax 1 %
    steep   the same with pmax 50 %, for more marks
    red     sch_red with steep's values and its shortest memory, for comparison: it averages the queue and spaces marks
"""
import math
import socket
import struct

from closlab import topo
from closlab.dcqcn import KMAX, KMIN
from closlab.guest import sleep_until
from closlab.params import Param

PARAMS = [
    Param("bursts", "count", "10000", "bursts in each scheme"),
    Param("levels", "count", "20", "queue lengths between kmin and kmax"),
    Param("rate", "rate", "400mbit", "rate of the port: no frame leaves while a burst arrives"),
    Param("fast", "rate", "100gbit", "rate of the sender's link"),
    Param("delay", "time", "1us", "delay of each link"),
]
SMALL = {"bursts": "20"}
SCHEMES = ("paper", "steep", "red")
PMAX = {"paper": 0.01, "steep": 0.5, "red": 0.5}

PORT = 7000
HEADERS = 14 + 20 + 8
ON_WIRE = 24
ECN, ECT0, CE = 3, 2, 3
RING = 2                # packets
TAKEN = RING + 1        # frames that the NIC takes from an empty queue
SURE = 0.05             # joint significance level of the tests
SO_SNDBUFFORCE, SO_RCVBUFFORCE = 32, 33


def frame_bytes(params):
    """Return: frame length with which LEVELS frames reach from kmin to just below kmax."""
    return (KMAX - KMIN) // params.levels


def burst_frames(params):
    return TAKEN + 1 + params.levels + 1


def gap_ns(params):
    """Return: interval between bursts: the time to send one, and a margin."""
    return (burst_frames(params) + 2) * (frame_bytes(params) + ON_WIRE) * 8 * 10**9 // params.rate


# ---- in the guest

def open_socket(name, size):
    topo.enter("/run/netns/" + name)
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, size, 16 << 20)
    return s


def port_qdisc(params, scheme):
    if scheme != "red":
        return "dcqcn kmin %d kmax %d pmax %g%% limit 1000000" % (KMIN, KMAX, 100 * PMAX[scheme])
    # burst == min/avpkt: each arrival halves the weight of the past, the shortest memory that tc allows
    return "red limit 1000000 min %d max %d avpkt %d burst %d bandwidth %dbit probability %g ecn" % (
        KMIN, KMAX, KMIN // 5, 5, params.rate, PMAX[scheme])


def guest(lab):
    p = lab.params
    size = frame_bytes(p)
    net = topo.star(2, p.rate, p.delay, mtu=size - 14)
    for port in (net.nodes["h1"].port("switch"), net.nodes["switch"].port("h1")):
        port.rate = p.fast
    if lab.scheme != "red":
        lab.module("sch_dcqcn")
    port = net.nodes["switch"].port("h2")
    port.qdisc = port_qdisc(p, lab.scheme)
    net.build()
    topo.run("ip", "-n", "switch", "link", "set", "h2", "type", "closwire", "ring", str(RING))
    sender, receiver = open_socket("h1", SO_SNDBUFFORCE), open_socket("h2", SO_RCVBUFFORCE)
    sender.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, ECT0)
    sender.connect((net.nodes["h2"].address, PORT))
    receiver.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
    receiver.bind(("", PORT))
    lab.expect((p.bursts + 1) * gap_ns(p))
    # sample after the last frame of a burst has arrived, while the first one is still on the link
    lab.sample("queue.csv", gap_ns(p), [port], size * 8 * 10**9 // p.rate * 3 // 4)
    lab.begin()
    marks, pairs = bursts(lab, sender, receiver)
    lab.end()
    with open(lab.path("marks.csv"), "w", encoding="ascii") as f:
        f.write("frame,marks,with_next\n")
        for i, values in enumerate(zip(marks, pairs)):
            f.write("%d,%d,%d\n" % ((i,) + values))


def bursts(lab, sender, receiver):
    """Return: how often each frame of a burst was marked, and how often together with the next one."""
    frames = burst_frames(lab.params)
    payload = frame_bytes(lab.params) - HEADERS
    packets = [struct.pack("%dsB" % (payload - 1), b"", i) for i in range(frames)]
    marks, pairs = [0] * frames, [0] * frames
    for n in range(lab.params.bursts):
        sleep_until(lab.origin + n * gap_ns(lab.params))
        for packet in packets:
            sender.send(packet)
        before = False
        for i in range(frames):
            data, control, _, _ = receiver.recvmsg(payload, 64)
            if data[-1] != i:
                raise RuntimeError("burst %d: frame %d arrived as number %d" % (n, data[-1], i))
            marked = control[0][2][0] & ECN == CE
            marks[i] += marked
            if i:
                pairs[i - 1] += marked and before
            before = marked
    return marks, pairs


# ---- on the host

def binomial_test(count, n, p):
    """Return: two-sided p-value: probability of all outcomes that are at most as probable as COUNT of N."""
    if p in (0, 1):
        return float(count == n * p)

    def probability(k):
        return math.exp(math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
                        + k * math.log(p) + (n - k) * math.log1p(-p))
    bar = probability(count) * (1 + 1e-9)
    return min(1.0, sum(q for q in map(probability, range(n + 1)) if q <= bar))


def probability(scheme, queue):
    """Return: marking probability by the paper's curve."""
    if queue <= KMIN:
        return 0
    return 1 if queue > KMAX else PMAX[scheme] * (queue - KMIN) / (KMAX - KMIN)


class Scheme:
    """Rows (queue, probability, marks, p-value), and the smallest p-values of both tests."""

    def __init__(self, run, scheme):
        p = run.params
        counts = run.csv(scheme, "marks.csv")
        self.name, self.n = scheme, p.bursts
        waiting = [w for w in run.csv(scheme, "queue.csv")["packets"] if w][:p.bursts]
        taken = burst_frames(p) - waiting[0]
        self.unlike = sum(w != waiting[0] for w in waiting)
        queues = [max(0, i - taken) * frame_bytes(p) for i in range(burst_frames(p))]
        lines = [probability(scheme, q) for q in queues]
        self.rows = [(q, line, marks, binomial_test(marks, self.n, line))
                     for q, line, marks in zip(queues, lines, counts["marks"])]
        self.least = min(row[3] for row in self.rows)
        self.least_pair = min(binomial_test(both, self.n, a * b)
                              for both, a, b in zip(counts["with_next"], lines, lines[1:]))
        self.ramp = [row for row in self.rows if 0 < row[1] < 1]


def report(run):
    schemes = {scheme: Scheme(run, scheme) for scheme in run.schemes}
    run.text("Of %d bursts: how often the frame that finds this queue is marked; p: exact binomial test" %
             run.params.bursts, "")
    run.table(("scheme", "queue", "curve", "marks", "of bursts", "p"),
              [(s.name, q, line, marks, marks / s.n, value) for s in schemes.values() for q, line, marks,
               value in s.rows])
    for name, s in schemes.items():
        run.claim(name + "-levels", "%s: number of bursts with another queue than the first one's" % name, s.unlike,
                  "== 0")
        if name == "red":
            continue
        run.claim(name + "-below", "%s: number of marks up to kmin" % name, sum(r[2] for r in s.rows if r[1] == 0),
                  "== 0")
        run.claim(name + "-above", "%s: marked share above kmax" % name,
                  min(r[2] for r in s.rows if r[1] == 1) / s.n, "== 1")
        run.claim(name + "-line", "%s: smallest p of %d levels between kmin and kmax" % (name, len(s.ramp)), s.least,
                  ">= %g" % (SURE / len(s.ramp)))
        run.claim(name + "-independent", "%s: smallest p of pairs of neighbours" % name, s.least_pair,
                  ">= %g" % (SURE / (len(s.ramp) - 1)))
    if "red" in schemes and not run.small:
        run.claim("red-line", "red: smallest p of the levels, which differ from the curve", schemes["red"].least,
                  "< 1e-6")
    if set(SCHEMES) == set(run.schemes):
        draw(run, schemes)


def draw(run, schemes):
    _, axes = run.figure("dcqcn-mark", 1, 2, (9.6, 3.4))
    for axis, names in zip(axes, (("paper",), ("steep", "red"))):
        for name in names:
            s = schemes[name]
            axis.plot([r[0] / 1e3 for r in s.ramp], [r[2] / s.n for r in s.ramp], "o", markersize=4,
                      color=run.colour(name), label=name)
        axis.plot([0, KMIN / 1e3, KMAX / 1e3], [0, 0, PMAX[names[0]]], color="#666666", linewidth=1, label="curve")
        axis.set(xlabel="queue that the frame finds, KB", ylabel="marked share", ylim=(0, None),
                 title="pmax %g %%" % (100 * PMAX[names[0]]))
        axis.legend(loc="upper left")

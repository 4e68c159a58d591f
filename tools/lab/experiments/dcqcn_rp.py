# SPDX-License-Identifier: GPL-2.0-only
"""DCQCN's reaction and notification points: a sender's response to one CNP, and the rate of a receiver's CNPs.

Y. Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, section 3.

    response    h2 sends requests of one packet to h1, each after the previous answer. Now and then a host with a fast
                link sends a burst of UDP to h1, so that the next request finds a queue and is marked, as the only one.
                tcp_dcqcn's trace events record each CNP and its effects.
    spacing     `flows` flows share a port that marks every packet that finds a queue. A packet socket at the receiver
                records received marks and sent CNPs (ACKs with ECE).
"""
import ctypes
import math
import socket
import struct
import subprocess

from closlab import dcqcn, topo
from closlab.guest import sleep_until
from closlab.params import Param

PARAMS = [
    Param("rate", "rate", "10gbit", "rate of all links"),
    Param("fast", "rate", "100gbit", "rate of the link of the host that sends bursts"),
    Param("delay", "time", "1500ns", "delay of each link; four delays are most of the RTT"),
    Param("at", "time", "2ms,5ms,10ms,20ms,40ms,80ms", "times at which a burst makes a queue", several=True),
    Param("burst", "count", "30", "UDP packets in a burst"),
    Param("flows", "count", "4", "flows of the scheme spacing"),
    Param("time", "time", "20ms", "duration of the scheme spacing"),
]
SMALL = {"at": "1ms,2ms", "flows": "2", "time": "2ms"}
SCHEMES = ("response", "spacing")

AFTER = 2 * 10**6       # duration of response after the last burst, ns
PORT = 20000            # the traffic generator's default receiver port
STEPS = 5               # recovery steps with claims

ETH_P_ALL = 3
BPF_RET = 6
SO_ATTACH_FILTER, SO_RCVBUFFORCE, SO_TIMESTAMPNS = 26, 33, 35
# IPv4: TOS, source, destination; TCP: ports, flags
HEAD = struct.Struct("!xB10x4s4s2H9xB")
ECN, CE = 3, 3
SYN, ECE = 0x02, 0x40


# ---- in the guest

class Tap:
    """A packet socket that records the headers of a host's packets in both directions."""

    def __init__(self, host):
        topo.enter("/run/netns/" + host)
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 29)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        # a BPF program of one instruction, which truncates packets to HEAD's size
        code = ctypes.create_string_buffer(struct.pack("HBBI", BPF_RET, 0, 0, HEAD.size))
        self.socket.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HxxxxxxP", 1, ctypes.addressof(code)))
        self.socket.bind(("eth0", ETH_P_ALL))

    def lines(self):
        """Yield "real_ns,data sender,ce" for each received mark, "...,ece" for each sent ACK with ECE."""
        self.socket.setblocking(False)
        while True:
            try:
                data, control, _, _ = self.socket.recvmsg(HEAD.size, 64)
            except BlockingIOError:
                return
            tos, source, destination, port, to, flags = HEAD.unpack(data)
            seconds, ns = struct.unpack("2q", control[0][2])
            now = seconds * 10**9 + ns
            if to == PORT and tos & ECN == CE:
                yield "%d,%s:%d,ce\n" % (now, socket.inet_ntoa(source), port)
            elif port == PORT and flags & ECE and not flags & SYN:
                yield "%d,%s:%d,ece\n" % (now, socket.inet_ntoa(destination), to)


def guest(lab):
    dcqcn.load(lab)
    lab.trace("rates.csv", "dcqcn:dcqcn_rate")
    lab.trace("cnps.csv", "dcqcn:dcqcn_cnp")
    # mark each packet that finds a queue
    (response if lab.scheme == "response" else spacing)(lab, "dcqcn kmin 0 kmax 0")


def network(params, hosts, qdisc):
    net = topo.star(hosts, params.rate, params.delay)
    port = net.nodes["switch"].port("h1")
    port.ring, port.qdisc = 2, qdisc
    return net


def response(lab, qdisc):
    p = lab.params
    net = network(p, 3, qdisc)
    for port in (net.nodes["h3"].port("switch"), net.nodes["switch"].port("h3")):
        port.rate = p.fast
    net.build()
    topo.enter("/run/netns/h1")
    sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)     # prevents ICMP errors
    sink.bind(("", PORT + 1))
    topo.enter("/run/netns/h3")
    noise = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    noise.connect((net.nodes["h1"].address, PORT + 1))
    total = p.at[-1] + AFTER
    lab.expect(total)
    lab.begin()
    traffic = subprocess.Popen(lab.generator(net, "--time", "%dns" % total, "rpc", "src=h2", "dst=h1", "request=1448",
                                             "response=1", "cc=dcqcn"))
    for at in p.at:
        sleep_until(lab.origin + at)
        for _ in range(p.burst):
            noise.send(bytes(1472))
    if traffic.wait():
        raise RuntimeError("traffic: status %d" % traffic.returncode)
    lab.end()


def spacing(lab, qdisc):
    p = lab.params
    net = network(p, p.flows + 1, qdisc)
    net.build()
    lab.expect(p.time)
    tap = Tap("h1")
    lab.traffic(net, "--time", "%dns" % p.time, "--drain", "0ns", "bulk", "src=h2-h%d" % (p.flows + 1), "dst=h1",
                "cc=dcqcn")
    with open(lab.path("wire.csv"), "w", encoding="ascii", newline="") as f:
        f.write("real_ns,flow,what\n")
        f.writelines(tap.lines())


# ---- on the host

class Cnp:
    """A CNP at the sender and the increases after it.

    alpha       alpha derived from the cut
    computed    expected alpha
    steps       of each increase: (T since the cut, lateness in µs, R_T - R_C relative to its value after the cut)
    """

    def __init__(self, row, alpha):
        self.at_us = row["time_ns"] // 1000
        self.rate, self.target = row["rate_Bps"], row["target_Bps"]
        self.cut = self.rate / self.target
        self.alpha, self.computed = 2 * (1 - self.cut), alpha
        self.steps = []

    def add(self, row):
        """Add an increase."""
        gap = (row["target_Bps"] - row["rate_Bps"]) / (self.target - self.rate)
        late = row["time_ns"] // 1000 - self.at_us - row["timer_stage"] * dcqcn.T_US
        self.steps.append((row["timer_stage"], late, gap))

    def alpha_at(self, us):
        """Return: expected alpha at that time."""
        return (self.computed * (1 - dcqcn.G) + dcqcn.G) * (1 - dcqcn.G) ** ((us - self.at_us) // dcqcn.K_US)

    def row(self):
        return (self.at_us / 1e3, self.target * 8e-9, self.cut, self.alpha, self.computed) + tuple(
            gap * 2 ** n for n, _, gap in self.steps[:STEPS])


def rates_of(run):
    """Return: the rate events of the end that receives CNPs."""
    rates = run.csv("response", "rates.csv")
    return rates.where(src=rates["src"][rates["cause"].index("cnp")])


def cnps_of(run):
    """Return: all CNPs in order."""
    found = []
    for row in rates_of(run).rows():
        if row["cause"] == "cnp":
            found.append(Cnp(row, found[-1].alpha_at(row["time_ns"] // 1000) if found else 1))
        elif found:
            found[-1].add(row)
    return found


def report(run):
    if "response" in run.schemes:
        report_response(run, cnps_of(run))
    if "spacing" in run.schemes:
        report_spacing(run)


def report_response(run, cnps):
    run.text("Each CNP: R_C before (Gbit/s); factor of the cut; alpha by the cut, and computed; then, after each T,",
             "R_T - R_C times 2^n relative to its value after the cut", "")
    run.table(("ms", "R_C", "cut to", "alpha", "computed") + tuple("n = %d" % (n + 1) for n in range(STEPS)),
              [c.row() for c in cnps])
    sent = run.csv("response", "cnps.csv")["wait_ns"]
    for role, count in (("receiver sends", len(sent)), ("sender accepts", len(cnps))):
        run.claim("cnps-" + role.split()[0], "CNPs that the %s per marked packet" % role,
                  count / len(run.params.at),
                  "== 1")
    run.claim("halves", "first CNP: R_C after over R_C before", cnps[0].cut, "0.499999..0.500001")
    run.claim("steps", "%d steps of recovery: R_T - R_C times 2^n, largest error" % STEPS,
              max(abs(gap * 2 ** n - 1) for c in cnps for n, _, gap in c.steps[:STEPS]), "<= 0.001")
    run.claim("steps-n", "smallest number of recovery steps", min(c.steps[STEPS - 1][0] for c in cnps),
              "== %d" % STEPS)
    run.claim("timer", "largest lateness of step n after n T, µs; up to a round trip is possible",
              max((late for c in cnps for _, late, _ in c.steps[:STEPS]), key=abs), "0..20")
    run.claim("alpha", "alpha by the cuts over computed alpha, largest error",
              max(abs(c.alpha / c.computed - 1) for c in cnps), "<= 0.001")
    if not run.small:
        a, b = cnps[-2:]
        life = (b.at_us - a.at_us) / dcqcn.K_US * math.log(2) / math.log(a.alpha_at(a.at_us) / b.alpha)
        run.claim("half-life", "half-life of alpha in %.1f ms without a CNP, in K" % ((b.at_us - a.at_us) / 1e3), life,
                  "176..178")
        draw(run, cnps)


def report_spacing(run):
    flows = {}
    for row in run.csv("spacing", "wire.csv").rows():
        flows.setdefault(row["flow"], {"ce": [], "ece": []})[row["what"]].append(row["real_ns"])
    rows = []
    for flow, seen in flows.items():
        gaps = [b - a for a, b in zip(seen["ece"], seen["ece"][1:])]
        rows.append((flow, len(seen["ce"]), len(seen["ece"]), (seen["ece"][0] - seen["ce"][0]) / 1e3, min(gaps) / 1e3,
                     max(gaps) / 1e3))
    run.text("",
             "Each flow at the receiver: marked packets, CNPs; µs from the first mark to the first CNP, and between",
             "CNPs", "")
    run.table(("flow", "marks", "CNPs", "first", "gap: min", "max"), rows)
    run.claim("flows", "number of flows with marks", len(rows), "== %d" % run.params.flows)
    run.claim("first", "largest delay from a flow's first mark to its first CNP, µs", max(row[3] for row in rows),
              "0..1")
    run.claim("gap", "smallest interval between a flow's CNPs, µs", min(row[4] for row in rows),
              ">= %d" % dcqcn.N_US)
    run.claim("many", "smallest number of marks per CNP of a flow",
              min(row[1] / row[2] for row in rows), "> 2")


def draw(run, cnps):
    _, axes = run.figure("dcqcn-rp", 1, 2, (9.6, 3.4))
    rows = [row for row in rates_of(run).rows() if row["time_ns"] // 1000 >= cnps[0].at_us]
    first = [row for row in rows if row["time_ns"] // 1000 < cnps[1].at_us]
    before = [{"time_ns": rows[0]["time_ns"] - 10**6, "rate_Bps": cnps[0].target, "target_Bps": cnps[0].target}]
    first = before + first
    times = [(row["time_ns"] - rows[0]["time_ns"]) / 1e3 for row in first]
    for name, label, style in (("target_Bps", "R_T", "--"), ("rate_Bps", "R_C", "-")):
        axes[0].step(times, [row[name] * 8e-9 for row in first], style, where="post", label=label)
    axes[0].set(xlim=(-20, 10 * dcqcn.T_US), ylim=(0, None), xlabel="time after the first CNP, µs", ylabel="Gbit/s",
                title="Recovery")
    for c, d in zip(cnps, cnps[1:]):
        times = range(c.at_us, d.at_us, dcqcn.K_US)
        axes[1].plot([t / 1e3 for t in times], [c.alpha_at(t) for t in times], "-", color="#666666",
                     label="computed" if c is cnps[0] else None)
    axes[1].plot([c.at_us / 1e3 for c in cnps], [c.alpha for c in cnps], "o", label="by the cuts")
    axes[1].set(ylim=(0, None), xlabel="ms", ylabel="alpha", title="alpha")
    for axis in axes:
        axis.legend()

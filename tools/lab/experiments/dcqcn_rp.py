# SPDX-License-Identifier: GPL-2.0-only
"""DCQCN's reaction and notification points: what one CNP does to a sender, and how often a receiver sends one.

Y. Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM
2015, section 3.

    response    h2 sends requests of a packet to h1, the next when the answer is there. Now
                and then a host behind a fast link sends a burst of UDP to h1,
                so that the port has a queue when the request comes: it is marked,
                and it is the only one. Of each CNP and what follows, tcp_dcqcn's
                trace events tell.
    spacing     `flows` flows share a port that marks whatever has to wait. A packet
                socket at the receiver sees marks come in and CNPs (ACKs with
                ECE) go out.
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
    Param("rate", "rate", "10gbit", "of all links"),
    Param("fast", "rate", "100gbit", "of the link of the host that makes queues"),
    Param("delay", "time", "1500ns", "of each link; four of them are most of the RTT"),
    Param("at", "time", "2ms,5ms,10ms,20ms,40ms,80ms", "when there is a queue", several=True),
    Param("burst", "count", "30", "packets of UDP that make it"),
    Param("flows", "count", "4", "of spacing"),
    Param("time", "time", "20ms", "of spacing"),
]
SMALL = {"at": "1ms,2ms", "flows": "2", "time": "2ms"}
SCHEMES = ("response", "spacing")

AFTER = 2 * 10**6       # ns of response after the last queue
PORT = 20000            # of the receivers, traffic's default
STEPS = 5               # of recovery that are claimed

ETH_P_ALL = 3
BPF_RET = 6
SO_ATTACH_FILTER, SO_RCVBUFFORCE, SO_TIMESTAMPNS = 26, 33, 35
# of IPv4: TOS, source, destination; of TCP: ports, flags
HEAD = struct.Struct("!xB10x4s4s2H9xB")
ECN, CE = 3, 3
SYN, ECE = 0x02, 0x40


# ---- in the guest

class Tap:
    """A packet socket that keeps the heads of what a host sends and receives."""

    def __init__(self, host):
        topo.enter("/run/netns/" + host)
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 29)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        # a program of one instruction, which returns HEAD's size: no more of a packet is kept
        code = ctypes.create_string_buffer(struct.pack("HBBI", BPF_RET, 0, 0, HEAD.size))
        self.socket.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HxxxxxxP", 1, ctypes.addressof(code)))
        self.socket.bind(("eth0", ETH_P_ALL))

    def lines(self):
        """real_ns, the sender of the data, what: of each mark that came in, and each ACK with ECE that went out."""
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
    # whatever finds a queue is marked
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
    sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)     # or there would be answers
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
    """A CNP at the sender, and what followed.

    alpha       by what the rate was cut
    computed    what alpha should be
    steps       (times T, lateness in us, R_T - R_C of what it was after the cut) of each increase
    """

    def __init__(self, row, alpha):
        self.at_us = row["time_ns"] // 1000
        self.rate, self.target = row["rate_Bps"], row["target_Bps"]
        self.cut = self.rate / self.target
        self.alpha, self.computed = 2 * (1 - self.cut), alpha
        self.steps = []

    def add(self, row):
        """An increase."""
        gap = (row["target_Bps"] - row["rate_Bps"]) / (self.target - self.rate)
        late = row["time_ns"] // 1000 - self.at_us - row["timer_stage"] * dcqcn.T_US
        self.steps.append((row["timer_stage"], late, gap))

    def alpha_at(self, us):
        """What is left of alpha then."""
        return (self.computed * (1 - dcqcn.G) + dcqcn.G) * (1 - dcqcn.G) ** ((us - self.at_us) // dcqcn.K_US)

    def row(self):
        return (self.at_us / 1e3, self.target * 8e-9, self.cut, self.alpha, self.computed) + tuple(
            gap * 2 ** n for n, _, gap in self.steps[:STEPS])


def rates_of(run):
    """The events of the connection's end that gets CNPs."""
    rates = run.csv("response", "rates.csv")
    return rates.where(src=rates["src"][rates["cause"].index("cnp")])


def cnps_of(run):
    """In order."""
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
    run.text("Each CNP: R_C before (Gbit/s), cut to this share; alpha by that, and computed; then, after each T,",
             "R_T - R_C times 2^n of what it was after the cut", "")
    run.table(("ms", "R_C", "cut to", "alpha", "computed") + tuple("n = %d" % (n + 1) for n in range(STEPS)),
              [c.row() for c in cnps])
    sent = run.csv("response", "cnps.csv")["wait_ns"]
    for who, count in (("receiver sends", len(sent)), ("sender takes", len(cnps))):
        run.claim("cnps-" + who.split()[0], "CNPs that the %s, for each marked packet" % who, count / len(run.params.at),
                  "== 1")
    run.claim("halves", "the first CNP: R_C after over before", cnps[0].cut, "0.499999..0.500001")
    run.claim("steps", "%d steps of recovery: R_T - R_C times 2^n, farthest from 1" % STEPS,
              max(abs(gap * 2 ** n - 1) for c in cnps for n, _, gap in c.steps[:STEPS]), "<= 0.001")
    run.claim("steps-n", "they are all there: n of the last, the least", min(c.steps[STEPS - 1][0] for c in cnps),
              "== %d" % STEPS)
    run.claim("timer", "and n T after the CNP: farthest from it, us; a round trip is possible",
              max((late for c in cnps for _, late, _ in c.steps[:STEPS]), key=abs), "0..20")
    run.claim("alpha", "alpha by the cuts over what is computed, farthest from 1",
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
    run.text("", "Each flow at the receiver: marked packets, CNPs; us from the first mark to the first CNP, and between",
             "CNPs", "")
    run.table(("flow", "marks", "CNPs", "first", "gap: least", "most"), rows)
    run.claim("flows", "flows with marks", len(rows), "== %d" % run.params.flows)
    run.claim("first", "from a flow's first mark to its first CNP, us, the most", max(row[3] for row in rows), "0..1")
    run.claim("gap", "between two CNPs of a flow on the wire, us, the least", min(row[4] for row in rows),
              ">= %d" % dcqcn.N_US)
    run.claim("many", "marks for each CNP, the least of the flows: are there more than CNPs?",
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
    axes[0].set(xlim=(-20, 10 * dcqcn.T_US), ylim=(0, None), xlabel="after the first CNP, us", ylabel="Gbit/s",
                title="Recovery")
    for c, d in zip(cnps, cnps[1:]):
        times = range(c.at_us, d.at_us, dcqcn.K_US)
        axes[1].plot([t / 1e3 for t in times], [c.alpha_at(t) for t in times], "-", color="#666666",
                     label="computed" if c is cnps[0] else None)
    axes[1].plot([c.at_us / 1e3 for c in cnps], [c.alpha for c in cnps], "o", label="by the cuts")
    axes[1].set(ylim=(0, None), xlabel="ms", ylabel="alpha", title="alpha")
    for axis in axes:
        axis.legend()

# SPDX-License-Identifier: GPL-2.0-only
"""What experiments with PCRP share: hosts with its qdisc, switches with eight priorities, and how flows fared."""
import json
import math
import os

from closlab import topo
from closlab.experiment import TOP
from closlab.results import mean, quantile
from closlab.tcp import AROUND, DATA, HEADERS, WIRE

DSCPS = (56, 48, 40, 32, 24, 16, 8, 1)              # of P0 to P7; sch_pcrp's defaults. P is its band of ets
UNMARKED = 4                                        # band of unmarked packets: that of P4
NO_MARKS = "kmin 1073741824 kmax 1073741824"
NO_LIMIT = 1 << 30
CONTROL_WIRE = 14 + 20 + 8 + 64 + 24                # a control packet, IPv4, with what a line adds
HANDSHAKE = 4                                       # packets without data of a connection, each way: SYN, FIN, ACKs
CLASSES = (("<= 10 KB", 0, 10_000), ("<= 100 KB", 10_000, 100_000), ("<= 1 MB", 100_000, 1_000_000),
           ("> 1 MB", 1_000_000, 1 << 60))
SHORT = CLASSES[:2]
SURE = 1.96                 # standard deviations on both sides of a normal distribution that have 95 % of it
OF_TCP = ("TcpRetransSegs", "TcpExtTCPTimeouts", "TcpExtTCPDSACKRecv", "TcpExtTCPLossProbes", "TcpExtTCPSACKReorder",
          "TcpExtTCPSynRetrans")
OF_QDISC = ("bytes", "requests_sent", "probes_sent", "grants_sent", "answers_sent", "chains_overdue", "promotions")
OF_SWITCH = ("switch_drops",)


# ---- in the guest

def cdf(sizes):
    return "tools/lab/cdf/%s.cdf" % sizes


def segments(sizes):
    """[((bytes, share), (bytes, share))]: the straight lines of a distribution."""
    with open(os.path.join(TOP, cdf(sizes)), encoding="ascii") as f:
        points = [tuple(map(float, line.split())) for line in f if line.strip() and not line.startswith("#")]
    return list(zip([(points[0][0], 0)] + points, points))


def mean_bytes(sizes):
    """Of the flows of a distribution."""
    return sum((a + b) / 2 * (q - p) for (a, p), (b, q) in segments(sizes))


def wire_bytes(size):
    """What the packets of a flow of SIZE bytes take of the line that its sender has, and of the one back, at most."""
    return size * WIRE / DATA + HANDSHAKE * (HEADERS + AROUND)


def data_share(sizes):
    """The flows' bytes, of what their packets take."""
    size = mean_bytes(sizes)
    return size / wire_bytes(size)


def switch_qdiscs(net, buffer, k=None):
    """Each port of a switch gets eight strict priorities, and marks what exceeds K bytes if K is given.

    A pool of each port's own, without PFC, is the buffer that its priorities share.
    """
    marks = NO_MARKS if k is None else "kmin %d kmax %d pmax 100%%" % (k, k)
    for i, port in enumerate(net.switch_ports()):
        port.ring = 2
        port.qdisc = ["root handle 1: ets bands 8 strict 8 priomap" + " %d" % UNMARKED * 16]
        port.qdisc += ["filter parent 1: protocol arp pref 2 matchall classid 1:8"]
        for p, dscp in enumerate(DSCPS):
            port.qdisc += [
                "filter parent 1: protocol ip pref 1 flower ip_tos 0x%02x/0xfc classid 1:%d" % (dscp << 2, p + 1),
                "parent 1:%d dcqcn limit %d %s prio %d pool port%d buffer %d pfc none" % (
                    p + 1, NO_LIMIT, marks, 7 - p, i, buffer)]


def build(lab, net, host_qdisc, buffer, k=None, gso=None):
    """Makes the network real; GSO is of PCRP's hosts. What waits is to be in the qdiscs: few frames are behind them."""
    lab.module("sch_dcqcn")
    lab.module("sch_pcrp")
    switch_qdiscs(net, buffer, k)
    for port in net.host_ports():
        port.ring = 4
        port.qdisc = host_qdisc(port.node) if callable(host_qdisc) else host_qdisc
        port.gso = gso if port.qdisc.startswith("pcrp") else None
    net.build()


def warm(lab, net, size="50k"):
    """Each host sends to each other, so that all know who answers, and how soon."""
    names = [host.name for host in net.hosts()]
    words = []
    for i, name in enumerate(names):
        words += ["--", "bulk", "src=" + name, "dst=" + ",".join(n for n in names if n != name), "bytes=" + size,
                  "stagger=1ms", "start=%dus" % (1000 * i // len(names))]
    lab.traffic(net, *words[1:])


def of_tcp(host):
    """What TCP has counted in the host's namespace."""
    lines, values = [], {}
    with topo.inside(host):
        for name in ("snmp", "netstat"):
            with open("/proc/net/" + name, encoding="ascii") as f:
                lines += f.read().splitlines()
    for names, numbers in zip(lines[::2], lines[1::2]):
        kind, *names = names.split()
        values.update(zip([kind.rstrip(":") + name for name in names], numbers.split()[1:]))
    return [int(values[name]) for name in OF_TCP]


def of_qdisc(host):
    """What the host's qdisc has counted, if it is PCRP's."""
    if not any("pcrp" in port.qdisc for port in host.ports.values()):
        return [0] * len(OF_QDISC)
    qdisc = json.loads(topo.run("tc", "-n", host.name, "-s", "-j", "qdisc", "show", "dev", "eth0"))[0]
    return [qdisc.get(name, 0) for name in OF_QDISC]


def of_switch(switch):
    """Packets that its queues have dropped; ets counts them, too."""
    return [sum(qdisc["drops"] for qdisc in json.loads(topo.run("tc", "-n", switch.name, "-s", "-j", "qdisc"))
                if qdisc["kind"] == "dcqcn")]


def counts(net):
    """{node's name: OF_TCP and OF_QDISC of a host, OF_SWITCH of a switch}"""
    values = {host.name: of_tcp(host) + of_qdisc(host) + [0] * len(OF_SWITCH) for host in net.hosts()}
    values.update({switch.name: [0] * len(OF_TCP + OF_QDISC) + of_switch(switch) for switch in net.switches()})
    return values


def write_hosts(path, net, before):
    """A CSV file of what each host's TCP and each node's qdiscs have counted since BEFORE. Returns what it is now."""
    now = counts(net)
    with open(path, "w", encoding="ascii") as f:
        f.write(",".join(("node",) + OF_TCP + OF_QDISC + OF_SWITCH) + "\n")
        for name, values in now.items():
            f.write(",".join([name] + [str(new - old) for new, old in zip(values, before[name])]) + "\n")
    return now


def poisson(lab, net, before, case, time, drain, load, sizes, *words):
    """A measurement: flows at random at that load, all that is on the lines included; writes what became of them.

    BEFORE: what counts() said last. Returns what it says now.
    """
    lab.traffic(net, "--time", "%dns" % time, "--drain", "%dns" % drain, "--flows", lab.path("flows-%s.csv" % case),
                "poisson", "load=%.9f" % (load * data_share(sizes)), "cdf=" + cdf(sizes), *words)
    return write_hosts(lab.path("hosts-%s.csv" % case), net, before)


# ---- on the host

class Flows:
    """How the flows of a case fared: those of flows-CASE.csv that KEEP lets pass.

    all         of which
    done        have ended, and
    missed      were not even begun, for the traffic generator was too busy
    """

    def __init__(self, run, scheme, case, keep=None):
        rows = list(run.csv(scheme, "flows-%s.csv" % case).rows())
        self.all = [row for row in rows if not keep or keep(row)]
        self.done = [row for row in self.all if row["state"] == "done"]
        self.missed = sum(row["state"] == "waiting" for row in self.all)
        self.hosts = run.csv(scheme, "hosts-%s.csv" % case)

    def among(self, low=0, high=1 << 60):
        """Flows that were done, of more than LOW bytes, up to HIGH."""
        return [row for row in self.done if low < row["bytes"] <= high]

    def slowdowns(self, low=0, high=1 << 60):
        return [row["slowdown"] for row in self.among(low, high)]

    def mean(self, low=0, high=1 << 60):
        return mean(self.slowdowns(low, high) or [math.nan])

    def quantile(self, q, low=0, high=1 << 60):
        return quantile(self.slowdowns(low, high) or [math.nan], q)

    def quantile_range(self, q, low=0, high=1 << 60):
        """The two slowdowns between which the quantile is, 95 % sure if flows do not depend on each other.

        It is where it is, whatever the distribution: so many of n flows are below
        it as heads of n throws of a coin.
        """
        ordered = sorted(self.slowdowns(low, high) or [math.nan])
        count = len(ordered)
        off = SURE * math.sqrt(count * q * (1 - q))
        return [ordered[min(count, max(1, math.ceil(count * q + sign * off))) - 1] for sign in (-1, 1)]

    def ratio(self, other, low=0, high=1 << 60):
        """(mean slowdown over that of OTHER's flows, by how much it may be wrong), 95 % sure.

        Of flows that ended in both: the same seed makes the same flows, so that
        they are compared one by one.
        """
        pairs = self.pairs(other, low, high)
        base = mean([b for _, b in pairs])
        found = mean([a for a, _ in pairs]) / base
        spread = sum((a - found * b) ** 2 for a, b in pairs) / max(1, len(pairs) - 1)
        return found, SURE * math.sqrt(spread / len(pairs)) / base

    def typical(self, other, low=0, high=1 << 60):
        """The geometric mean of how much slower each flow was than in OTHER, for which one lost SYN is but one flow."""
        return math.exp(mean([math.log(a / b) for a, b in self.pairs(other, low, high)]))

    def pairs(self, other, low, high):
        """[(slowdown, slowdown in OTHER)] of the flows that ended in both."""
        beside = {row["flow"]: row["slowdown"] for row in other.among(low, high)}
        return [(row["slowdown"], beside[row["flow"]]) for row in self.among(low, high) if row["flow"] in beside]

    def fct_us(self):
        return mean([row["fct_ns"] / 1e3 for row in self.done] or [math.nan])

    def rows(self):
        """(class, flows, unfinished, slowdown: mean, median, p99 and its range, FCT: mean and p99, us) of each class"""
        for name, low, high in CLASSES:
            some = self.among(low, high)
            if some:
                lost = sum(low < row["bytes"] <= high for row in self.all) - len(some)
                fct = [row["fct_ns"] / 1e3 for row in some]
                yield (name, len(some), lost, self.mean(low, high), self.quantile(0.5, low, high),
                       self.quantile(0.99, low, high), "%.3g..%.3g" % tuple(self.quantile_range(0.99, low, high)),
                       mean(fct), quantile(fct, 0.99))

    def total(self, name):
        return sum(self.hosts[name])

    def control_share(self):
        """Control packets, of all bytes that the hosts sent."""
        packets = sum(self.total(name) for name in ("requests_sent", "probes_sent", "grants_sent", "answers_sent"))
        return packets * CONTROL_WIRE / max(1, self.total("bytes"))

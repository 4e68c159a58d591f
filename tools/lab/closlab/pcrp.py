# SPDX-License-Identifier: GPL-2.0-only
"""Shared by experiments with PCRP: qdiscs of hosts and switches, statistics of flows."""
import contextlib
import json
import math
import os
import subprocess

from closlab import topo, virtual
from closlab.experiment import TOP
from closlab.results import mean, quantile
from closlab.tcp import AROUND, DATA, HEADERS, WIRE

DSCPS = (56, 48, 40, 32, 24, 16, 8, 1)              # of P0 to P7, sch_pcrp's defaults; P is also the band of ets
UNMARKED = 4                                        # band of unmarked packets: P4's
NO_MARKS = "kmin 1073741824 kmax 1073741824"
NO_LIMIT = 1 << 30
CONTROL_WIRE = 14 + 20 + 8 + 64 + 24                # bytes of a control packet on the wire, IPv4
HANDSHAKE = 4                                       # packets without data per connection and direction: SYN, FIN, ACKs
CLASSES = (("<= 10 KB", 0, 10_000), ("<= 100 KB", 10_000, 100_000), ("<= 1 MB", 100_000, 1_000_000),
           ("> 1 MB", 1_000_000, 1 << 60))
SHORT = CLASSES[:2]
SURE = 1.96                 # standard deviations of a normal distribution's 95 % interval
OF_TCP = ("TcpRetransSegs", "TcpExtTCPTimeouts", "TcpExtTCPDSACKRecv", "TcpExtTCPLossProbes", "TcpExtTCPSACKReorder",
          "TcpExtTCPSynRetrans")
OF_QDISC = ("bytes", "requests_sent", "probes_sent", "grants_sent", "answers_sent", "chains_overdue", "promotions")
OF_SWITCH = ("switch_drops", "switch_pauses")
PCRPD = os.path.join(TOP, "build", "lab", "pcrpd", "pcrpd")
PCRPD_PERIOD_MS = 50        # its shortest
PCRPD_PERIODS = 300         # whose flows determine the thresholds: 15 s, in which two measurements begin


# ---- in the guest

def cdf(sizes):
    return "tools/lab/cdf/%s.cdf" % sizes


def points(sizes, cap=0):
    """Return: [(bytes, probability)], a distribution; longer flows have CAP bytes, if it is not 0."""
    with open(os.path.join(TOP, cdf(sizes)), encoding="ascii") as f:
        all_points = [tuple(map(float, line.split())) for line in f if line.strip() and not line.startswith("#")]
    if not cap or all_points[-1][0] <= cap:
        return all_points
    kept = [point for point in all_points if point[0] < cap]
    (low, p), (high, q) = kept[-1] if kept else (0, 0), all_points[len(kept)]
    return kept + [(cap, p + (q - p) * (cap - low) / (high - low)), (cap, 1)]


def segments(sizes, cap=0):
    """Return: [((bytes, probability), (bytes, probability))], the linear segments of a distribution."""
    found = points(sizes, cap)
    return list(zip([(found[0][0], 0)] + found, found))


def mean_bytes(sizes, cap=0):
    """Return: mean flow size of a distribution."""
    return sum((a + b) / 2 * (q - p) for (a, p), (b, q) in segments(sizes, cap))


def wire_bytes(size):
    """Return: bytes on the wire of a flow of SIZE bytes, an upper bound for each direction."""
    return size * WIRE / DATA + HANDSHAKE * (HEADERS + AROUND)


def data_share(sizes, cap=0):
    """Return: the flows' bytes as a share of their bytes on the wire."""
    size = mean_bytes(sizes, cap)
    return size / wire_bytes(size)


def port_pool(number, port, buffer, pfc):
    """Return: options of dcqcn for a port's pool: its own, or with PFC one of the switch with BUFFER for each port."""
    if not pfc:
        return "pool port%d buffer %d pfc none" % (number, buffer)
    return "pool switch buffer %d pfc all cable %dns xoff dynamic beta 8" % (buffer * len(port.node.ports), port.delay)


def switch_qdiscs(net, buffer, k=None, pfc=False):
    """Give each port of a switch eight strict priorities. With K, packets above K bytes are marked.

    The priorities of a port share a buffer. With PFC, all ports of a switch share it, and all priorities are lossless.
    """
    marks = NO_MARKS if k is None else "kmin %d kmax %d pmax 100%%" % (k, k)
    for i, port in enumerate(net.switch_ports()):
        port.ring = 2
        port.qdisc = ["root handle 1: ets bands 8 strict 8 priomap" + " %d" % UNMARKED * 16]
        port.qdisc += ["filter parent 1: protocol arp pref 2 matchall classid 1:8"]
        for p, dscp in enumerate(DSCPS):
            port.qdisc += [
                "filter parent 1: protocol ip pref 1 flower ip_tos 0x%02x/0xfc classid 1:%d" % (dscp << 2, p + 1),
                "parent 1:%d dcqcn limit %d %s prio %d %s" % (
                    p + 1, NO_LIMIT, marks, 7 - p, port_pool(i, port, buffer, pfc))]


def build(lab, net, host_qdisc, buffer, k=None, gso=None, pfc=False):
    """Build the network with short rings, so that packets wait in qdiscs.

    HOST_QDISC: a qdisc, lines of tc, or a function of the host. GSO: gso_max_size of PCRP's hosts.
    """
    lab.module("sch_dcqcn")
    lab.module("sch_pcrp")
    switch_qdiscs(net, buffer, k, pfc)
    for port in net.host_ports():
        port.ring = 4
        port.qdisc = host_qdisc(port.node) if callable(host_qdisc) else host_qdisc
        port.gso = gso if str(port.qdisc).startswith("pcrp") else None
    net.build()


def connect(node, number):
    """Connect a node to the bridge of namespace pcrpd, as 192.168.0.NUMBER."""
    topo.run("ip", "link", "add", "pcrpd", "netns", node.name, "type", "veth", "peer", "name", node.name, "netns",
             "pcrpd")
    topo.run("ip", "-n", "pcrpd", "link", "set", node.name, "master", "br0", "up")
    topo.run("ip", "-n", node.name, "-batch", "-", text=["addr add 192.168.0.%d/24 dev pcrpd" % number,
                                                          "link set pcrpd up"])


def start_pcrpd(role, node, key, **config):
    """Start pcrpd in the node's namespace. Return: the process."""
    path = "/tmp/pcrpd-%s.json" % node.name
    with open(path, "w", encoding="ascii") as f:
        json.dump(dict(config, period_ms=PCRPD_PERIOD_MS), f)
    virtual.next_command()      # agents need different random numbers
    with topo.inside(node):
        return subprocess.Popen([PCRPD, role, "-c", path, "-k", key])


@contextlib.contextmanager
def pcrpd(net):
    """Context manager: an agent of pcrpd(8) runs on each host, and an aggregator.

    They have a network of their own, so that their packets are no flows of the hosts. Before the next measurement, they
    report several times.
    """
    key = "/tmp/pcrpd.key"
    with open(os.open(key, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="ascii") as f:
        f.write("%064x\n" % 1)
    topo.run("ip", "netns", "add", "pcrpd")
    # without an address, a bridge takes the address of a port, and changes it when another port comes
    topo.run("ip", "-n", "pcrpd", "-batch", "-", text=["link add br0 address 02:ff:00:00:00:01 type bridge",
                                                       "addr add 192.168.0.1/24 dev br0", "link set br0 up"])
    running = [start_pcrpd("aggregator", topo.Node("pcrpd", None), key, listen="192.168.0.1", periods=PCRPD_PERIODS)]
    for number, host in enumerate(net.hosts(), 2):
        connect(host, number)
        running.append(start_pcrpd("agent", host, key, aggregator="192.168.0.1"))
    try:
        yield
        ended = [process.args for process in running if process.poll() is not None]
        if ended:
            raise RuntimeError("%s has ended" % ended[0])
    finally:
        for process in running:
            process.terminate()


def warm(lab, net, size="50k"):
    """Send a flow between each pair of hosts, so that all hosts know their peers and RTTs."""
    names = [host.name for host in net.hosts()]
    words = []
    for i, name in enumerate(names):
        words += ["--", "bulk", "src=" + name, "dst=" + ",".join(n for n in names if n != name), "bytes=" + size,
                  "stagger=1ms", "start=%dus" % (1000 * i // len(names))]
    lab.traffic(net, *words[1:])


def of_tcp(host):
    """Return: TCP's counters OF_TCP in the host's namespace."""
    lines, values = [], {}
    with topo.inside(host):
        for name in ("snmp", "netstat"):
            with open("/proc/net/" + name, encoding="ascii") as f:
                lines += f.read().splitlines()
    for names, numbers in zip(lines[::2], lines[1::2]):
        kind, *names = names.split()
        values.update(zip([kind.rstrip(":") + name for name in names], numbers.split()[1:]))
    return [int(values[name]) for name in OF_TCP]


def qdisc_of(host):
    """Return: the host's qdisc, as tc prints it."""
    return json.loads(topo.run("tc", "-n", host.name, "-s", "-j", "qdisc", "show", "dev", "eth0"))[0]


def of_qdisc(host):
    """Return: counters OF_QDISC of the host's pcrp; zeros for other qdiscs."""
    if not any("pcrp" in port.qdisc for port in host.ports.values()):
        return [0] * len(OF_QDISC)
    qdisc = qdisc_of(host)
    return [qdisc.get(name, 0) for name in OF_QDISC]


def of_switch(switch):
    """Return: [packets dropped by the switch, pauses that it sent]. ets repeats drops, so only dcqcn counts."""
    qdiscs = [qdisc for qdisc in json.loads(topo.run("tc", "-n", switch.name, "-s", "-j", "qdisc"))
              if qdisc["kind"] == "dcqcn"]
    return [sum(qdisc["drops"] for qdisc in qdiscs),
            sum(prio["xoff_frames"] for qdisc in qdiscs for prio in qdisc["prio"])]


def counts(net):
    """Return: {node: OF_TCP, OF_QDISC and OF_SWITCH, 0 where they do not apply}."""
    values = {host.name: of_tcp(host) + of_qdisc(host) + [0] * len(OF_SWITCH) for host in net.hosts()}
    values.update({switch.name: [0] * len(OF_TCP + OF_QDISC) + of_switch(switch) for switch in net.switches()})
    return values


def write_hosts(path, net, before):
    """Write the increase of all counters since BEFORE, an earlier counts(), to a CSV file. Return: counts()."""
    now = counts(net)
    with open(path, "w", encoding="ascii") as f:
        f.write(",".join(("node",) + OF_TCP + OF_QDISC + OF_SWITCH) + "\n")
        for name, values in now.items():
            f.write(",".join([name] + [str(new - old) for new, old in zip(values, before[name])]) + "\n")
    return now


def write_thresholds(path, net):
    """Write the thresholds of first chains that each host uses to a CSV file."""
    with open(path, "w", encoding="ascii") as f:
        f.write("node,p0_bytes,p1_bytes,p2_bytes\n")
        for host in net.hosts():
            f.write("%s,%d,%d,%d\n" % (host.name, *qdisc_of(host)["spec_bytes"]))


def poisson(lab, net, before, case, time, drain, load, sizes, *words, cap=0):
    """Measure Poisson arrivals at LOAD, headers included; write flows and counters of CASE.

    BEFORE: an earlier counts(). CAP: largest size of a flow; 0: the distribution's. Return: counts().
    """
    name = cdf(sizes)
    if cap:
        name = lab.path("%s.cdf" % case)
        with open(name, "w", encoding="ascii") as f:
            f.writelines("%.10g %.10g\n" % point for point in points(sizes, cap))
    lab.traffic(net, "--time", "%dns" % time, "--drain", "%dns" % drain, "--flows", lab.path("flows-%s.csv" % case),
                "poisson", "load=%.9f" % (load * data_share(sizes, cap)), "cdf=" + name, *words)
    return write_hosts(lab.path("hosts-%s.csv" % case), net, before)


# ---- on the host

class Flows:
    """Flows of flows-CASE.csv that satisfy KEEP.

    all         rows of all flows
    done        rows of the flows that have ended
    missed      number of flows that were not started, because the traffic generator was late
    """

    def __init__(self, run, scheme, case, keep=None):
        rows = list(run.csv(scheme, "flows-%s.csv" % case).rows())
        self.all = [row for row in rows if not keep or keep(row)]
        self.done = [row for row in self.all if row["state"] == "done"]
        self.missed = sum(row["state"] == "waiting" for row in self.all)
        self.hosts = run.csv(scheme, "hosts-%s.csv" % case)

    def among(self, low=0, high=1 << 60):
        """Return: flows that are done, of more than LOW and at most HIGH bytes."""
        return [row for row in self.done if low < row["bytes"] <= high]

    def slowdowns(self, low=0, high=1 << 60):
        return [row["slowdown"] for row in self.among(low, high)]

    def mean(self, low=0, high=1 << 60):
        return mean(self.slowdowns(low, high) or [math.nan])

    def quantile(self, q, low=0, high=1 << 60):
        return quantile(self.slowdowns(low, high) or [math.nan], q)

    def quantile_range(self, q, low=0, high=1 << 60):
        """Return: 95 % confidence interval of the quantile, for independent flows.

        It holds for any distribution: the number of flows below the quantile is
        binomially distributed.
        """
        ordered = sorted(self.slowdowns(low, high) or [math.nan])
        count = len(ordered)
        off = SURE * math.sqrt(count * q * (1 - q))
        return [ordered[min(count, max(1, math.ceil(count * q + sign * off))) - 1] for sign in (-1, 1)]

    def ratio(self, other, low=0, high=1 << 60):
        """Return: mean slowdown relative to OTHER's, and half of its 95 % confidence interval.

        Compares pairs of flows that ended in both schemes: the same seed generates
        the same flows.
        """
        pairs = self.pairs(other, low, high)
        base = mean([b for _, b in pairs])
        found = mean([a for a, _ in pairs]) / base
        spread = sum((a - found * b) ** 2 for a, b in pairs) / max(1, len(pairs) - 1)
        return found, SURE * math.sqrt(spread / len(pairs)) / base

    def typical(self, other, low=0, high=1 << 60):
        """Return: geometric mean of the ratios of pairs, on which a flow with a lost SYN has little weight."""
        return math.exp(mean([math.log(a / b) for a, b in self.pairs(other, low, high)]))

    def pairs(self, other, low, high):
        """Return: [(slowdown, slowdown in OTHER)] of the flows that ended in both schemes."""
        beside = {row["flow"]: row["slowdown"] for row in other.among(low, high)}
        return [(row["slowdown"], beside[row["flow"]]) for row in self.among(low, high) if row["flow"] in beside]

    def fct_us(self):
        return mean([row["fct_ns"] / 1e3 for row in self.done] or [math.nan])

    def rows(self):
        """Yield per class: name, flows, unfinished, slowdown: mean, median, p99 and its interval, FCT: mean, p99"""
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
        """Return: control packets' share of all bytes that the hosts sent."""
        packets = sum(self.total(name) for name in ("requests_sent", "probes_sent", "grants_sent", "answers_sent"))
        return packets * CONTROL_WIRE / max(1, self.total("bytes"))

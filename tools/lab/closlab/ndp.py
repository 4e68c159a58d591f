# SPDX-License-Identifier: GPL-2.0-only
"""Shared by experiments with the NDP transport: trimming ports, packet sizes on the wire, counters of hosts."""
import math

from closlab import topo
from closlab.tcp import AROUND, HEADERS

NDP_HEADERS = 20 + 8 + 56       # bytes of IPv4, UDP and NDP headers
CONTROL_WIRE = NDP_HEADERS + AROUND
FRAME_HEADER = 14
SNMP = "/proc/net/ndp/snmp"
# counters of senders in SNMP
NEW, RTX, NACKED, BOUNCED = "SndNewPackets", "SndRtxPackets", "SndNackedPackets", "SndReturnedPackets"
TIMEOUTS, PROBES = "SndTimeouts", "SndProbes"
# net.ndp.NAME as in the paper: flows are pulled, and send, in turn; data has no bands
PAPER = {"pull_policy": 0, "bands": 1}
# tc-red's bandwidth has 32 bits, bytes/s; it only matters for the average of idle ports
RED_RATE_MAX = 34_000_000_000
# Qdisc of hosts: CONTROL packets before data, and FIFOs, because the hosts' ndp.ko orders data. Linux's fq since 6.8 may
# send 192 KB of data before a CONTROL packet, and, even below prio, before the first packet of a socket: fq_enqueue()
# adds a new flow to the list of band 0, whatever the packet's band is, and an older flow to that of its last band.
HOST_QDISC = "prio"


# ---- in the guest

def qdisc(limit, hlimit=None, bands=1):
    """Return: qdisc of a trimming port: LIMIT data packets as in the paper, or 0 for the default, 8 frames in bytes;
    HLIMIT bytes of headers (default: as many bytes as the data), return to sender; BANDS of data."""
    return "ndp limit %d hlimit %s rts bands %d" % (limit, hlimit or "auto", bands)


def beside(scheme, frame, rate, buffer, k):
    """Return: qdisc of TCP's port for comparison: BUFFER packets; marks above K packets, except for cubic."""
    if scheme.startswith("cubic"):
        return "bfifo limit %d" % (buffer * frame)
    # equal thresholds and a short average: DCTCP's step marking, see dctcp_known.py
    return "red limit %d min %d max %d avpkt %d burst %d bandwidth %dbit probability 1 ecn" % (
        buffer * frame, k * frame, k * frame + 1, frame, k, min(rate, RED_RATE_MAX))


def strict(count, qdisc):
    """Return: lines of tc for COUNT strict bands of IP precedence, as sch_ndp's, each with QDISC. ARP is in the first."""
    lines = ["root handle 1: prio bands %d priomap" % count + " 0" * 16]
    for level in range(count):
        lines += ["filter parent 1: protocol ip flower ip_tos 0x%02x/0xe0 classid 1:%d" % (level << 5, count - level),
                  "parent 1:%d %s" % (level + 1, qdisc)]
    return lines


def build(lab, net, host_qdisc=None, **sysctls):
    """Load the modules and build the network. SYSCTLS: values of net.ndp.NAME on the hosts; None: the module's default.

    Without them, hosts follow PAPER.
    """
    lab.module("sch_ndp")
    lab.module("ndp")
    for name, value in {**PAPER, **sysctls}.items():
        if value is not None:
            net.host_sysctls["ndp/" + name] = str(value)
    net.build(host_qdisc=host_qdisc)


def transport(scheme):
    """Return: key of the traffic generator for a scheme, named "ndp..." or after TCP's congestion control."""
    return "transport=ndp" if scheme.startswith("ndp") else "cc=" + scheme.partition("-")[0]


def counts(net):
    """Return: {name: sum of all hosts}."""
    sums = {}
    for host in net.hosts():
        with topo.inside(host), open(SNMP, encoding="ascii") as f:
            for line in f:
                name, value = line.split()
                sums[name] = sums.get(name, 0) + int(value)
    return sums


def write_counts(path, net, before):
    """Write the increase of the hosts' counters since BEFORE, an earlier counts(), to a CSV file. Return: counts()."""
    now = counts(net)
    with open(path, "w", encoding="ascii") as f:
        f.write("name,count\n")
        for name, value in now.items():
            f.write("%s,%d\n" % (name, value - before.get(name, 0)))
    return now


# ---- on the host

def headers(scheme):
    """Return: bytes of headers per packet, IP included."""
    return NDP_HEADERS if scheme.startswith("ndp") else HEADERS


def wire_bytes(size, mtu, header):
    """Return: bytes on the wire of SIZE bytes of data: full packets and a shorter last one."""
    return size + math.ceil(size / (mtu - header)) * (header + AROUND)


def count(run, scheme, case, name):
    """Return: count NAME of counts-CASE.csv."""
    table = run.csv(scheme, "counts-%s.csv" % case)
    return dict(zip(table["name"], table["count"]))[name]

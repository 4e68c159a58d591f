# SPDX-License-Identifier: GPL-2.0-only
"""What experiments with the NDP transport share: trimming ports, what its packets take, what its hosts have counted."""
import math

from closlab import topo
from closlab.tcp import AROUND, HEADERS

NDP_HEADERS = 20 + 8 + 56       # of IPv4, UDP and NDP
CONTROL_WIRE = NDP_HEADERS + AROUND
FRAME_HEADER = 14
SNMP = "/proc/net/ndp/snmp"
# what senders count there: packets, those again, NACKs, returned, timeouts, PROBEs
NEW, RTX, NACKED, BOUNCED = "SndNewPackets", "SndRtxPackets", "SndNackedPackets", "SndBouncedPackets"
TIMEOUTS, PROBES = "SndTimeouts", "SndProbes"
# Hosts': CONTROL leaves before all data, of which sockets have a share each. Linux's fq alone gives up to 192 KB of
# data, once it is at it, before a packet of a higher priority (since 6.8).
HOST_QDISC = ["root handle 1: prio", "parent 1:2 handle 2: fq"]


# ---- in the guest

def qdisc(limit, mtu, hlimit=None):
    """A trimming port's, as in the paper: LIMIT packets of data, return to sender; headers HLIMIT bytes, or the same
    memory."""
    return "ndp limit %d hlimit %d rts" % (limit, hlimit or limit * (mtu + FRAME_HEADER))


def beside(scheme, frame, rate, buffer, k):
    """That of TCP's port beside it: BUFFER packets; dctcp's marks above K, cubic's none."""
    if scheme.startswith("cubic"):
        return "bfifo limit %d" % (buffer * frame)
    # no room between the thresholds, and a short memory: marks as DCTCP wants them, see dctcp_known.py
    return "red limit %d min %d max %d avpkt %d burst %d bandwidth %dbit probability 1 ecn" % (
        buffer * frame, k * frame, k * frame + 1, frame, k, rate)


def build(lab, net, host_qdisc=None, **sysctls):
    """Makes the network real, with the module; SYSCTLS: of the hosts, net.ndp.NAME, the module's default for None."""
    lab.module("sch_ndp")
    lab.module("ndp")
    for name, value in sysctls.items():
        if value is not None:
            net.host_sysctls["ndp/" + name] = str(value)
    net.build(host_qdisc=host_qdisc)


def transport(scheme):
    """The word that tells the traffic generator: schemes are named ndp..., or after TCP's congestion control."""
    return "transport=ndp" if scheme.startswith("ndp") else "cc=" + scheme.partition("-")[0]


def counts(net):
    """{name: count}, of all hosts together."""
    sums = {}
    for host in net.hosts():
        with topo.inside(host), open(SNMP, encoding="ascii") as f:
            for line in f:
                name, value = line.split()
                sums[name] = sums.get(name, 0) + int(value)
    return sums


def write_counts(path, net, before):
    """A CSV file of what the hosts have counted since BEFORE, what counts() said then. Returns what it says now."""
    now = counts(net)
    with open(path, "w", encoding="ascii") as f:
        f.write("name,count\n")
        for name, value in now.items():
            f.write("%s,%d\n" % (name, value - before.get(name, 0)))
    return now


# ---- on the host

def headers(scheme):
    """Bytes of IP and what is above it, in each packet."""
    return NDP_HEADERS if scheme.startswith("ndp") else HEADERS


def wire_bytes(size, mtu, header):
    """What SIZE bytes of data take of a line: full packets, and one of the rest."""
    return size + math.ceil(size / (mtu - header)) * (header + AROUND)


def count(run, scheme, case, name):
    """Of counts-CASE.csv."""
    table = run.csv(scheme, "counts-%s.csv" % case)
    return dict(zip(table["name"], table["count"]))[name]

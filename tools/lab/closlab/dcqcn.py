# SPDX-License-Identifier: GPL-2.0-only
"""Shared by experiments with DCQCN: modules, qdiscs of switches, fixed point of the fluid model."""
import json
import time

from closlab import topo
from closlab.tcp import Module

KMIN, KMAX, PMAX = 5_000, 200_000, 0.01     # of the paper; sch_dcqcn's default PMAX is 0.2
PORT_BUFFER = 375_000                       # bytes of buffer per port of a switch: the paper's 12 MB for 32 ports,
PORT_BUFFER_RATE = 40 * topo.GBIT           # up to this rate; in proportion to the rate above
NEVER = 1 << 30                             # kmin above all queue lengths
N_US, K_US, T_US = 50, 55, 55               # of the paper
B, F, G = 10_000_000, 5, 1 / 256
AI = 1 / 1000                               # R_AI of profile paper, as a share of the line rate
SEG_KB = 4                                  # bursts of two packets: a burst causes one or two CNPs at any length


# ---- in the guest

def load(lab, seg_kb=SEG_KB, profile="paper", cap=0):
    """Load the qdisc and the congestion control. SEG_KB 0: the profile's bursts. CAP 0: windows of 1 ms, else KB."""
    lab.module("sch_dcqcn")
    Module(lab, "tcp_dcqcn").set(seg_kb=seg_kb, profile=profile, cap=cap)


def marking(kmin=KMIN, kmax=KMAX):
    return "kmin %d kmax %d" % (kmin, kmax)


def tuned_marking(rate):
    """Return: marking for profile tuned: all packets above KMAX, none for bursts of 4 µs at RATE up to 40 Gbit/s."""
    return marking(min(rate // 1_000_000 * 4 // 8, 20_000)) + " pmax 100%"


def switch_qdiscs(net, words="", xoff="xoff dynamic beta 8"):
    """Give each port of a switch a dcqcn of priority 0 with the paper's PMAX. The ports of a switch share a pool.

    The pool's size follows from PORT_BUFFER. Rings are short, so that packets
    wait in the qdisc.
    """
    for switch in net.switches():
        size = sum(PORT_BUFFER * max(port.rate, PORT_BUFFER_RATE) // PORT_BUFFER_RATE for port in switch.ports.values())
        for port in switch.ports.values():
            port.ring = 2
            port.qdisc = "dcqcn prio 0 pmax %g%% %s pool switch buffer %d cable %dns %s" % (
                100 * PMAX, words, size, port.delay, xoff)


def drain():
    """Wait until a case's packets have left the network. Otherwise a SYN may be lost and repeated without ECN."""
    time.sleep(1)


# {column: key of tc's JSON}
OF_POOL = {"pool_xoff_bytes": "xoff_bytes", "pool_headroom_bytes": "headroom_bytes", "pool_peak_bytes": "peak_bytes"}
OF_PRIO = {name: name for name in ("ingress_peak_bytes", "headroom_peak_bytes", "xoff_frames", "xon_frames")}
OF_PRIO["dropped_headroom_packets"] = "dropped_packets"


def write_ports(path, switch):
    """Write a CSV file with the counters of each port of a switch in its pool, and of priority 0."""
    with open(path, "w", encoding="ascii") as f:
        f.write(",".join(["port", *OF_POOL, *OF_PRIO]) + "\n")
        for qdisc in json.loads(topo.run("tc", "-n", switch.name, "-s", "-j", "qdisc", "show")):
            if qdisc["kind"] == "dcqcn":
                values = [qdisc["pool"][key] for key in OF_POOL.values()]
                values += [qdisc["prio"][0][key] for key in OF_PRIO.values()]
                f.write(",".join([qdisc["dev"]] + [str(value) for value in values]) + "\n")


# ---- on the host

def fixed_point(rate, ai, packet, flows):
    """Return: marking probability p at the fixed point of the fluid model (CoNEXT 2016), with FLOWS equal rates.

    With R_C = C / N and R_AI in packets of PACKET bytes per second, p solves

        a^2 alpha = N^2 R_AI R_C (b + d) (c + e)
        a = 1 - (1 - p)^(N R_C)             probability of a CNP in a window; alpha: same with K
        b = p / ((1 - p)^-B - 1)            byte counter events per packet
        c = b (1 - p)^(F B)                 byte counter events after fast recovery
        d, e                                same for the timer, with B = T R_C
    """
    rate, ai = rate / flows / packet / 8, ai / packet / 8

    def surplus(p):
        cut, alpha = (1 - (1 - p) ** (us * rate / 1e6) for us in (N_US, K_US))
        events = beyond = 0
        for packets in (B / packet, T_US * rate / 1e6):
            clear = (1 - p) ** packets
            events += p * clear / (1 - clear)
            beyond += p * clear / (1 - clear) * clear ** F
        return cut ** 2 * alpha - (N_US / 1e6) ** 2 * ai * rate * events * beyond

    low, high = 1e-7, 0.5
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if surplus(middle) < 0 else (low, middle)
    return high

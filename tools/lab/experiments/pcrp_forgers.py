# SPDX-License-Identifier: GPL-2.0-only
"""Ten hosts forge PCRP control packets: the goodput that honest flows to the same receiver lose.

    quiet       no forger
    requests    forgers send REQUESTs and PROBEs of flows that do not exist
    data        in addition, a datagram of one byte of the flow with each REQUEST

On a star, h2 and h3 send to h1; all three have sch_pcrp. The other hosts have no sch_pcrp, and send only forgeries of
many flows that are smaller than the honest ones: root sends from PCRP's own port, UID 65534 from a port that it may
bind. The forgers start before the honest flows.
"""
import os
import signal
import socket
import struct
import time

from closlab import pcrp, topo
from closlab.guest import sleep_until
from closlab.params import Param
from closlab.results import mean
from closlab.tcp import goodputs

PARAMS = [
    Param("rate", "rate", "10gbit", "rate of all links"),
    Param("delay", "time", "4us", "delay of each link"),
    Param("forgers", "count", "10", "number of forging hosts"),
    Param("forged", "count", "64", "concurrent flows of each forger"),
    Param("every", "time", "5ms", "interval of REQUEST, PROBE and, with `data`, data of each forged flow"),
    Param("flows", "count", "4", "number of honest flows"),
    Param("start", "time", "20ms", "start of the honest flows after the forgers' start"),
    Param("warmup", "time", "20ms", "time of the honest flows before the measurement"),
    Param("time", "time", "200ms", "duration of the measurement"),
    Param("buffer", "size", "1M", "buffer of each port"),
    Param("gso", "size", "11600", "longest GSO packet of hosts with PCRP"),
]
SMALL = {"forged": "16", "start": "6ms", "warmup": "4ms", "time": "10ms", "flows": "2"}
SCHEMES = ("quiet", "requests", "data")
HONEST = ("h1", "h2", "h3")
RECEIVER = HONEST[0]
PORT = 1021
MESSAGE = struct.Struct("!BBBBHHIIQQQIIIIII")
REQUEST, PROBE = 1, 2
FIRST = 25000           # bytes of a forged flow's first chain; the flow has one byte more
SPORT, DPORT = 20000, 9


# ---- in the guest

def message(kind, sport, flow_no, ask):
    offset = FIRST if kind == PROBE else 0
    return MESSAGE.pack(1, kind, 3, socket.IPPROTO_UDP, sport, DPORT, sport, flow_no, 1, FIRST + 1, offset, 1, FIRST, 0,
                        FIRST, ask, 0)


def udp(port):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("", port))
    return s


def forge(p, host, to, origin, with_data):
    """Send forgeries until the process is killed."""
    topo.enter("/run/netns/" + host)
    control = udp(PORT)
    user = udp(0)           # a port that UID 65534 could bind as well
    flows = [(SPORT + i, udp(SPORT + i)) for i in range(p.forged)]
    sleep_until(origin)
    for flow_no in range(1, 1 << 30):
        for sport, data in flows:
            request = message(REQUEST, sport, flow_no, 1)
            user.sendto(request, (to, PORT))
            control.sendto(request, (to, PORT))
            if with_data:
                data.sendto(b"x", (to, DPORT))
            control.sendto(message(PROBE, sport, flow_no, 2), (to, PORT))
        time.sleep(p.every / 1e9)


def start_forgers(lab, net):
    """Start the forgers' processes. Return: their PIDs."""
    pids = []
    for host in net.hosts():
        if host.name in HONEST or lab.scheme == "quiet":
            continue
        pid = os.fork()
        if not pid:
            forge(lab.params, host.name, net.nodes[RECEIVER].address, lab.origin, lab.scheme == "data")
        pids.append(pid)
    return pids


def guest(lab):
    p = lab.params
    net = topo.star(len(HONEST) + p.forgers, p.rate, p.delay)
    pcrp.build(lab, net, lambda host: "pcrp" if host.name in HONEST else "fq", p.buffer, gso=p.gso)
    total = p.start + p.warmup + p.time
    lab.expect(total)
    lab.begin()
    pids = start_forgers(lab, net)
    topo.program(*lab.generator(net, "--time", "%dns" % total, "--drain", "0ns", "--series", lab.path("series.csv"),
                                "--every", "1ms", "bulk", "src=%s" % ",".join(HONEST[1:]), "dst=" + RECEIVER,
                                "flows=%d" % p.flows, "start=%dns" % p.start, "cc=cubic"))
    with open(lab.path("receiver.txt"), "w", encoding="ascii") as f:
        f.write(topo.run("tc", "-n", RECEIVER, "-s", "-j", "qdisc", "show", "dev", "eth0"))
    for pid in pids:
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)
    lab.end()


# ---- on the host

def report(run):
    p = run.params
    begin, rows, quiet = p.start + p.warmup, [], None
    for scheme in run.schemes:
        honest = goodputs(run.csv(scheme, "series.csv"), begin, begin + p.time)
        quiet = quiet or sum(honest)
        rows.append((scheme, sum(honest) / 1e9, sum(honest) / quiet, mean(honest) / 1e9, min(honest) / 1e9))
    run.text("Goodput of the honest flows while %d hosts forge" % p.forgers, "")
    run.table(("scheme", "Gbit/s", "over quiet", "mean flow, Gbit/s", "smallest flow"), rows)
    if run.schemes[0] != "quiet":
        return
    for row in rows[1:]:
        run.claim(row[0], "goodput of the honest flows with forgers over without", row[2], ">= 0.9")

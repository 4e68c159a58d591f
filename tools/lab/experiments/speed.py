# SPDX-License-Identifier: GPL-2.0-only
"""Speed of the lab: full load on 2, 9, 16 and 128 hosts. tools/lab/speed measures the wall time.

    2       one bulk flow between two hosts
    8to1    eight bulk flows to one host
    16      each host of a star sends to another host
    128     the same on a fat tree (k = 8) with 128 hosts and 80 switches

TCP (cubic) with TSO, frames of 1514 bytes, all links 10 Gbit/s. The experiment itself reports the bytes and frames
that were carried in the virtual time.
"""
import csv

from closlab import topo
from closlab.params import Param

PARAMS = [
    Param("rate", "rate", "10gbit", "rate of each link"),
    Param("delay", "time", "5us", "delay of each link"),
    Param("time", "time", "10ms", "duration of the traffic"),
    Param("queue", "size", "380000", "buffer of each switch port"),
]
SMALL = {"time": "200us"}
SCHEMES = ("2", "8to1", "16", "128")
K = 8                   # arity of the fat tree
SMALL_K = 4


def network(lab):
    p = lab.params
    if lab.scheme == "128":
        return topo.fat_tree(SMALL_K if lab.small else K, p.rate, p.delay)
    return topo.star({"2": 2, "8to1": 9, "16": 16}[lab.scheme], p.rate, p.delay)


def pattern(scheme):
    return {"2": ("bulk", "src=h1", "dst=h2"), "8to1": ("bulk", "src=h2-h9", "dst=h1")}.get(
        scheme, ("permutation",))


def received(node):
    """Return: frames received at all ports of the node."""
    topo.enter("/run/netns/" + node.name)
    with open("/proc/thread-self/net/dev", encoding="ascii") as f:
        counters = dict(line.split(":") for line in f if ":" in line)
    return sum(int(value.split()[1]) for name, value in counters.items() if name.strip() != "lo")


def guest(lab):
    net = network(lab)
    net.build(port_qdisc="bfifo limit %d" % lab.params.queue)
    lab.expect(lab.params.time)
    lab.traffic(net, "--time", "%dns" % lab.params.time, "--flows", lab.path("flows.csv"), *pattern(lab.scheme))
    with open(lab.path("carried.csv"), "w", encoding="ascii", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(("hosts", "time_ns", "link_frames", "host_frames"))
        out.writerow([len(net.hosts()), lab.params.time, sum(map(received, net.nodes.values())),
                      sum(map(received, net.hosts()))])


def report(run):
    rows = []
    for scheme in run.schemes:
        count = run.csv(scheme, "carried.csv").rows()[0]
        flows = run.csv(scheme, "flows.csv")
        gbit = sum(flows["received_bytes"]) * 8 / count["time_ns"]
        rows.append((scheme, count["hosts"], count["time_ns"] / 1e6, gbit, count["host_frames"],
                     count["link_frames"]))
        run.claim("moves-" + scheme,
                  "%s: fewest bytes that a flow delivers" % scheme, min(flows["received_bytes"]), "> 0")
    run.table(("scheme", "hosts", "time (ms)", "goodput (Gbit/s)", "frames received", "frames on links"), rows)

# SPDX-License-Identifier: GPL-2.0-only
"""Shared by experiments with act_lb: policies, leaf-spine fabrics with faults, the setting of a transport, counters."""
import json
import os

from closlab import ndp, pcrp, topo
from closlab.params import Param
from closlab.results import mean, quantile
from closlab.statistics import half_interval as interval
from closlab.tcp import Module

# {scheme: options of act_lb}. A scheme without options has ECMP of the kernel; "wcmp" sets weights by the links' rates.
POLICIES = {
    "ecmp": None,
    "wcmp": None,
    "flow-hash": "granularity flow select hash",
    "flow-quality": "granularity flow select quality",
    "letflow": "granularity flowlet select random",
    "flowlet-quality": "granularity flowlet select quality",
    "random": "granularity packet select random",
    "rr": "granularity packet select rr",
    "drill": "granularity packet select drill",
    "quality": "granularity packet select quality",
    "quality-nocharge": "granularity packet select quality nocharge",
    "glb": "granularity packet select quality glb choose",
}
FABRICS = ("symmetric", "slow", "failed", "halved", "remote", "fat-tree")
SLOW = 4            # slow links have the rate divided by this
DEFAULT = "0.0.0.0/0"
TRANSPORTS = ("cubic", "dctcp", "timely", "ndp", "gbn", "sr")
OF_RDMA = ("roce", "gbn", "sr")     # with packets of RoCEv2
COUNTERS = ("sent_packets", "new_flows", "gaps", "moves", "failovers", "overflows")
NETWORK_PARAMS = [
    Param("leaves", "count", "4", "leaves"),
    Param("spines", "count", "4", "spines"),
    Param("hosts", "count", "4", "hosts at a leaf"),
    Param("mtu", "size", "1500", "MTU of all links"),
    Param("rate", "rate", "10gbit", "rate of all links"),
    Param("delay", "time", "1us", "delay of each link"),
]
PORT_PARAMS = [
    Param("buffer", "count", "400", "buffer of TCP's port, packets"),
    Param("k", "count", "65", "marking threshold of dctcp's port, packets"),
    Param("limit", "count", "8", "data queue of NDP's port, packets"),
]
# TCP's tolerance of reordering, as users can set it
TCP_PARAMS = [
    Param("recovery", "count", "1", "net.ipv4.tcp_recovery of the hosts; 0: no RACK, losses by tcp_reordering alone"),
    Param("reordering", "count", "3", "net.ipv4.tcp_reordering of the hosts"),
]


# ---- in the guest

def fabric(kind, leaves, spines, hosts, rate, delay, mtu):
    """Return: a leaf-spine network, or a fat tree with HOSTS per edge switch, the leaves.

    "slow": the last spine is slow. "failed": the routes know that the link between the first leaf and the first spine
    is down. "halved": this link has half of its rate, as a bond that has lost a member, and the routes are the same.
    "remote": the link from the first spine to the first leaf is slow, and the leaves' own links are not.
    """
    if kind == "fat-tree":
        if leaves != 2 * hosts * hosts:
            raise RuntimeError("a fat tree with hosts=%d needs leaves=%d" % (hosts, 2 * hosts * hosts))
        return topo.fat_tree(2 * hosts, rate, delay, mtu=mtu)
    net = topo.leaf_spine(leaves, spines, hosts, rate, delay, mtu=mtu)
    if kind == "slow":
        for port in net.nodes["spine%d" % spines].ports.values():
            port.rate = port.peer.rate = rate // SLOW
    if kind == "halved":
        port = net.nodes["leaf1"].port("spine1")
        port.rate = port.peer.rate = rate // 2
    if kind == "remote":
        net.nodes["spine1"].port("leaf1").rate = rate // SLOW
    if kind == "failed":
        fail(net, net.nodes["leaf1"], net.nodes["spine1"])
    return net


def fail(net, leaf, spine):
    """Remove a link and its routes."""
    gone = leaf.ports.pop(spine.name)
    del spine.ports[leaf.name]
    net.links = [link for link in net.links if gone not in link]
    prefix = next(prefix for prefix, names in spine.routes if names == [leaf.name])
    spine.routes.remove((prefix, [leaf.name]))
    tops = [name for name in leaf.routes[-1][1] if name != spine.name]
    leaf.routes[-1] = (leaf.routes[-1][0], tops)
    for other in net.switches():
        if other is not leaf and spine.name in other.ports:
            other.routes.append((prefix, tops))


def by_prefix(net):
    """Replace each leaf's default route by one for each other leaf, as BGP has them: act_lb's adverts are by prefix."""
    leaves = [switch for switch in net.switches() if any(prefix == DEFAULT for prefix, _ in switch.routes)]
    if any(not port.peer.node.is_host for leaf in leaves for name, port in leaf.ports.items()
           if name not in dict(leaf.routes)[DEFAULT]):
        raise RuntimeError("prefixes and glb are for networks of two tiers")
    for leaf in leaves:
        tops = dict(leaf.routes)[DEFAULT]
        known = {prefix for prefix, _ in leaf.routes}
        others = [other.address.rsplit(".", 1)[0] + ".0/24" for other in leaves if other is not leaf]
        leaf.routes = [route for route in leaf.routes if route[0] != DEFAULT] + [
            (prefix, tops) for prefix in others if prefix not in known]


def build(lab, net, transport, limit=8, buffer=400, k=65, seed=None, rto_min=5_000_000, words=None, prepare=None):
    """Build the network for a TRANSPORT, with act_lb at the switches' ports towards the hosts.

    BUFFER and K: packets. WORDS: options of act_lb; default: those of the scheme. With `glb`, which is for leaf-spine
    networks, the spines advertise the quality of their links. PREPARE(net) may change the network before it is built.
    """
    rate = net.host_ports()[0].rate
    for port in net.switch_ports():
        port.ring = 2           # packets wait in the qdisc
        port.qdisc = ndp.qdisc(limit) if transport == "ndp" else \
            ndp.beside(transport if transport == "dctcp" else "cubic", net.mtu + 14, rate, buffer, k)
    for port in net.host_ports():
        port.ring, port.qdisc = 4, ndp.HOST_QDISC if transport == "ndp" else "fq"
    if transport == "ndp":
        lab.module("sch_ndp")
        lab.module("ndp")
        net.host_sysctls.update(("ndp/" + name, str(value)) for name, value in ndp.PAPER.items())
    else:
        net.host_sysctls["ipv4/tcp_rto_min_us"] = str(rto_min // 1000)
        for name in ("recovery", "reordering"):
            if hasattr(lab.params, name):
                net.host_sysctls["ipv4/tcp_" + name] = str(getattr(lab.params, name))
    timely = Module(lab, "tcp_timely", source="sw") if transport == "timely" else None
    if prepare:
        prepare(net)
    words = words or POLICIES.get(lab.scheme)
    glb = "glb" in (words or "").split()
    if glb:
        by_prefix(net)
    net.build(seed=seed)
    if timely:
        timely.set()
    balance(lab, net, words)
    for spine in spines(net) if glb else ():
        attach(spine, spine.ports.values(), "glb tell")


def vary_hashes(net, seed):
    """Choose other paths for the kernel's ECMP: seeds of the switches' hashes that depend on SEED."""
    for i, switch in enumerate(net.switches()):
        with topo.inside(switch):
            # 32 bits; 0 selects a seed of the kernel's
            topo.sysctl("ipv4/fib_multipath_hash_seed", str((1000 * seed + i) % (2**32 - 1) + 1))


def balanced(switch):
    """Return: (ports where packets arrive that have several next hops, the ports of these)."""
    hops = {name for _, names in switch.routes for name in names if len(names) > 1}
    return ([port for name, port in switch.ports.items() if hops and name not in hops],
            [port for name, port in switch.ports.items() if name in hops])


def spines(net):
    """Return: switches without a choice of next hops."""
    return [switch for switch in net.switches() if not balanced(switch)[0]]


def balance(lab, net, words):
    """Let the switches use act_lb with the options WORDS, if any. An action serves all ports of a switch."""
    if words:
        lab.module("act_lb")
    for switch in net.switches():
        ports, up = balanced(switch)
        if words and ports:
            attach(switch, ports, words)
        if lab.scheme == "wcmp":
            weigh(switch, min(port.rate for port in up) if up else 0)


def attach(switch, ports, words):
    """Create the action with the options WORDS, and attach it to the ingress of PORTS."""
    lines = ["actions add action lb %s index 1" % words]
    for port in ports:
        lines += ["qdisc add dev %s clsact" % port.dev,
                  "filter add dev %s ingress matchall action lb index 1" % port.dev]
    topo.run("tc", "-n", switch.name, "-batch", "-", text=lines)


def weigh(switch, unit):
    """Give next hops weights in proportion to the links' rates, in units of UNIT bit/s."""
    for prefix, names in switch.routes:
        if len(names) > 1:
            hops = [switch.port(name) for name in names]
            words = ["nexthop via %s dev %s weight %d onlink" % (p.peer.node.address, p.dev, p.rate // unit)
                     for p in hops]
            topo.run("ip", "-n", switch.name, "route", "replace", prefix, *" ".join(words).split())


def remove(net):
    """Delete the network, so that another can be built."""
    topo.run("ip", "-batch", "-", text=["netns del " + name for name in net.nodes])


def counts(lab, net):
    """Return: {name: sum of all nodes} of act_lb's and the hosts' counters."""
    sums = dict.fromkeys(COUNTERS + pcrp.OF_TCP, 0)
    for switch in net.switches() if os.path.isdir("/sys/module/act_lb") else ():
        if balanced(switch)[0]:
            add_action(sums, switch, COUNTERS)
    for host in net.hosts():
        for name, value in zip(pcrp.OF_TCP, pcrp.of_tcp(host)):
            sums[name] += value
    if os.path.exists(ndp.SNMP):
        sums.update(ndp.counts(net))
    return sums


def add_action(sums, switch, names):
    """Add the counters NAMES of the switch's action."""
    found = json.loads(topo.run("tc", "-n", switch.name, "-s", "-j", "actions", "get", "action", "lb", "index", "1"))
    for entry in found:
        for action in entry.get("actions", ()):
            for name in names:
                sums[name] += action[name]


def write_counts(lab, net, path, before, read=counts):
    """Write the increase of all counters since BEFORE, an earlier READ(), to a CSV file. Return: READ().

    RuntimeError if act_lb is there and has left all packets to the stack, as it does while ndp.ko has hooks at the
    ingress of all devices.
    """
    now = read(lab, net)
    if os.path.isdir("/sys/module/act_lb") and now["sent_packets"] == before["sent_packets"]:
        raise RuntimeError("act_lb has balanced no packet")
    with open(path, "w", encoding="ascii") as f:
        f.write("name,count\n")
        for name, value in now.items():
            f.write("%s,%d\n" % (name, value - before.get(name, 0)))
    return now


def poisson_ns(params, sizes, load):
    """Return: time in which about params.flows flows of a Poisson process start."""
    hosts = params.leaves * params.hosts
    return int(params.flows * pcrp.wire_bytes(pcrp.mean_bytes(sizes)) * 8e9 / (load * params.rate * hosts))


def poisson(lab, net, case, number, transport, sizes, load, before, read=counts):
    """Measure Poisson arrivals of run NUMBER; write flows and counters of CASE, from READ. Return: READ()."""
    p = lab.params
    name = "%s-%d.csv" % (case, number)
    vary_hashes(net, 1000 * lab.seed + number)
    lab.traffic(net, "--seed", 1000 * lab.seed + number, "--time", "%dns" % poisson_ns(p, sizes, load), "--drain",
                "%dns" % p.drain, "--flows", lab.path("flows-" + name), "poisson",
                "load=%.9f" % (load * pcrp.data_share(sizes)), "cdf=" + pcrp.cdf(sizes), transport_words(transport))
    return write_counts(lab, net, lab.path("counts-" + name), before, read)


def transport_words(transport):
    return ("transport=" if transport in ("ndp", *OF_RDMA) else "cc=") + transport


# ---- on the host

def headers(transport):
    """Return: bytes of headers per packet, IP included."""
    return 20 + 8 + 12 + 4 if transport in OF_RDMA else ndp.headers(transport)


def again(transport, rows, count):
    """Return: number of retransmitted packets, from the ROWS of flows.csv and the counters; of rxe, useless ones."""
    if transport == "roce":
        return count["duplicate_request"] + count["out_of_seq_request"]
    if transport in OF_RDMA:
        return sum(row["sent_packets"] - row["whole_packets"] for row in rows)
    return count[ndp.RTX if transport == "ndp" else "TcpRetransSegs"]


def read_counts(run, scheme, name):
    """Return: {counter: value} of a file of write_counts()."""
    table = run.csv(scheme, name)
    return dict(zip(table["name"], table["count"]))


class Slowdowns:
    """Slowdowns of the flows of run NUMBER of poisson() for whose row KEEP() is true.

    mean, p99   of the flows that ended
    unfinished  number of all flows that did not end
    count       {counter: value}
    again       retransmitted packets, % of all flows' packets
    """

    def __init__(self, run, scheme, case, number, transport, keep=lambda row: True):
        name = "%s-%d.csv" % (case, number)
        rows = run.csv(scheme, "flows-" + name).rows()
        done = [row["slowdown"] for row in rows if row["state"] == "done" and keep(row)]
        self.unfinished = sum(row["state"] != "done" for row in rows)
        self.mean, self.p99 = mean(done), quantile(done, 0.99)
        self.count = read_counts(run, scheme, "counts-" + name)
        packets = sum(-(-row["bytes"] // (run.params.mtu - headers(transport))) for row in rows)
        self.again = 100 * again(transport, rows, self.count) / packets


def with_interval(values):
    """Return: text "MEAN +- HALF", or the value if there is one: then `lab sweep` gives the interval over the seeds."""
    return "%.3f +- %.3f" % (mean(values), interval(values)) if len(values) > 1 else values[0]


def errors(several):
    """Return: half intervals of SEVERAL lists of values for error bars, or None if each has one value: see above."""
    return [interval(values) for values in several] if any(len(values) > 1 for values in several) else None


def bound(kind, leaves, spines, hosts, pairs):
    """Return: the fluid bound of the sum of all flows, in rates of a host's link.

    PAIRS: (source, destination) of each flow, numbers of leaves. The
    flows of a leaf cannot have more than its working uplinks together, in each direction.
    """
    sums = []
    for end in (0, 1):
        room = [spines - (1 - 1 / SLOW if kind == "slow" else 0)] * leaves
        if kind == "failed":
            room[0] -= 1
        if kind == "halved":
            room[0] -= 0.5
        if kind == "remote" and end:
            room[0] -= 1 - 1 / SLOW
        crossing = [sum(a != b and (a, b)[end] == leaf for a, b in pairs) for leaf in range(leaves)]
        sums.append(sum(map(min, crossing, room)))
    return sum(a == b for a, b in pairs) + min(sums)

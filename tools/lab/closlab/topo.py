# SPDX-License-Identifier: GPL-2.0-only
"""Topologies in the guest: hosts and switches are network namespaces, links are pairs of closwire NICs.

    net = topo.leaf_spine(leaves=4, spines=4, hosts=8, rate=10 * topo.GBIT, delay=1000)
    net.build(host_qdisc="fq", port_qdisc="red limit 1000000 ...")

A host's device is eth0; a switch's device is named after the neighbour. The
addresses are those of the fat-tree paper (Al-Fares et al., SIGCOMM 2008):
10.POD.SWITCH.HOST, so that a route is a prefix. Each switch has one address,
on its lo, and is the gateway on all of its links. Neighbours are permanent and
IPv6 is off, so hosts and switches send no ARP or other packets by themselves.
"""
import contextlib
import ctypes
import fcntl
import os
import socket
import struct
import subprocess

from closlab import virtual

GBIT = 10**9
ETHERNET_HEADER = 14
CLONE_NEWNET = 0x40000000
SIOCETHTOOL = 0x8946
ETHTOOL_SCOALESCE = 0x0f
ETHTOOL_SGRO = 0x2c
SIOCSHWTSTAMP = 0x89b0
HWTSTAMP_FILTER_ALL = 1

# Hosts share the guest's memory, but not its limits: either a run has enough memory, or it fails.
GUEST_SYSCTLS = {"ipv4/tcp_mem": "2147483647 2147483647 2147483647", "ipv4/udp_mem": "2147483647 2147483647 2147483647"}
HOST_SYSCTLS = {
    "ipv4/tcp_no_metrics_save": "1",
    # limits of autotuning: 100 Gbit/s times some ms
    "ipv4/tcp_rmem": "4096 131072 67108864",
    "ipv4/tcp_wmem": "4096 16384 67108864",
}
SWITCH_SYSCTLS = {
    "ipv4/ip_forward": "1",
    "ipv4/ip_early_demux": "0",     # a switch has no sockets
    # ECMP by the five-tuple: skb->hash of the sender's socket survives between namespaces
    "ipv4/fib_multipath_hash_policy": "3",
    "ipv4/fib_multipath_hash_fields": "0x37",
}


# {protocol: {closwire's option: ns}} of --cpu, see closlab.cpu; empty: the hosts' CPUs take no time
cpu_costs = {}


class Port:
    """One end of a link: the device `dev` in the node's namespace."""

    def __init__(self, node, dev, mac, rate, delay):
        self.node, self.dev, self.mac = node, dev, mac
        self.rate, self.delay = rate, delay     # in the direction of transmission
        self.peer = None
        self.qdisc = None                       # default: that of build()
        self.ring = None                        # packets; default: closwire's
        self.gso = None                         # bytes of the longest GSO packet; default: the device's limit
        self.rx_usecs = 0                       # interrupt moderation
        self.clock_offset = self.clock_drift = 0    # of the PTP clock, in ns and ppb
        self.sampled = None                     # class, as "1:2", whose qdisc is sampled; default: the root's

    def name(self):
        """Return: the port's name for the sampler."""
        return self.node.name + "/" + self.dev + ("," + self.sampled if self.sampled else "")


class Node:
    """A host or a switch, in the network namespace of the same name."""

    def __init__(self, name, address, leaf=None, pod=None):
        self.name, self.address, self.leaf, self.pod = name, address, leaf, pod
        self.is_host = leaf is not None
        self.rdma = None        # "rxe" (RoCEv2) or "siw" (iWARP): RDMA device of that name on eth0
        self.ports = {}         # by the neighbour's name
        self.routes = []        # (prefix, neighbours' names)

    def port(self, neighbour):
        return self.ports[neighbour]


class Network:
    """Nodes and links. build() creates them."""

    def __init__(self, mtu=1500):
        self.mtu = mtu
        self.nodes = {}
        self.links = []
        self.host_sysctls = dict(HOST_SYSCTLS)
        self.switch_sysctls = dict(SWITCH_SYSCTLS)

    def host(self, name, address, leaf, pod):
        self.nodes[name] = Node(name, address, leaf, pod)
        return self.nodes[name]

    def switch(self, name, address):
        self.nodes[name] = Node(name, address)
        return self.nodes[name]

    def hosts(self):
        return [n for n in self.nodes.values() if n.is_host]

    def switches(self):
        return [n for n in self.nodes.values() if not n.is_host]

    def link(self, a, b, rate, delay):
        """Add a link between nodes A and B."""
        ends = []
        for node, other in ((a, b), (b, a)):
            number = 2 * len(self.links) + len(ends)
            mac = "02:%02x:%02x:%02x:%02x:%02x" % tuple(number.to_bytes(5, "big"))
            port = Port(node, "eth0" if node.is_host else other.name, mac, rate, delay)
            node.ports[other.name] = port
            ends.append(port)
        ends[0].peer, ends[1].peer = ends[1], ends[0]
        self.links.append(tuple(ends))

    def attach(self, host, switch, rate, delay):
        """Add a link between a host and its switch, and the routes."""
        self.link(host, switch, rate, delay)
        host.routes.append(("0.0.0.0/0", [switch.name]))
        switch.routes.append((host.address + "/32", [host.name]))

    def rdma(self, kind):
        """Give each host an RDMA device, named like the host: "rxe" (RoCEv2) or "siw" (iWARP). Return: this network"""
        for host in self.hosts():
            host.rdma = kind
        return self

    def switch_ports(self):
        return [p for n in self.switches() for p in n.ports.values()]

    def host_ports(self):
        return [p for n in self.hosts() for p in n.ports.values()]

    # ---- paths

    def path(self, a, b):
        """Return: egress ports on a shortest path from A to B."""
        ways = [(a, [])]
        seen = {a}
        for node, ports in ways:
            if node is b:
                return ports
            for port in node.ports.values():
                if port.peer.node not in seen:
                    seen.add(port.peer.node)
                    ways.append((port.peer.node, ports + [port]))
        raise ValueError("no path from %s to %s" % (a.name, b.name))

    def paths(self):
        """Return: {distance: path}, with an example of each distance in the network."""
        hosts = self.hosts()
        found = {}
        for a in (hosts[0], hosts[-1]):
            for b in hosts:
                distance = "same-leaf" if (a.pod, a.leaf) == (b.pod, b.leaf) else \
                    "same-pod" if a.pod == b.pod else "far"
                if a is not b and distance not in found:
                    found[distance] = self.path(a, b)
        return found

    def write_hosts(self, path):
        """Write the file of hosts for tools/lab/traffic."""
        with open(path, "w", encoding="ascii") as f:
            f.write("mtu %d\n" % self.mtu)
            for h in self.hosts():
                f.write("host %s %s %s %d %d\n" % (h.name, h.name, h.address, h.leaf, h.pod))
            for distance, ports in self.paths().items():
                f.write("path %s %s\n" % (distance, " ".join("%d:%d" % (p.rate, p.delay) for p in ports)))

    # ---- creation

    def build(self, host_qdisc=None, port_qdisc=None, seed=None, rx_stamps=False):
        """Create namespaces, links, addresses, routes and qdiscs.

        host_qdisc, port_qdisc: words of tc after "root", or a list of lines that begin with root, parent or filter.
        seed: the switches' ECMP hashes have seed, seed + 1, ...; default: the run's --seed
        rx_stamps: hosts' NICs stamp all received packets.
        """
        # permit all congestion controls
        with open("/proc/sys/net/ipv4/tcp_available_congestion_control", encoding="ascii") as f:
            sysctl("ipv4/tcp_allowed_congestion_control", f.read())
        for name, value in GUEST_SYSCTLS.items():
            sysctl(name, value)
        if seed is None:
            seed = virtual.run_seed
        if not os.path.isdir("/sys/module/closwire"):   # an earlier network needed it
            run("insmod", os.environ["CLOSNET_MODDIR"] + "/closwire.ko")
        run("ip", "-batch", "-", text=self.links_batch())
        for number, node in enumerate(self.nodes.values()):
            with inside(node):
                self.settings(node, seed + number)
                if rx_stamps and node.is_host:
                    stamp_received("eth0")
                run("ip", "-batch", "-", text=node_batch(node))
                batch = qdisc_batch(node, host_qdisc if node.is_host else port_qdisc)
                if batch:
                    run("tc", "-batch", "-", text=batch)
                if node.rdma:
                    run("rdma", "link", "add", node.name, "type", node.rdma, "netdev", "eth0")

    def links_batch(self):
        lines = ["netns add " + name for name in self.nodes]
        for a, b in self.links:
            lines.append("link add %s %s netns %s type closwire %s peer name %s %s netns %s type closwire %s" % (
                a.dev, self.device_words(a), a.node.name, wire_words(a),
                b.dev, self.device_words(b), b.node.name, wire_words(b)))
        return lines

    def device_words(self, port):
        return "address %s mtu %d" % (port.mac, self.mtu)

    def settings(self, node, hash_seed):
        """Set sysctls and device settings of the node."""
        values = dict(self.host_sysctls if node.is_host else self.switch_sysctls)
        if not node.is_host:
            # with equal seeds, all tiers would choose alike and leave most paths unused
            values["ipv4/fib_multipath_hash_seed"] = str(hash_seed % 2**32 or 1)
        for name, value in values.items():
            sysctl(name, value)
        for port in node.ports.values():
            if not node.is_host:
                ethtool(port.dev, ETHTOOL_SGRO, 0)      # switches do not merge packets
            if port.rx_usecs:
                moderate(port.dev, port.rx_usecs)


def wire_words(port):
    words = "rate %dbit delay %dns" % (port.rate, port.delay)
    if port.ring:
        words += " ring %d" % port.ring
    if port.clock_offset:
        words += " clock_offset %dns" % port.clock_offset
    if port.clock_drift:
        words += " clock_drift %d" % port.clock_drift
    return words + cpu_words(port.node)


def cpu_words(node):
    """Return: options for the cost of the node's CPU, with costs of NDP's packets if NDP is loaded. Switches, and hosts
    whose NICs do RDMA, have none: without the options, a port would have those of its peer."""
    costs = cpu_costs.get("ndp" if os.path.isdir("/sys/module/ndp") else "tcp", {})
    costs = costs if node.is_host and not node.rdma else dict.fromkeys(costs, 0)
    return "".join(" %s %dns" % item for item in costs.items())


def node_batch(node):
    """Return: lines for `ip -batch` in the node's namespace."""
    ports = list(node.ports.values())
    lines = ["link set lo up"]
    lines.append("addr add %s/32 dev %s" % (node.address, "eth0" if node.is_host else "lo"))
    for port in ports:
        lines.append("link set %s addrgenmode none up" % port.dev)
        if port.gso:
            lines.append("link set %s gso_max_size %d" % (port.dev, port.gso))
    for port in ports:
        lines.append("neigh add %s lladdr %s dev %s nud permanent" % (
            port.peer.node.address, port.peer.mac, port.dev))
    for prefix, neighbours in node.routes:
        hops = [node.port(n) for n in neighbours]
        if hops[0].peer.node.is_host:
            lines.append("route add %s dev %s" % (prefix, hops[0].dev))
            continue
        words = ["via %s dev %s onlink" % (p.peer.node.address, p.dev) for p in hops]
        if len(words) > 1:
            words = ["nexthop " + w for w in words]
        lines.append("route add %s %s" % (prefix, " ".join(words)))
    return lines


def qdisc_batch(node, default):
    lines = []
    for port in node.ports.values():
        words = default if port.qdisc is None else port.qdisc
        if isinstance(words, str):
            words = ["root " + words]
        for line in words or ():
            what, rest = ("filter add", line[7:]) if line.startswith("filter ") else ("qdisc replace", line)
            lines.append("%s dev %s %s" % (what, port.dev, rest))
    return lines


def run(*command, text=()):
    """Run a command of the set-up. Return: its output. RuntimeError with its error message if it fails."""
    virtual.next_command()
    result = subprocess.run(command, input="\n".join(text) + "\n", capture_output=True, text=True)
    if result.returncode:
        raise RuntimeError("%s: status %d: %s" % (" ".join(command), result.returncode, result.stderr.strip()))
    return result.stdout


class Failed(RuntimeError):
    """A program has printed an error message and exited with a status."""

    def __init__(self, name, status):
        super().__init__("%s: status %d" % (name, status))
        self.status = status


def program(*command):
    """Run a command with this process's output. Failed if it fails."""
    result = subprocess.run([str(word) for word in command], check=False)
    if result.returncode:
        raise Failed(os.path.basename(command[0]), result.returncode)


def sysctl(name, value):
    with open("/proc/sys/net/" + name, "w", encoding="ascii") as f:
        f.write(value)


def set_namespace(fd):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(fd, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


def enter(path):
    """Enter a network namespace, with this process and the programs that it starts."""
    fd = os.open(path, os.O_RDONLY)
    try:
        set_namespace(fd)
    finally:
        os.close(fd)


@contextlib.contextmanager
def inside(node):
    """Context manager: enter the node's namespace without starting a program."""
    here = os.open("/proc/self/ns/net", os.O_RDONLY)
    try:
        enter("/run/netns/" + node.name)
        yield
    finally:
        set_namespace(here)
        os.close(here)


def device_ioctl(dev, number, value):
    """Call an ioctl with a struct ifreq that points to VALUE. Return: VALUE as the ioctl has changed it"""
    buffer = ctypes.create_string_buffer(value)
    request = struct.pack("16sP16x", dev.encode(), ctypes.addressof(buffer))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        fcntl.ioctl(s, number, request)
    return buffer.raw


def ethtool(dev, command, *values):
    """Call ethtool's ioctl. The command's structure consists of 32-bit VALUES."""
    device_ioctl(dev, SIOCETHTOOL, struct.pack("I%dI" % len(values), command, *values))


def moderate(dev, rx_usecs):
    """Set interrupt moderation, like ethtool -C DEV rx-usecs."""
    ethtool(dev, ETHTOOL_SCOALESCE, rx_usecs, *[0] * 21)    # the second field of struct ethtool_coalesce


def stamp_received(dev):
    """Let the NIC stamp all received packets."""
    device_ioctl(dev, SIOCSHWTSTAMP, struct.pack("3i", 0, 0, HWTSTAMP_FILTER_ALL))


# ---- shapes

def star(hosts, rate, delay, mtu=1500):
    """h1, h2, ... around the switch "switch"."""
    net = Network(mtu)
    switch = net.switch("switch", "10.0.0.1")
    for i in range(hosts):
        # more hosts than one byte counts use the next leaf's prefix
        net.attach(net.host("h%d" % (i + 1), "10.0.%d.%d" % divmod(i + 2, 256), 0, 0), switch, rate, delay)
    return net


def dumbbell(pairs, rate, delay, bottleneck, bottleneck_delay, mtu=1500):
    """s1, s2, ... at the switch "left", r1, r2, ... at "right", and one link of the rate `bottleneck` between them."""
    net = Network(mtu)
    sides = (net.switch("left", "10.0.0.1"), net.switch("right", "10.0.1.1"))
    for leaf, (switch, name) in enumerate(zip(sides, "sr")):
        for i in range(pairs):
            net.attach(net.host("%s%d" % (name, i + 1), "10.0.%d.%d" % (leaf, i + 2), leaf, 0), switch, rate, delay)
    net.link(*sides, bottleneck, bottleneck_delay)
    sides[0].routes.append(("0.0.0.0/0", ["right"]))
    sides[1].routes.append(("0.0.0.0/0", ["left"]))
    return net


def parking_lot(hosts, rate, delay, mtu=1500):
    """The switches s1, s2, ... in a row with a host h1, h2, ... each; host r is also at the last switch."""
    net = Network(mtu)
    row = [net.switch("s%d" % (i + 1), "10.0.%d.1" % i) for i in range(hosts)]
    for i, switch in enumerate(row):
        net.attach(net.host("h%d" % (i + 1), "10.0.%d.2" % i, i, 0), switch, rate, delay)
    net.attach(net.host("r", "10.0.%d.3" % (hosts - 1), hosts - 1, 0), row[-1], rate, delay)
    for i, (left, right) in enumerate(zip(row, row[1:])):
        net.link(left, right, rate, delay)
        right.routes += [("10.0.%d.0/24" % j, [left.name]) for j in range(i + 1)]
        left.routes += [("10.0.%d.0/24" % j, [right.name]) for j in range(i + 1, hosts)]
    return net


def leaf_spine(leaves, spines, hosts, rate, delay, uplink=None, mtu=1500):
    """`hosts` at each of leaf1, leaf2, ...; each leaf has a link of rate `uplink` to each of spine1, spine2, ..."""
    net = Network(mtu)
    tops = [net.switch("spine%d" % (j + 1), "10.255.%d.1" % j) for j in range(spines)]
    for i in range(leaves):
        leaf = net.switch("leaf%d" % (i + 1), "10.0.%d.1" % i)
        for n in range(hosts):
            host = net.host("h%d" % (i * hosts + n + 1), "10.0.%d.%d" % (i, n + 2), i, 0)
            net.attach(host, leaf, rate, delay)
        for top in tops:
            net.link(leaf, top, uplink or rate, delay)
            top.routes.append(("10.0.%d.0/24" % i, [leaf.name]))
        leaf.routes.append(("0.0.0.0/0", [top.name for top in tops]))
    return net


def two_pods(hosts, rate, delay, mtu=1500):
    """The testbed of the DCQCN paper, figure 2: two ToRs and two leaves in each of two pods, two spines.

    ToRs t1 to t4 with the hosts h11, h12, ... to h41, h42, ...; leaves l1 to l4, spines s1 and s2.
    """
    net = Network(mtu)
    spines = [net.switch("s%d" % (j + 1), "10.2.%d.1" % j) for j in range(2)]
    for pod in range(2):
        leaves = [net.switch("l%d" % (2 * pod + j + 1), "10.%d.%d.1" % (pod, 2 + j)) for j in range(2)]
        for i in range(2):
            tor = net.switch("t%d" % (2 * pod + i + 1), "10.%d.%d.1" % (pod, i))
            for n in range(hosts):
                host = net.host("h%d%d" % (2 * pod + i + 1, n + 1), "10.%d.%d.%d" % (pod, i, n + 2), i, pod)
                net.attach(host, tor, rate, delay)
            for leaf in leaves:
                net.link(tor, leaf, rate, delay)
                leaf.routes.append(("10.%d.%d.0/24" % (pod, i), [tor.name]))
            tor.routes.append(("0.0.0.0/0", [leaf.name for leaf in leaves]))
        for leaf in leaves:
            for spine in spines:
                net.link(leaf, spine, rate, delay)
            leaf.routes.append(("0.0.0.0/0", [spine.name for spine in spines]))
        for spine in spines:
            spine.routes.append(("10.%d.0.0/16" % pod, [leaf.name for leaf in leaves]))
    return net


def fat_tree(k, rate, delay, mtu=1500):
    """The k-ary fat tree: k pods of k/2 edge and k/2 aggregation switches, (k/2)^2 core switches, k^3/4 hosts.

    Hosts h1, h2, ...; switches eP-I (edge), aP-I (aggregation), cJ-I (core).
    """
    half = k // 2
    net = Network(mtu)
    cores = [[net.switch("c%d-%d" % (j, i), "10.%d.%d.%d" % (k, j + 1, i + 1)) for i in range(half)]
             for j in range(half)]
    for pod in range(k):
        aggregation = [net.switch("a%d-%d" % (pod, j), "10.%d.%d.1" % (pod, half + j)) for j in range(half)]
        for i in range(half):
            edge = net.switch("e%d-%d" % (pod, i), "10.%d.%d.1" % (pod, i))
            for n in range(half):
                host = net.host("h%d" % ((pod * half + i) * half + n + 1), "10.%d.%d.%d" % (pod, i, n + 2), i, pod)
                net.attach(host, edge, rate, delay)
            for switch in aggregation:
                net.link(edge, switch, rate, delay)
                switch.routes.append(("10.%d.%d.0/24" % (pod, i), [edge.name]))
            edge.routes.append(("0.0.0.0/0", [switch.name for switch in aggregation]))
        for j, switch in enumerate(aggregation):
            for core in cores[j]:
                net.link(switch, core, rate, delay)
                core.routes.append(("10.%d.0.0/16" % pod, [switch.name]))
            switch.routes.append(("0.0.0.0/0", [core.name for core in cores[j]]))
    return net

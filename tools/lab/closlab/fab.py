# SPDX-License-Identifier: GPL-2.0-only
"""Shared by experiments with closfab: devices at the leaves, and their counters."""
import json

from closlab import topo

# the fabric's links carry the outer headers, so that hosts keep their MTU
OVERHEAD = 100
MAXIMA = ("rx_fifos_max", "rx_held_bytes_max")     # since the device was created
COUNTERS = ("tx_ordered", "tx_cells", "tx_conweave", "tx_tails", "tx_moves", "tx_replies", "tx_clears", "tx_notifies",
            "rx_passed", "rx_released", "rx_late", "rx_unheld", "rx_stray", "rx_unordered", "rx_skipped", "rx_fifos",
            "rx_timers", "rx_broken_cells")


def prefer_control(net, loss=0):
    """Let the fabric's ports send control packets (CS6) first, as ConWeave expects, and lose LOSS % of them.

    Call it before net.build().
    """
    for port in net.switch_ports():
        if not port.peer.node.is_host:
            port.qdisc = ["root handle 1: prio bands 2 priomap " + " ".join(16 * "1"),
                          "parent 1:1 " + ("netem limit 1000 loss %g%%" % loss if loss else "pfifo limit 1000"),
                          "parent 1:2 " + port.qdisc,
                          "filter parent 1: protocol ip flower ip_tos 0xc0/0xfc classid 1:1"]


def leaves(net):
    """Return: switches with hosts."""
    return [switch for switch in net.switches() if any(port.peer.node.is_host for port in switch.ports.values())]


def attach(lab, net, words):
    """Create a device with the options WORDS at each leaf of a leaf-spine network, for the prefixes of the others."""
    lab.module("closfab")
    for switch in net.switches():
        lines = ["link set %s mtu %d" % (port.dev, net.mtu + OVERHEAD) for port in switch.ports.values()
                 if not port.peer.node.is_host]
        topo.run("ip", "-n", switch.name, "-batch", "-", text=lines)
    for leaf in leaves(net):
        tops = [leaf.port(name) for name in leaf.routes[-1][1]]
        hops = " ".join("nexthop via %s dev %s onlink" % (port.peer.node.address, port.dev) for port in tops)
        lines = ["link add fab0 type closfab local %s %s" % (leaf.address, words),
                 "link set fab0 mtu %d up" % net.mtu]
        for other in leaves(net):
            if other is not leaf:
                lines += ["route add %s/32 %s" % (other.address, hops),
                          "route add %s.0/24 encap ip dst %s dev fab0" % (other.address.rsplit(".", 1)[0],
                                                                          other.address)]
        topo.run("ip", "-n", leaf.name, "-batch", "-", text=lines)


def disordered(net):
    """Return: number of segments that the hosts' TCP has queued out of order."""
    total = 0
    for host in net.hosts():
        lines = topo.run("ip", "netns", "exec", host.name, "cat", "/proc/net/netstat").splitlines()
        names, values = (line.split() for line in lines if line.startswith("TcpExt:"))
        total += int(values[names.index("TCPOFOQueue")])
    return total


def uplinks(net):
    """Return: {name of an uplink: bytes that its leaf has sent}."""
    found = {}
    for leaf in leaves(net):
        for link in json.loads(topo.run("ip", "-n", leaf.name, "-s", "-j", "link")):
            for name, port in leaf.ports.items():
                if port.dev == link["ifname"] and not port.peer.node.is_host:
                    found["%s-%s" % (leaf.name, name)] = link["stats64"]["tx"]["bytes"]
    return found


def counters(leaf):
    """Return: {counter: value} of the leaf's device."""
    lines = topo.run("ip", "netns", "exec", leaf.name, "ethtool", "-S", "fab0").splitlines()[1:]
    return {name.strip(): int(value) for name, _, value in (line.partition(": ") for line in lines)}


def counts(net):
    """Return: {counter: sum of all devices}."""
    found = [counters(leaf) for leaf in leaves(net)]
    return {name: sum(device[name] for device in found) for name in COUNTERS}


def maxima(net):
    """Return: {counter of MAXIMA: the largest of all devices}."""
    found = [counters(leaf) for leaf in leaves(net)]
    return {name: max(device[name] for device in found) for name in MAXIMA}

# SPDX-License-Identifier: GPL-2.0-only
"""Shared by experiments with RDMA: sizes of RoCEv2's packets, priorities of switches, counters of rxe."""
from closlab import dcqcn, lb, topo

MTU = 4200                      # of the links, for packets with 4096 bytes of data
DATA = 4096
HEADERS = 20 + 8 + 12 + 4       # bytes of IP, UDP, BTH and ICRC
AROUND = 14 + 24                # bytes on the wire besides an IP packet
WIRE = AROUND + HEADERS + DATA  # a full packet
SHARE = DATA / WIRE             # the largest goodput, as a share of the line rate
TRANSPORTS = ("tcp", "roce")
DCQCN_AT = {"tcp": ["root"], "roce": ["parent", "1:2"]}     # words of tc: where switches have dcqcn
COUNTERS = ("sent_pkts", "rcvd_pkts", "out_of_seq_request", "completer_retry_err", "send_err")
# CNPs have DSCP 48
PRIORITIES = ["root handle 1: prio bands 2 priomap" + 16 * " 1", "parent 1:1 handle 11: pfifo limit 1000",
              "filter parent 1: protocol ip prio 1 u32 match ip tos 0xc0 0xfc classid 1:1"]


def switch_qdiscs(net, words="", xoff="xoff dynamic beta 8"):
    """Give each port of a switch the qdisc of dcqcn.switch_qdiscs(), which is also the one that lab.sample() samples,
    and a higher priority for CNPs."""
    dcqcn.switch_qdiscs(net, words, xoff)
    for port in net.switch_ports():
        port.qdisc = PRIORITIES + ["parent 1:2 handle 12: " + port.qdisc]
        port.sampled = "1:2"


def build_dcqcn(lab, net, transport, words="", control=True, xoff="xoff dynamic beta 8"):
    """Build NET with DCQCN's switches, see dcqcn.switch_qdiscs().

    TRANSPORT "tcp": hosts have tcp_dcqcn; "roce": they have rxe and, with CONTROL, sch_roce.
    """
    if transport == "tcp":
        dcqcn.load(lab)
        dcqcn.switch_qdiscs(net, words, xoff)
        net.build()
        return
    lab.module("sch_dcqcn")
    lab.module("sch_roce")
    net.rdma("rxe")
    switch_qdiscs(net, words, xoff)
    net.build(host_qdisc="roce" if control else None)


def mtu(transport):
    return {"tcp": 1500, "roce": MTU}[transport]


def flow_words(transport, message=64000):
    """Return: words of the traffic generator for flows of a network of build_dcqcn()."""
    return {"tcp": ["cc=dcqcn"], "roce": ["transport=roce", "message=%d" % message]}[transport]


def remove(net):
    """Delete the RDMA devices and the network, so that another can be built."""
    for host in net.hosts():
        if host.rdma:
            topo.run("rdma", "link", "delete", host.name)
    lb.remove(net)


def write_counters(path, net):
    """In the guest: write a CSV file with the counters of each host's rxe device."""
    with open(path, "w", encoding="ascii") as out:
        out.write(",".join(("host", *COUNTERS)) + "\n")
        for host in net.hosts():
            words = [host.name]
            for name in COUNTERS:
                counter = "/sys/class/infiniband/%s/ports/1/hw_counters/%s" % (host.name, name)
                with open(counter, encoding="ascii") as f:
                    words.append(f.read().strip())
            out.write(",".join(words) + "\n")


# ---- on the host

def write_table(path, head, rows):
    """Write a table as a CSV file for its page."""
    with open(path, "w", encoding="utf-8") as out:
        for row in (head, *rows):
            out.write(",".join("%.4g" % cell if isinstance(cell, float) else str(cell) for cell in row) + "\n")

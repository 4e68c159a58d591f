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
DEVICES = {"roce": "rxe", "iwarp": "siw"}        # kinds of RDMA devices
DCQCN_AT = {"tcp": ["root"], "roce": ["parent", "1:2"]}     # words of tc: where switches have dcqcn
COUNTERS = ("sent_pkts", "rcvd_pkts", "out_of_seq_request", "duplicate_request", "rcvd_seq_err", "completer_retry_err",
            "send_err")
# serves queue pairs in turn, as NICs do, and has room for rxe's 128 packets of each
FQ = "fq limit 100000 flow_limit 1000"
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


def build_dcqcn(lab, net, transport, words="", control=True, xoff="xoff dynamic beta 8", seed=None):
    """Build NET with DCQCN's switches, see dcqcn.switch_qdiscs(). XOFF None: switches without PFC and marks.

    TRANSPORT "tcp": hosts have tcp_dcqcn; "roce", "gbn", "sr": they have sch_roce with CONTROL, and rxe for "roce";
    "iwarp": they have siw. Without CONTROL they have FQ. SEED: as of net.build().
    """
    if transport == "tcp":
        dcqcn.load(lab)
        dcqcn.switch_qdiscs(net, words, xoff)
        net.build(seed=seed)
        return
    lab.module("sch_dcqcn")
    lab.module("sch_roce")
    if transport in DEVICES:
        net.rdma(DEVICES[transport])
    if xoff:
        switch_qdiscs(net, words, xoff)
    else:
        tail_drop(net)
    net.build(host_qdisc="roce" if control else FQ, seed=seed)


def tail_drop(net):
    """Give each port of a switch a FIFO with its share of memory."""
    for port in net.switch_ports():
        port.ring = 2
        port.qdisc = "bfifo limit %d" % dcqcn.PORT_BUFFER


def without_marks():
    """Return: words of dcqcn for PFC alone."""
    return dcqcn.marking(dcqcn.NEVER, dcqcn.NEVER)


def mtu(transport):
    return 1500 if transport == "tcp" else MTU


def flow_words(transport, message=64000):
    """Return: words of the traffic generator for flows of a network of build_dcqcn()."""
    if transport == "tcp":
        return ["cc=dcqcn"]
    return ["transport=" + transport] + (["message=%d" % message] if transport in DEVICES else [])


def remove(net):
    """Delete the RDMA devices and the network, so that another can be built."""
    for host in net.hosts():
        if host.rdma:
            topo.run("rdma", "link", "delete", host.name)
    lb.remove(net)


def of_device(host):
    """Return: {name: count} of the host's rxe device."""
    found = {}
    for name in COUNTERS:
        with open("/sys/class/infiniband/%s/ports/1/hw_counters/%s" % (host.name, name), encoding="ascii") as f:
            found[name] = int(f.read())
    return found


def write_counters(path, net):
    """Write a CSV file with the counters of each host's rxe device."""
    with open(path, "w", encoding="ascii") as out:
        out.write(",".join(("host", *COUNTERS)) + "\n")
        for host in net.hosts():
            out.write(",".join([host.name] + [str(count) for count in of_device(host).values()]) + "\n")


def counts(lab, net):
    """Return: {name: sum of all nodes} of rxe's counters and lb.counts()."""
    sums = dict.fromkeys(COUNTERS, 0)
    for host in net.hosts():
        if host.rdma == "rxe":
            for name, count in of_device(host).items():
                sums[name] += count
    return {**sums, **lb.counts(lab, net)}


# ---- on the host

def write_table(path, head, rows):
    """Write a table as a CSV file for its page."""
    with open(path, "w", encoding="utf-8") as out:
        for row in (head, *rows):
            out.write(",".join("%.4g" % cell if isinstance(cell, float) else str(cell) for cell in row) + "\n")

# SPDX-License-Identifier: GPL-2.0-only
"""TIMELY with queued ACKs: without a remedy, with priority for ACKs, and with one-way delays instead of RTTs.

R. Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015, figure 5 and section 3.2: an
RTT includes the reverse path, so that congestion there looks like congestion on the forward path. A higher priority for
ACKs avoids this. As future work, the paper names timestamps in packets, which show variations of the one-way delay.

Two hosts send to a third. Other hosts send incasts to these two, so that queues come and go on the path of the ACKs.
Schemes:

    quiet       no other host sends
    reverse     incast on the reverse path
    prio        as reverse; the switch sends small TCP packets first
    owd         as reverse, with signal=owd: TIMELY uses the one-way delay, from the receiver's timestamps in µs

The forward path is the same in all schemes, so only the samples differ. They are by software timestamps (source=sw),
which are as good as the NIC's in virtual time.
"""
import math
import socket
import struct

from closlab import topo
from closlab.params import Param
from closlab.results import quantile
from closlab.tcp import SERIES, Module, Queue, Window

PARAMS = [
    Param("rate", "rate", "10gbit", "rate of all links"),
    Param("delay", "time", "4us", "delay of each link; four delays are most of the RTT"),
    Param("flows", "count", "4", "flows of both senders together"),
    Param("others", "count", "6", "hosts that send to both senders"),
    Param("burst", "size", "64k", "payload of each of these hosts in a round of incast"),
    Param("buffer", "size", "16M", "buffer of all switch ports"),
    Param("warmup", "time", "100ms", "time before the measurement"),
    Param("time", "time", "100ms", "duration of the measurement"),
    Param("every", "time", "10us", "interval between queue samples"),
]
SMALL = {"flows": "2", "others": "2", "burst": "20k", "warmup": "2ms", "time": "6ms", "every": "100us"}
SCHEMES = ("quiet", "reverse", "prio", "owd")

RTAX_FEATURE_TCP_USEC_TS = 1 << 4


# ---- in the guest

def guest(lab):
    p = lab.params
    net = topo.star(3 + p.others, p.rate, p.delay)
    switch = net.nodes["switch"]
    for name in ("h1", "h2"):
        switch.port(name).qdisc = port_qdisc(lab.scheme, p.buffer)
    net.build(port_qdisc="bfifo limit %d" % p.buffer)
    for name in ("h1", "h2", "h3"):
        # a ring of two frames, so that packets queue in the qdisc
        topo.run("ip", "-n", "switch", "link", "set", name, "type", "closwire", "ring", "2")
    for name in ("h1", "h2") if lab.scheme == "prio" else ():
        # IPv4 packets of less than 128 bytes, TCP
        topo.run("tc", "-n", "switch", "filter", "add", "dev", name, "parent", "1:", "protocol", "ip", "u32",
                 "match", "ip", "protocol", "6", "0xff", "match", "u16", "0", "0xff80", "at", "2", "flowid", "1:1")
    settings = {"source": "sw", "prompt_ack": 1}
    if lab.scheme == "owd":
        microseconds(net)
        settings["signal"] = "owd"
    Module(lab, "tcp_timely", mode="classic").set(**settings)
    measure(lab, net)


def port_qdisc(scheme, buffer):
    """Return: qdisc of the ports that ACKs pass."""
    if scheme != "prio":
        return "bfifo limit %d" % buffer
    return ["root handle 1: prio bands 2 priomap" + 16 * " 1"] + [
        "parent 1:%d bfifo limit %d" % (band, buffer) for band in (1, 2)]


def measure(lab, net):
    p = lab.params
    # a round takes at least the transmission time of its bytes
    rounds = math.ceil((p.warmup + p.time) * p.rate / (p.others * p.burst * 8e9))
    words = ["bulk", "src=h1-h2", "dst=h3", "flows=%d" % p.flows, "cc=timely", "jitter=1ms"]
    for name in ("h1", "h2") if lab.scheme != "quiet" else ():
        words += ["--", "incast", "src=h4-h%d" % (3 + p.others), "dst=" + name, "bytes=%d" % p.burst,
                  "rounds=%d" % rounds, "cc=cubic", "connect=before", "jitter=20us"]
    lab.expect(p.warmup + p.time)
    lab.trace("samples.csv", "timely:timely_sample")
    for name, port in (("ahead", "h3"), ("behind", "h1")):
        lab.sample("queue-%s.csv" % name, p.every, [net.nodes["switch"].port(port)], begin=p.warmup)
    lab.traffic(net, "--time", "%dns" % (p.warmup + p.time), "--drain", "0ns", "--series", lab.path("series-ahead.csv"),
                "--every", "%dns" % (p.time // SERIES), *words)


def attribute(kind, data):
    """Return: struct rtattr with its data."""
    return struct.pack("HH", 4 + len(data), kind) + data


def microseconds(net):
    """Set TCP timestamps in µs on all hosts, like "ip route change default ... features tcp_usec_ts"."""
    for host in net.hosts():
        port = host.port("switch")
        topo.enter("/run/netns/" + host.name)
        # RTA_GATEWAY, RTA_OIF, RTA_METRICS with RTAX_FEATURES
        route = struct.pack("8BI", socket.AF_INET, 0, 0, 0, 254, 3, 0, 1, 4) + \
            attribute(5, socket.inet_aton(port.peer.node.address)) + \
            attribute(4, struct.pack("I", socket.if_nametoindex(port.dev))) + \
            attribute(8, attribute(12, struct.pack("I", RTAX_FEATURE_TCP_USEC_TS)))
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as s:
            # RTM_NEWROUTE; NLM_F_REQUEST, ACK, REPLACE
            s.send(struct.pack("IHHII", 16 + len(route), 24, 1 | 4 | 0x100, 1, 0) + route)
            error = struct.unpack_from("i", s.recv(4096), 16)[0]
        if error:
            raise OSError(-error, "route of " + host.name)
    topo.enter("/proc/1/ns/net")


# ---- on the host

class Case:
    """Results of one scheme: queues of the forward and the reverse path, and TIMELY's samples in µs."""

    def __init__(self, run, scheme):
        p = run.params
        span = (p.warmup, p.warmup + p.time)
        self.scheme = scheme
        # only these flows; the incast's flows follow them in the file
        self.ahead = Window(run, scheme, "ahead", p.rate, *span, count=p.flows)
        self.behind = Queue(run, scheme, "behind", p.rate, *span)
        samples = run.csv(scheme, "samples.csv")
        self.samples = [ns / 1e3 for at, ns in zip(samples["time_ns"], samples["rtt_ns"]) if span[0] < at <= span[1]]

    def rtt(self, q):
        return quantile(self.samples, q)

    def row(self):
        a, b = self.ahead, self.behind
        return (self.scheme, sum(a.goodputs) / 1e9, a.share, a.jain, len(self.samples), self.rtt(0.5), self.rtt(0.99),
                a.quantile_us(0.5), a.quantile_us(0.99), b.quantile_us(0.5), b.quantile_us(0.99), a.drops + b.drops)


def report(run):
    some = {scheme: Case(run, scheme) for scheme in run.schemes}
    run.table(("scheme", "Gbit/s", "of max", "Jain", "samples", "µs: p50", "p99", "forward queue µs: p50", "p99",
               "reverse µs: p50", "p99", "drops"), [c.row() for c in some.values()])
    run.claim("drops", "number of dropped packets", sum(c.ahead.drops + c.behind.drops for c in some.values()), "== 0")
    if not run.small and set(SCHEMES) == set(run.schemes):
        claim(run, some)
    if set(SCHEMES) == set(run.schemes):
        draw(run, some)


def claim(run, some):
    quiet, reverse, prio, owd = (some[scheme] for scheme in SCHEMES)
    run.claim("reverse-rtt", "p99 of the samples with reverse congestion over p99 without",
              reverse.rtt(0.99) / quiet.rtt(0.99), ">= 2")
    run.claim("prio-rtt", "p99 of the samples with priority over p99 without congestion",
              prio.rtt(0.99) / quiet.rtt(0.99), "<= 1.25")
    run.claim("prio-share", "throughput with priority over throughput without congestion",
              prio.ahead.share / quiet.ahead.share, ">= 0.95")
    run.claim("owd-share", "throughput with signal=owd over throughput without congestion",
              owd.ahead.share / quiet.ahead.share, ">= 0.95")
    run.claim("owd-rtt", "p99 of signal=owd's samples over p99 of RTTs with the same congestion",
              owd.rtt(0.99) / reverse.rtt(0.99), "<= 0.5")


def draw(run, some):
    figure, axes = run.figure("timely-reverse", 1, 2, (9.6, 3.6))
    shares = [i / 500 for i in range(501)]
    for scheme, c in some.items():
        axes[0].plot([c.rtt(q) for q in shares], shares, color=run.colour(scheme), label=scheme)
    axes[0].set(xlabel="TIMELY's samples, µs", ylabel="cumulative share of samples", title="TIMELY's samples")
    axes[0].set_xlim(left=0)
    axes[0].legend()
    axes[1].bar(list(some), [100 * c.ahead.share for c in some.values()], color=[run.colour(s) for s in some])
    axes[1].set(ylabel="throughput, % of maximum", title="Throughput")

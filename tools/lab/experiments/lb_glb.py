# SPDX-License-Identifier: GPL-2.0-only
"""Global load balancing: completion times with one slow spine-to-leaf link, and convergence after a cable is cut.

The link from the first spine to the first leaf is slow, or is cut. The leaves cannot measure it: their own links to
that spine are fast. With `glb`, the spines advertise the quality of their links, and a leaf uses the lower one of its
own quality and the advertised one.

    ecmp                            the kernel's hash
    flowlet-local, flowlet-glb      flowlets by quality
    packet-local, packet-glb        packets by quality

`load`: flows of realistic sizes as in lb-load. `cut`: senders at the other leaves send datagrams to the first leaf at a
constant rate; the cable is cut while they send, and routing does not react. Each leaf has a route for each other leaf's
prefix, as with BGP, since adverts are by prefix.
"""
import random
import subprocess
import time

from closlab import guest as in_guest
from closlab import lb
from closlab.params import Param
from closlab.results import mean
from closlab.tcp import AROUND

PARAMS = [
    Param("leaves", "count", "4", "leaves"),
    Param("spines", "count", "4", "spines"),
    Param("hosts", "count", "4", "hosts at a leaf"),
    Param("mtu", "size", "1500", "MTU of all links"),
    Param("rate", "rate", "10gbit", "rate of all links but the slow one"),
    Param("delay", "time", "1us", "delay of each link"),
    Param("transport", "word", "dctcp", "transport", choices=lb.TRANSPORTS),
    Param("sizes", "word", "alistorage2019", "flow size distribution"),
    Param("loads", "number", "0.6,0.8", "loads of the hosts' links", several=True),
    Param("flows", "count", "3000", "approximate number of flows of a run"),
    Param("runs", "count", "5", "number of runs of each case"),
    Param("drain", "time", "1s", "time limit for unfinished flows"),
    *lb.PORT_PARAMS,
    Param("share", "number", "0.5", "rate of a sender in `cut`, of its link"),
    Param("cut", "time", "1ms", "time of the cut"),
    Param("after", "time", "1ms", "time of sending after it"),
]
SMALL = {"leaves": "2", "spines": "2", "hosts": "2", "loads": "0.6", "flows": "30", "runs": "1", "cut": "300us",
         "after": "300us"}
SCHEMES = ("ecmp", "flowlet-local", "flowlet-glb", "packet-local", "packet-glb")
MEMORY = 4  # GiB
FIRST = "0aff0001"   # address of the first spine, 10.255.0.1, in the trace
TOLD, HEARD = "told_messages", "heard_messages"


def words_of(scheme):
    """Return: options of act_lb at the leaves; None: the kernel's ECMP."""
    granularity, _, kind = scheme.partition("-")
    if not kind:
        return None
    return "granularity %s select quality%s" % (granularity, " glb choose" if kind == "glb" else "")


# ---- in the guest

def build(lab, kind):
    """Build a network of this kind of lb.fabric() with act_lb. Return: it"""
    p = lab.params
    net = lb.fabric(kind, p.leaves, p.spines, p.hosts, p.rate, p.delay, p.mtu)
    lb.by_prefix(net)
    lb.build(lab, net, p.transport, p.limit, p.buffer, p.k, words=words_of(lab.scheme))
    return net


def guest(lab):
    p = lab.params
    lab.expect(p.runs * (p.cut + p.after + sum(lb.poisson_ns(p, p.sizes, load) for load in p.loads)))
    net = build(lab, "remote")
    now = counts(lab, net)
    for load in p.loads:
        for number in range(p.runs):
            now = lb.poisson(lab, net, "load-%g" % load, number, p.transport, p.sizes, load, now, counts)
    lb.remove(net)
    for number in range(p.runs):
        net = build(lab, "symmetric")
        cut(lab, net, number)
        lb.remove(net)


def counts(lab, net):
    """Return: lb.counts(), with the adverts that the spines told and the leaves heard."""
    sums = lb.counts(lab, net)
    sums.update({TOLD: 0, HEARD: 0})
    for switch in net.switches() if lab.scheme.endswith("-glb") else ():
        lb.add_action(sums, switch, (TOLD, HEARD))
    return sums


def cut(lab, net, number):
    """Send to the first leaf, and cut its cable to the first spine. Write flows, packets sent by act_lb, the time."""
    p = lab.params
    draw = random.Random(1000 * lab.seed + number)
    senders = [host.name for host in net.hosts() if host.leaf]
    pairs = zip(draw.sample(senders, p.hosts), [host.name for host in net.hosts() if not host.leaf])
    words = []
    for source, to in pairs:
        words += ["--", "blast", "src=" + source, "dst=" + to, "rate=%dbit" % (p.rate * p.share), "jitter=2us",
                  "size=%d" % (p.mtu - 28)]
    if lab.scheme != "ecmp":
        lab.trace("sent-%d.csv" % number, "act_lb:lb_send")
    lab.begin()
    with subprocess.Popen(["ip", "-n", "leaf1", "-batch", "-"], stdin=subprocess.PIPE, text=True) as ip, \
            subprocess.Popen(lab.generator(net, "--seed", draw.randrange(1 << 30), "--time", "%dns" % (p.cut + p.after),
                                           "--drain", "1ms", "--flows", lab.path("cut-%d.csv" % number), "--series",
                                           lab.path("series-%d.csv" % number), "--every", "%dns" % p.cut, *words[1:])) \
            as generator:
        in_guest.sleep_until(lab.origin + p.cut)
        when = time.monotonic_ns() - lab.origin
        ip.stdin.write("link set spine1 carrier off\n")
        ip.stdin.flush()
    if ip.returncode or generator.returncode:
        raise RuntimeError("ip: status %d, traffic: status %d" % (ip.returncode, generator.returncode))
    lab.end()
    with open(lab.path("when-%d.csv" % number), "w", encoding="ascii") as f:
        f.write("time_ns\n%d\n" % when)


# ---- on the host

class Cut:
    """Results of a cut.

    lost    datagrams lost after the cut
    late    packets that the leaves gave to the first spine after the cut; None without act_lb
    last_us time from the cut to the last of them; 0: there is none
    """

    def __init__(self, run, scheme, number):
        # as many packets are on their way at the end as before the cut
        under_way = run.csv(scheme, "series-%d.csv" % number).where(time_ns=run.params.cut)
        self.lost = missing(run.csv(scheme, "cut-%d.csv" % number)) - missing(under_way)
        self.late = self.last_us = None
        if scheme == "ecmp":
            return
        sent = run.csv(scheme, "sent-%d.csv" % number)
        when = run.csv(scheme, "when-%d.csv" % number)["time_ns"][0]
        late = [at - when for at, gateway in zip(sent["time_ns"], sent["gateway"]) if gateway == FIRST and at > when]
        self.late, self.last_us = len(late), max(late, default=0) / 1000


def missing(table):
    """Return: datagrams that were sent and have not arrived."""
    return sum(table["sent_packets"]) - sum(table["whole_packets"])


def rtt_us(p):
    """Return: time of a full packet to a host at another leaf, and of a small one back, in an idle fabric."""
    return sum(4 * (p.delay / 1000 + (size + AROUND) * 8e6 / p.rate) for size in (p.mtu, 46))


def report(run):
    p = run.params
    kinds = {"all": lambda row: True, "crossing": lambda row: crosses(p, row)}
    some = {(kind, scheme, load): [lb.Slowdowns(run, scheme, "load-%g" % load, number, p.transport, keep)
                                   for number in range(p.runs)]
            for kind, keep in kinds.items() for scheme in run.schemes for load in p.loads}
    rows = []
    for load in p.loads:
        for kind in kinds:
            for scheme in run.schemes:
                points = some[kind, scheme, load]
                rows.append((load, kind, scheme, lb.with_interval([r.mean for r in points]),
                             lb.with_interval([r.p99 for r in points]),
                             lb.with_interval(over_local(some, kind, scheme, load)), mean([r.again for r in points]),
                             mean([r.count.get(TOLD, 0) for r in points])))
    run.text("Slow link: slowdown of all flows, and of those to the first leaf from other leaves; p99 over that of the "
             "same policy without glb, run by run", "")
    head = ("load", "flows", "scheme", "mean", "p99", "p99 over local", "rtx %", "adverts")
    run.table(head, rows)
    write(run, "lb-glb-load.csv", head, rows)
    cuts = {scheme: [Cut(run, scheme, number) for number in range(p.runs)] for scheme in run.schemes}
    rows = [(scheme, lb.with_interval([c.lost for c in cuts[scheme]])) +
            (("", "", "") if scheme == "ecmp" else
             tuple(lb.with_interval(values) for values in ([c.late for c in cuts[scheme]],
                                                           [c.last_us for c in cuts[scheme]],
                                                           [c.last_us / rtt_us(p) for c in cuts[scheme]])))
            for scheme in run.schemes]
    run.text("", "Cut: datagrams lost in %g µs; packets that leaves gave to the cut spine, and when the last. "
             "An RTT is %.1f µs." % (p.after / 1000, rtt_us(p)), "")
    head = ("scheme", "lost", "given to the spine", "last µs", "last RTTs")
    run.table(head, rows)
    write(run, "lb-glb-cut.csv", head, rows)
    run.claim("done", "number of unfinished flows", sum(r.unfinished for runs in some.values() for r in runs), "== 0")
    if {"packet-local", "packet-glb"} <= set(run.schemes):
        run.claim("cut", "lost datagrams: packet-glb over packet-local",
                  mean([c.lost for c in cuts["packet-glb"]]) / mean([c.lost for c in cuts["packet-local"]]), "<= 0.5")
        for load in () if run.small else p.loads:
            for kind in kinds:
                run.claim("p99-%s-%g" % (kind, load), "p99 of %s flows at load %g: packet-glb over packet-local" % (
                    kind, load), mean(over_local(some, kind, "packet-glb", load)), "<= 0.7")
    if not run.small:
        draw(run, some, cuts)


def crosses(p, row):
    """Return: does the flow go to the first leaf from another one?"""
    source, to = ((int(row[end][1:]) - 1) // p.hosts for end in ("src", "dst"))
    return to == 0 != source


def over_local(some, kind, scheme, load):
    """Return: p99 of each run over the one of the same policy without glb."""
    local = some.get((kind, scheme.replace("-glb", "-local"), load), some[kind, scheme, load])
    return [own.p99 / base.p99 for own, base in zip(some[kind, scheme, load], local)]


def write(run, name, head, rows):
    """Write a table as a CSV file for the page."""
    with open(run.path(name), "w", encoding="utf-8") as f:
        for row in [head] + rows:
            f.write(",".join(cell if isinstance(cell, str) else "%.3g" % cell for cell in row) + "\n")


def draw(run, some, cuts):
    p = run.params
    _, (left, right) = run.figure("lb-glb", 1, 2, (7.6, 3.4))
    width = 0.8 / len(run.schemes)
    for i, scheme in enumerate(run.schemes):
        values = [[r.p99 for r in some["crossing", scheme, load]] for load in p.loads]
        left.bar([x + (i - len(run.schemes) / 2 + 0.5) * width for x in range(len(values))], [mean(v) for v in values],
                 width, yerr=lb.errors(values), color=run.colour(scheme), label=scheme,
                 error_kw={"linewidth": 0.7})
        lost = [c.lost for c in cuts[scheme]]
        right.bar(i, mean(lost), yerr=lb.errors([lost]), color=run.colour(scheme),
                  error_kw={"linewidth": 0.7})
    left.set(title="flows to the slow link's leaf", ylabel="p99 slowdown, " + p.transport)
    left.set_xticks(range(len(p.loads)), ["load %g" % load for load in p.loads])
    right.legend(*left.get_legend_handles_labels(), fontsize=6, loc="center left", bbox_to_anchor=(1.02, 0.5))
    right.set(title="cut cable", ylabel="datagrams lost in %g ms" % (p.after / 1e6))
    right.set_xticks(range(len(run.schemes)), [scheme.replace("-", "\n") for scheme in run.schemes], fontsize=7)

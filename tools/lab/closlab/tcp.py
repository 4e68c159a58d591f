# SPDX-License-Identifier: GPL-2.0-only
"""Shared by experiments with congestion controls: sysctls in the guest, statistics of a port's queue and flows."""
import os
import types

from closlab import topo
from closlab.results import jain, mean, quantile

ON_WIRE = 24                # bytes on the wire besides a frame: FCS, preamble, gap
AROUND = 14 + ON_WIRE       # bytes on the wire besides an IP packet
HEADERS = 52                # bytes of IP and TCP headers with timestamps
FRAME, WIRE, DATA = 1514, 1500 + AROUND, 1500 - HEADERS     # a full packet, MTU 1500
SERIES = 10                 # samples per part of a measurement


# ---- in the guest

class Module:
    """A congestion control, like "tcp_timely". ALWAYS: sysctls that replace defaults."""

    def __init__(self, lab, name, **always):
        lab.module("closnet_cc")
        lab.module("nicclock")
        lab.module(name)
        self.directory = "/proc/sys/net/ipv4/" + name
        self.defaults = {}
        for parameter in sorted(os.listdir(self.directory)):
            with open(os.path.join(self.directory, parameter), encoding="ascii") as f:
                self.defaults[parameter] = f.read()
        self.defaults.update(always)
        self.set()

    def set(self, **values):
        """Set the sysctls of all existing namespaces and, via the initial one, of new ones; others get their defaults.
        They apply to connections that start later."""
        values = {**self.defaults, **values}
        self.write(values)
        built = sorted(os.listdir("/run/netns")) if os.path.isdir("/run/netns") else ()
        for namespace in built:
            with topo.inside(types.SimpleNamespace(name=namespace)):
                self.write(values)

    def write(self, values):
        """Write the sysctls of the current namespace."""
        for name, value in values.items():
            with open(os.path.join(self.directory, name), "w", encoding="ascii") as f:
                f.write(str(value))


# ---- on the host

class Queue:
    """Samples of queue-CASE.csv, of one port, with BEGIN < time_ns <= END.

    queue_bytes     samples, bytes
    queue_us        samples, transmission time at RATE in µs
    sent_bytes, drops, marks, pauses    increase of the counters
    """

    def __init__(self, run, scheme, case, rate, begin, end):
        samples = run.csv(scheme, "queue-%s.csv" % case)
        inside = [i for i, at in enumerate(samples["time_ns"]) if begin < at <= end]
        self.queue_bytes = [samples["bytes"][i] for i in inside]
        self.queue_us = [(samples["bytes"][i] + samples["packets"][i] * ON_WIRE) * 8e6 / rate for i in inside]
        self.sent_bytes, self.drops, self.marks, self.pauses = (
            samples[name][inside[-1]] - samples[name][inside[0]] for name in ("sent_bytes", "drops", "marks", "pauses"))

    @property
    def mean_us(self):
        return mean(self.queue_us)

    def quantile_us(self, q):
        return quantile(self.queue_us, q)


class Window(Queue):
    """A Queue with the goodputs of the first COUNT flows of series-CASE.csv, which share the port.

    goodputs    goodput of each flow, bit/s
    share       sum of the goodputs as a share of the port's maximum
    jain        Jain's fairness index of the goodputs
    """

    def __init__(self, run, scheme, case, rate, begin, end, count=None, mtu=1500):
        super().__init__(run, scheme, case, rate, begin, end)
        self.goodputs = goodputs(run.csv(scheme, "series-%s.csv" % case), begin, end)[:count]
        self.share = sum(self.goodputs) / (rate * (mtu - HEADERS) / (mtu + AROUND))
        self.jain = jain(self.goodputs)


def goodputs(series, begin, end, column="received_bytes"):
    """Return: goodput of each flow in bit/s, from the first sample at or after BEGIN to the last one until END."""
    times = [t for t in series["time_ns"] if begin <= t <= end]
    first, last = min(times), max(times)
    start, stop = ({row["flow"]: row[column] for row in series.where(time_ns=at).rows()}
                   for at in (first, last))
    return [(stop[flow] - start.get(flow, 0)) * 8e9 / (last - first) for flow in sorted(stop)]

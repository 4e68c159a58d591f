# SPDX-License-Identifier: GPL-2.0-only
"""What experiments with our congestion controls share: their parameters in the guest, and what a port's flows showed."""
import os
import types

from closlab import topo
from closlab.results import jain, mean, quantile

ON_WIRE = 24                # bytes beside a frame: check sequence, preamble, gap
AROUND = 14 + ON_WIRE       # beside an IP packet
HEADERS = 52                # of IP and TCP with time stamps
FRAME, WIRE, DATA = 1514, 1500 + AROUND, 1500 - HEADERS     # a full packet, MTU 1500
SERIES = 10                 # samples of the flows in each part of a measurement


# ---- in the guest

class Module:
    """A congestion control, like "tcp_timely"; ALWAYS instead of some defaults."""

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
        """Set the sysctls of all namespaces: of those that there are, and of the initial one, which new ones copy.
        Connections that start from now on take them; a sysctl that is not named has its default."""
        values = {**self.defaults, **values}
        self.write(values)
        built = sorted(os.listdir("/run/netns")) if os.path.isdir("/run/netns") else ()
        for namespace in built:
            with topo.inside(types.SimpleNamespace(name=namespace)):
                self.write(values)

    def write(self, values):
        """Write the sysctls of the namespace that this process is in."""
        for name, value in values.items():
            with open(os.path.join(self.directory, name), "w", encoding="ascii") as f:
                f.write(str(value))


# ---- on the host

class Queue:
    """What queue-CASE.csv, of one port, has while time_ns is above BEGIN, up to END.

    queue_bytes     the samples
    queue_us        the same, in the time that a line of the rate needs for what waits
    sent_bytes, drops, marks, pauses    of that time
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
    """That, and what series-CASE.csv has of the first COUNT flows, which share that port.

    goodputs    of each flow, bit/s
    share       of the most that the port's line carries, all flows together
    """

    def __init__(self, run, scheme, case, rate, begin, end, count=None, mtu=1500):
        super().__init__(run, scheme, case, rate, begin, end)
        self.goodputs = goodputs(run.csv(scheme, "series-%s.csv" % case), begin, end)[:count]
        self.share = sum(self.goodputs) / (rate * (mtu - HEADERS) / (mtu + AROUND))
        self.jain = jain(self.goodputs)


def goodputs(series, begin, end, column="received_bytes"):
    """What each flow's receiver got from the first sample at BEGIN or later to the last until END, bit/s."""
    times = [t for t in series["time_ns"] if begin <= t <= end]
    first, last = min(times), max(times)
    start, stop = ({row["flow"]: row[column] for row in series.where(time_ns=at).rows()}
                   for at in (first, last))
    return [(stop[flow] - start.get(flow, 0)) * 8e9 / (last - first) for flow in sorted(stop)]

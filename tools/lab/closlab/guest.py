# SPDX-License-Identifier: GPL-2.0-only
"""What an experiment's guest() works with, in the guest."""
import json
import os
import signal
import subprocess
import time

from closlab import experiment, topo, trace
from closlab.params import Values

BIN = os.path.join(experiment.TOP, "build", "lab")
TICK_NS = 10 * 10**9    # a measurement begins at a multiple of it on the clock
STEPS = 1000            # reports of progress in the time that expect() was told


class Lab:
    """One scheme's guest.

    params   the parameters' values, as attributes
    scheme   the scheme's name
    seed     the run's seed
    small    whether this is the smallest setting, for the debug kernel
    out      directory for the CSV files
    origin   the current measurement's time 0, on CLOCK_MONOTONIC
    """

    def __init__(self, module, scheme, seed, small, given):
        self.params = Values(module.PARAMS, given)
        self.scheme, self.seed, self.small = scheme, seed, small
        self.out = os.environ["CLOSNET_OUT"]
        self.origin = None
        self.expected = self.done = 0       # ns, over all measurements
        self.modules = set()    # what module() has loaded
        self.samplers = []      # what sample() was told
        self.children = []      # the samplers that run
        self.traced = {}        # what trace() was told
        self.tracer = None      # what records that
        self.teller = None      # process that tells the progress

    def path(self, name):
        return os.path.join(self.out, name)

    def module(self, name):
        """Loads a kernel module of the project, like "sch_ndp", unless it has done so before."""
        if name not in self.modules:
            topo.run("insmod", "%s/%s.ko" % (os.environ["CLOSNET_MODDIR"], name))
            self.modules.add(name)

    def expect(self, total):
        """All measurements together will take about TOTAL ns; progress is told by that."""
        self.expected = total

    def sample(self, name, every, ports, begin=0):
        """The next measurement writes the queues of PORTS to the CSV file NAME, every EVERY ns from BEGIN on."""
        self.samplers.append((name, every, ports, begin))

    def trace(self, name, event):
        """The next measurement writes what the trace event, like "tcp:tcp_probe", prints to the CSV file NAME."""
        self.traced[event] = self.path(name)

    def traffic(self, network, *words):
        """A measurement: runs the traffic generator between the network's hosts; WORDS: its options and patterns."""
        self.begin()
        topo.program(*self.generator(network, *words))
        self.end()

    def generator(self, network, *words):
        """The command that does so, for a measurement of which it is a part."""
        hosts = self.path("hosts")
        network.write_hosts(hosts)
        command = [os.path.join(BIN, "traffic"), "--hosts", hosts, "--seed", self.seed, "--origin", self.origin, *words]
        return [str(word) for word in command]

    def begin(self):
        """A measurement of something else; it shall wait for `origin` (sleep_until()), and end() comes after it.

        The origin is a round time of the clock, so that it does not matter what
        set-up took: a system call that fails takes a microsecond, for one.
        """
        if not self.expected:
            raise RuntimeError("a measurement begins, but nobody has called expect()")
        self.origin = (time.monotonic_ns() // TICK_NS + 1) * TICK_NS
        self.teller = self.tell_progress()
        for name, every, ports, begin in self.samplers:
            command = [os.path.join(BIN, "sampler"), "--out", self.path(name), "--every", every,
                       "--origin", self.origin, "--begin", begin] + [port.name() for port in ports]
            self.children.append(subprocess.Popen([str(word) for word in command]))
        self.samplers = []
        if self.traced:
            self.tracer = trace.Tracer(self.traced)
            self.tracer.start()
            self.traced = {}

    def end(self):
        """Ends what begin() started."""
        self.done += time.monotonic_ns() - self.origin
        os.kill(self.teller, signal.SIGTERM)
        os.waitpid(self.teller, 0)
        for child in self.children:
            child.terminate()
            if child.wait():
                raise RuntimeError("the sampler ended with status %d" % child.returncode)
        self.children = []
        if self.tracer:
            self.tracer.stop(self.origin)
            self.tracer = None

    def tell_progress(self):
        """In a process of its own: a line for each step of virtual time. Returns the process."""
        child = os.fork()
        if child:
            return child
        for step in range(STEPS + 1):
            at = self.expected * step // STEPS
            if at >= self.done:
                sleep_until(self.origin + at - self.done)
                os.write(1, b"@progress %d %d\n" % (at, self.expected))
        while True:
            signal.pause()


def sleep_until(when):
    """Until CLOCK_MONOTONIC shows WHEN, ns."""
    while (left := when - time.monotonic_ns()) > 0:
        time.sleep(left / 1e9)


def build(expression):
    """Makes the topology that the expression stands for: what `lab shell` was told."""
    network = eval(expression, vars(topo))
    network.build()
    network.write_hosts("/tmp/hosts")


def main(arguments):
    """Runs a scheme of an experiment, as closlab.runner has written it in JSON."""
    if arguments[0] == "--build":
        build(arguments[1])
        return
    job = json.loads(arguments[0])
    module = experiment.load(job["experiment"])
    module.guest(Lab(module, job["scheme"], job["seed"], job["small"], job["params"]))

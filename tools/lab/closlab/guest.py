# SPDX-License-Identifier: GPL-2.0-only
"""Interface of an experiment's guest(), in the guest."""
import json
import os
import signal
import subprocess
import sys
import time

from closlab import delays, experiment, topo, trace, virtual
from closlab.params import Values
from closlab.virtual import sleep_until

BIN = os.path.join(experiment.TOP, "build", "lab")
TICK_NS = 10 * 10**9    # a measurement begins at a multiple of this on CLOCK_MONOTONIC
LEAD_NS = 5 * 10**9     # its programs start so long before
SEED_NS = 1000          # the kernel's random numbers begin anew so long before
STEPS = 1000            # progress reports in the time of expect()
FLOW_FAILED = 1         # exit status of the traffic generator
NDP_HINT = "flows that failed with ENOBUFS or ENOMEM need more memory: use --memory GIB, or define MEMORY in the " \
    "experiment. All NDP sockets together use at most an eighth of the guest's memory."
TICK_S = 0.01           # virtual time between two ticks of `lab shell`


class Lab:
    """The guest of a scheme.

    params   values of the parameters, as attributes
    scheme   name of the scheme
    seed     seed of the run
    small    True with --small
    out      directory for CSV files
    origin   time 0 of the current measurement, ns on CLOCK_MONOTONIC
    """

    def __init__(self, module, scheme, seed, small, given):
        self.params = Values(module.PARAMS, given)
        self.scheme, self.seed, self.small = scheme, seed, small
        self.out = os.environ["CLOSNET_OUT"]
        self.origin = None
        self.expected = self.done = 0       # ns, over all measurements
        self.measurements = 0   # begun
        self.modules = set()    # loaded by module()
        self.samplers = []      # arguments of sample()
        self.children = []      # running samplers
        self.histograms = []    # arguments of delays()
        self.measuring = []     # processes that measure delays
        self.traced = {}        # arguments of trace()
        self.tracer = None      # running tracer
        self.reporter = None    # process that reports progress

    def path(self, name):
        return os.path.join(self.out, name)

    def module(self, name):
        """Load a module of closnet, like "sch_ndp", unless this method has loaded it before."""
        if name not in self.modules:
            topo.run("insmod", "%s/%s.ko" % (os.environ["CLOSNET_MODDIR"], name))
            self.modules.add(name)

    def expect(self, total):
        """Announce the total time of all measurements, in ns, for the display of progress."""
        self.expected = total

    def sample(self, name, every, ports, begin=0):
        """Sample the queues of PORTS into CSV file NAME, every EVERY ns from BEGIN, in the next measurement."""
        self.samplers.append((name, every, ports, begin))

    def delays(self, name, ports, begin, end):
        """Measure the one-way delays of frames that arrive at PORTS from BEGIN to END, in ns, in the next measurement.
        CSV file NAME gets a histogram of each port."""
        self.histograms.append((name, ports, begin, end))

    def trace(self, name, event):
        """Record a trace event, like "tcp:tcp_probe", into CSV file NAME, in the next measurement."""
        self.traced[event] = self.path(name)

    def traffic(self, network, *words):
        """Measure: run the traffic generator between the network's hosts. WORDS: its options and patterns."""
        self.begin()
        try:
            topo.program(*self.generator(network, *words))
        except topo.Failed as error:
            if error.status == FLOW_FAILED and "ndp" in self.modules:
                say(NDP_HINT)
            raise
        self.end()

    def generator(self, network, *words):
        """Return: command of the traffic generator, for use between begin() and end()."""
        hosts = self.path("hosts")
        network.write_hosts(hosts)
        command = [os.path.join(BIN, "traffic"), "--hosts", hosts, "--seed", self.seed, "--origin", self.origin, *words]
        return [str(word) for word in command]

    def begin(self):
        """Begin a measurement of other traffic, which must start at `origin` (see sleep_until()). Call end() after it.

        The programs and the measurement start at round times, and with random numbers of their own, so that results do
        not depend on the set-up, in which each failing system call takes 1 µs.
        """
        if not self.expected:
            raise RuntimeError("call expect() before a measurement")
        self.measurements += 1
        self.origin = ((time.monotonic_ns() + LEAD_NS) // TICK_NS + 1) * TICK_NS
        sleep_until(self.origin - LEAD_NS)
        virtual.seed(virtual.PROGRAMS, self.measurements)
        self.reporter = self.report_progress()
        for name, every, ports, begin in self.samplers:
            command = [os.path.join(BIN, "sampler"), "--out", self.path(name), "--every", every,
                       "--origin", self.origin, "--begin", begin] + [port.name() for port in ports]
            self.children.append(subprocess.Popen([str(word) for word in command]))
        self.samplers = []
        self.measuring = [self.measure_delays(*arguments) for arguments in self.histograms]
        self.histograms = []
        if self.traced:
            self.tracer = trace.Tracer(self.traced)
            self.tracer.start()
            self.traced = {}

    def end(self):
        """End the measurement."""
        self.done += time.monotonic_ns() - self.origin
        os.kill(self.reporter, signal.SIGTERM)
        if os.waitpid(self.reporter, 0)[1] != signal.SIGTERM:
            raise RuntimeError("the display of progress failed")
        for child in self.children:
            child.terminate()
            if child.wait():
                raise RuntimeError("the sampler ended with status %d" % child.returncode)
        self.children = []
        for child in self.measuring:
            if os.waitpid(child, 0)[1]:
                raise RuntimeError("the measurement of delays failed")
        self.measuring = []
        if self.tracer:
            self.tracer.stop(self.origin)
            self.tracer = None

    def measure_delays(self, name, ports, begin, end):
        """Start and end a measurement of delays, in a child process. Return: its id."""
        child = os.fork()
        if child:
            return child
        status = 1
        try:
            sleep_until(self.origin + begin)
            delays.start(ports)
            sleep_until(self.origin + end)
            delays.write(self.path(name), ports)
            status = 0
        except Exception as error:
            say("delays: %s" % error)
        finally:
            os._exit(status)

    def report_progress(self):
        """Seed the kernel at the origin and print a line per step of virtual time, in a child process. Return: its id."""
        child = os.fork()
        if child:
            return child
        sleep_until(self.origin - SEED_NS)
        virtual.seed(virtual.ORIGIN, self.measurements)
        for step in range(STEPS + 1):
            at = self.expected * step // STEPS
            if at >= self.done:
                sleep_until(self.origin + at - self.done)
                os.write(1, b"@progress %d %d\n" % (at, self.expected))
        while True:
            signal.pause()


def build(expression):
    """Build the topology of `lab shell` from its expression, and start the ticker that its watchdog needs."""
    network = eval(expression, vars(topo))
    network.build()
    network.write_hosts("/tmp/hosts")
    if not os.fork():
        tick()


def tick():
    """Print a line each TICK_S of virtual time, for the watchdog in closlab.shell."""
    while True:
        time.sleep(TICK_S)
        os.write(1, b"@tick\n")


def main(arguments):
    """Run a scheme of an experiment, described in JSON by closlab.runner."""
    if arguments[0] == "--build":
        virtual.start(int(arguments[1]))
        build(arguments[2])
        return
    job = json.loads(arguments[0])
    module = experiment.load(job["experiment"])
    virtual.start(job["seed"])
    topo.cpu_costs = job.get("cpu", {})
    try:
        module.guest(Lab(module, job["scheme"], job["seed"], job["small"], job["params"]))
    except topo.Failed as error:
        # the program has printed the reason; a traceback would hide it
        sys.exit("lab: %s" % error)


def say(text):
    print("lab: " + text, file=sys.stderr, flush=True)

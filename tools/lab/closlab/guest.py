# SPDX-License-Identifier: GPL-2.0-only
"""What an experiment's guest() works with, in the guest."""
import json
import os
import signal
import subprocess
import sys
import time

from closlab import experiment, topo
from closlab.params import Values

BIN = os.path.join(experiment.TOP, "build", "lab")
TICK_NS = 10 * 10**9    # start() waits for the next multiple of it on the clock
STEPS = 1000            # reports of progress in the time that start() was told


class Lab:
    """One scheme's guest.

    params   the parameters' values, as attributes
    scheme   the scheme's name
    seed     the run's seed
    small    whether this is the smallest setting, in the debug kernel
    out      directory for the CSV files
    """

    def __init__(self, module, scheme, seed, small, given):
        self.params = Values(module.PARAMS, given)
        self.scheme, self.seed, self.small = scheme, seed, small
        self.out = os.environ["CLOSNET_OUT"]
        self.origin = None
        self.children = []

    def path(self, name):
        return os.path.join(self.out, name)

    def module(self, name):
        """Loads a kernel module of the project, like "sch_ndp"."""
        topo.run("insmod", "%s/%s.ko" % (os.environ["CLOSNET_MODDIR"], name))

    def start(self, expected):
        """The measurement begins, and takes about EXPECTED ns of virtual time.

        Waits for a round time of the clock: what set-up took does not matter
        for what follows. Progress is reported from here on.
        """
        self.origin = (time.monotonic_ns() // TICK_NS + 1) * TICK_NS
        child = os.fork()
        if not child:
            report_progress(self.origin, expected)
        self.children.append(child)
        sleep_until(self.origin)

    def sample(self, name, every, ports):
        """Writes the queues of PORTS to the CSV file NAME, every EVERY ns, until stop() or the end."""
        command = [os.path.join(BIN, "sampler"), "--out", self.path(name), "--every", str(every),
                   "--origin", str(self.origin)]
        command += [port.name() for port in ports]
        return self.spawn(command)

    def traffic(self, network, *words):
        """Runs the traffic generator between the network's hosts; WORDS: its options and patterns."""
        hosts = self.path("hosts")
        network.write_hosts(hosts)
        command = [os.path.join(BIN, "traffic"), "--hosts", hosts, "--seed", str(self.seed)]
        result = subprocess.run(command + [str(w) for w in words], check=False)
        if result.returncode:
            raise RuntimeError("traffic: status %d" % result.returncode)

    def spawn(self, command):
        """Starts a program in the background; stop() ends it, or the end of the experiment."""
        child = subprocess.Popen(command)
        self.children.append(child.pid)
        return child.pid

    def stop(self, child):
        self.children.remove(child)
        os.kill(child, signal.SIGTERM)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status not in (0, -signal.SIGTERM):
            raise RuntimeError("a program in the background ended with status %d" % status)

    def finish(self):
        while self.children:
            self.stop(self.children[-1])


def sleep_until(when):
    while (left := when - time.monotonic_ns()) > 0:
        time.sleep(left / 1e9)


def report_progress(origin, expected):
    """In a process of its own: a line for each step of virtual time, until it is ended."""
    for step in range(STEPS + 1):
        sleep_until(origin + expected * step // STEPS)
        os.write(1, b"@progress %d %d\n" % (expected * step // STEPS, expected))
    signal.pause()


def main(arguments):
    """Runs a scheme of an experiment; ARGUMENTS: JSON, as written by closlab.runner."""
    job = json.loads(arguments[1])
    module = experiment.load(job["experiment"])
    lab = Lab(module, job["scheme"], job["seed"], job["small"], job["params"])
    module.guest(lab)
    lab.finish()


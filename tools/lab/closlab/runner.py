# SPDX-License-Identifier: GPL-2.0-only
"""Run the schemes of an experiment: one guest per scheme, several in parallel."""
import glob
import json
import os
import selectors
import shlex
import shutil
import signal
import subprocess
import sys
import time

from closlab import inputs
from closlab.experiment import TOP
from closlab.params import BadValue

QUIET_S = 10        # between two lines of progress, if stderr is not a terminal
VM_RUN = os.path.join(TOP, "tools", "vm", "run")
ENVIRONMENT = "PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1"


class Broken(Exception):
    """A guest failed."""


def say(text):
    print("lab: " + text, file=sys.stderr, flush=True)


def prepare(kernel):
    """Install and build everything that the guests need. Return: directory of the modules."""
    printed = {}
    for command in (["tools/deps.sh", "lab", "uml", "vm"], ["tools/vm/modules", kernel],
                    ["make", "-s", "-C", "tools/lab"]):
        result = subprocess.run(command, cwd=TOP, stdout=subprocess.PIPE, text=True, check=False)
        if result.returncode:
            raise Broken("%s failed" % " ".join(command))
        printed[command[0]] = result.stdout.strip()
    return printed["tools/vm/modules"]


def clear(directory):
    """Make the directory for results, and delete results of an earlier run."""
    if os.path.exists(os.path.join(directory, "params.json")):
        with open(os.path.join(directory, "params.json"), encoding="utf-8") as f:
            about = json.load(f)
            for scheme in [*about["schemes"], *about.get("failed", ())]:
                shutil.rmtree(os.path.join(directory, scheme), ignore_errors=True)
        for name in ["params.json", "claims.json", "table.txt", *inputs.FILES] + glob.glob("*.svg", root_dir=directory):
            if os.path.exists(os.path.join(directory, name)):
                os.unlink(os.path.join(directory, name))
    elif os.path.isdir(directory) and os.listdir(directory):
        raise BadValue("%s is not empty and contains no results of the lab" % directory)
    os.makedirs(directory, exist_ok=True)


class Task:
    """A guest to be run: a scheme of the JOB (experiment, seed, small, params), with results in DIRECTORY/scheme.

    name   in messages
    """

    def __init__(self, scheme, job, directory, name=None):
        self.scheme, self.job, self.directory, self.name = scheme, job, directory, name or scheme


class Guest:
    """The guest of a task."""

    def __init__(self, task, options):
        command = [VM_RUN, "--kernel", options.kernel, "--virtual-time", str(task.job["seed"]),
                   "--timeout", str(options.timeout), "--out", os.path.join(task.directory, task.scheme)]
        if options.memory:
            command += ["--memory", str(options.memory)]
        job = json.dumps(dict(task.job, scheme=task.scheme))
        command += ["--", "%s tools/lab/in-guest %s" % (ENVIRONMENT, shlex.quote(job))]
        self.task, self.name = task, task.name
        self.reached = self.expected = 0    # ns of virtual time
        self.began = self.heard = time.monotonic()
        # a new session, so that Ctrl-C reaches only this process, which then ends the guest
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, start_new_session=True)

    def line(self, text, progress):
        """Handle a line of the guest's output."""
        self.heard = time.monotonic()
        if not text.startswith("@progress "):
            progress.show(self.name + ": " + text)
            return
        if not self.expected:
            self.began = time.monotonic()   # set-up is complete
        self.reached, self.expected = (int(word) for word in text.split()[1:])

    def left_s(self):
        """Return: estimate of the remaining wall time, in s; None: unknown."""
        if not self.reached:
            return None
        return (time.monotonic() - self.began) * (self.expected - self.reached) / self.reached

    def total_s(self):
        """Return: estimate of the wall time of the whole measurement, in s; None: unknown."""
        left = self.left_s()
        return None if left is None else time.monotonic() - self.began + left

    def state(self):
        if not self.expected:
            return "%s set-up" % self.name
        wall = time.monotonic() - self.began
        return "%s %.4g of %.4g ms (%.2g wall s per virtual s)" % (
            self.name, self.reached / 1e6, self.expected / 1e6, wall * 1e9 / self.reached if self.reached else 0)

    def end(self):
        """End the guest, by force if necessary."""
        for sign in (signal.SIGTERM, signal.SIGKILL):
            if self.process.poll() is None:
                os.killpg(self.process.pid, sign)
                try:
                    self.process.wait(15)
                except subprocess.TimeoutExpired:
                    pass


def estimate_s(guests, waiting, jobs):
    """Return: estimate of the remaining wall time of all guests, in s; None: no guest has made progress yet.

    A guest in set-up, or one of the WAITING guests that have not started, is assumed to take as long as the mean of the
    other ones. JOBS guests run in parallel.
    """
    totals = [guest.total_s() for guest in guests if guest.total_s() is not None]
    if not totals:
        return None
    mean = sum(totals) / len(totals)
    ends = sorted(mean if guest.left_s() is None else guest.left_s() for guest in guests)
    ends = [0] * (jobs - len(ends)) + ends
    for _ in range(waiting):
        ends = sorted([ends[0] + mean] + ends[1:])
    return ends[-1]


def fit(left, guests, waiting, width):
    """Return: the line of progress: estimate LEFT first, then the guests' states, as many as fit into WIDTH columns."""
    text = "about %.0f s left" % left if left is not None else "estimating"
    if waiting:
        text += "; %d waiting" % waiting
    for i, guest in enumerate(guests):
        more = "; " + guest.state()
        rest = "; +%d" % (len(guests) - i)
        if len(text) + len(more) + (len(rest) if i + 1 < len(guests) else 0) > width:
            return (text + rest)[:width]
        text += more
    return text


class Progress:
    """A line on stderr, updated in place on a terminal."""

    def __init__(self):
        self.terminal = sys.stderr.isatty()
        self.shown = time.monotonic()

    def show(self, text):
        """Print a line that stays."""
        print(("\r\033[K" if self.terminal else "") + text, file=sys.stderr, flush=True)

    def update(self, guests, waiting, jobs):
        now = time.monotonic()
        if now - self.shown < (0.5 if self.terminal else QUIET_S):
            return
        self.shown = now
        left = estimate_s(guests, waiting, jobs)
        if self.terminal:
            width = terminal_columns() - 1
            print("\r\033[K" + fit(left, guests, waiting, width), end="", file=sys.stderr, flush=True)
        else:
            say(fit(left, guests, waiting, 1000))

    def done(self):
        if self.terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def terminal_columns():
    """Return: width of the terminal at stderr. shutil.get_terminal_size() reads stdout, which may be a file."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except OSError:
        return 80


class Crew:
    """The guests of some tasks. `failed`: {task: reason} after run(). DONE is called with each task that succeeds."""

    def __init__(self, tasks, options, done=lambda task: None):
        self.start = lambda task: Guest(task, options)
        self.waiting = list(tasks)
        self.jobs, self.stall, self.done = options.jobs, options.stall, done
        self.guests = []
        self.failed = {}
        self.selector = selectors.DefaultSelector()
        self.progress = Progress()

    def run(self):
        """Run until all guests have ended. If one fails, the other ones continue. An exception ends all guests."""
        try:
            while self.waiting or self.guests:
                while self.waiting and len(self.guests) < self.jobs:
                    self.admit(self.start(self.waiting.pop(0)))
                self.listen()
                for guest in list(self.guests):
                    self.check(guest)
                self.progress.update(self.guests, len(self.waiting), self.jobs)
        finally:
            for guest in self.guests:
                guest.end()
            self.progress.done()

    def admit(self, guest):
        self.guests.append(guest)
        for stream in (guest.process.stdout, guest.process.stderr):
            os.set_blocking(stream.fileno(), False)
            self.selector.register(stream, selectors.EVENT_READ, [guest, b""])

    def listen(self):
        for key, _ in self.selector.select(0.5):
            guest, rest = key.data
            data = key.fileobj.read()
            if data == b"":
                self.selector.unregister(key.fileobj)
                data = b"\n" if rest else b""
            *lines, key.data[1] = (rest + (data or b"")).split(b"\n")
            for line in lines:
                guest.line(line.decode("utf-8", "replace").rstrip("\r"), self.progress)

    def listening(self, guest):
        return any(key.data[0] is guest for key in self.selector.get_map().values())

    def check(self, guest):
        """Handle the end of a guest, and end it if it is stuck."""
        if time.monotonic() - guest.heard > self.stall:
            guest.end()
            while self.listening(guest):
                self.listen()
            self.fail(guest, "stuck: no output for %d s; its console is above" % self.stall)
            return
        if self.listening(guest):
            return
        status = guest.process.wait()
        if status == 125:
            self.fail(guest, "the guest broke; its console is above")
        elif status:
            self.fail(guest, "failed with status %d; the reason is above" % status)
        else:
            self.guests.remove(guest)
            self.done(guest.task)

    def fail(self, guest, reason):
        self.guests.remove(guest)
        self.failed[guest.task] = reason
        self.progress.show("lab: %s: %s" % (guest.name, reason))

# SPDX-License-Identifier: GPL-2.0-only
"""Runs the schemes of an experiment on the host: a guest each, side by side."""
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

from closlab.experiment import TOP
from closlab.params import BadValue

QUIET_S = 10        # between two lines of progress, if they do not go to a terminal
VM_RUN = os.path.join(TOP, "tools", "vm", "run")
ENVIRONMENT = "PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1"


class Broken(Exception):
    """A guest did not do what it was started for."""


def say(text):
    print("lab: " + text, file=sys.stderr, flush=True)


def prepare(kernel):
    """Gets and builds all that the guests need, so that they only have to run."""
    for command in (["tools/deps.sh", "lab", "uml", "vm"], ["tools/vm/modules", kernel],
                    ["make", "-s", "-C", "tools/lab"]):
        if subprocess.run(command, cwd=TOP, stdout=subprocess.DEVNULL, check=False).returncode:
            raise Broken("%s failed" % " ".join(command))


def clear(directory):
    """Makes room for results where there are none, or older ones."""
    if os.path.exists(os.path.join(directory, "params.json")):
        with open(os.path.join(directory, "params.json"), encoding="utf-8") as f:
            for scheme in json.load(f)["schemes"]:
                shutil.rmtree(os.path.join(directory, scheme), ignore_errors=True)
        for name in ["params.json", "claims.json", "table.txt"] + glob.glob("*.svg", root_dir=directory):
            if os.path.exists(os.path.join(directory, name)):
                os.unlink(os.path.join(directory, name))
    elif os.path.isdir(directory) and os.listdir(directory):
        raise BadValue("%s is not empty, and holds no results of the lab" % directory)
    os.makedirs(directory, exist_ok=True)


class Guest:
    """A scheme's guest: started, followed, ended."""

    def __init__(self, scheme, job, directory, options):
        command = [VM_RUN, "--kernel", options.kernel, "--virtual-time", str(options.seed),
                   "--timeout", str(options.timeout), "--out", os.path.join(directory, scheme)]
        if options.memory:
            command += ["--memory", str(options.memory)]
        command += ["--", "%s tools/lab/in-guest %s" % (ENVIRONMENT, shlex.quote(json.dumps(dict(job, scheme=scheme))))]
        self.scheme = scheme
        self.reached = self.wanted = 0      # ns of virtual time
        self.began = self.heard = time.monotonic()
        # a session of its own: Ctrl-C reaches us alone, and we end it
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, start_new_session=True)

    def line(self, text, progress):
        """A line that the guest has written."""
        self.heard = time.monotonic()
        if not text.startswith("@progress "):
            progress.show(self.scheme + ": " + text)
            return
        if not self.wanted:
            self.began = time.monotonic()   # it is up
        self.reached, self.wanted = (int(word) for word in text.split()[1:])

    def left_s(self):
        """An estimate of the wall time that is left; None: nobody knows."""
        if not self.reached:
            return None
        return (time.monotonic() - self.began) * (self.wanted - self.reached) / self.reached

    def state(self):
        if not self.wanted:
            return "%s set-up" % self.scheme
        wall = time.monotonic() - self.began
        return "%s %.4g of %.4g ms (%.2g wall s per virtual s)" % (
            self.scheme, self.reached / 1e6, self.wanted / 1e6, wall * 1e9 / self.reached if self.reached else 0)

    def end(self):
        """Ends it, if need be by force."""
        for sign in (signal.SIGTERM, signal.SIGKILL):
            if self.process.poll() is None:
                os.killpg(self.process.pid, sign)
                try:
                    self.process.wait(15)
                except subprocess.TimeoutExpired:
                    pass


class Progress:
    """One line on stderr, kept up to date on a terminal."""

    def __init__(self):
        self.terminal = sys.stderr.isatty()
        self.shown = time.monotonic()

    def show(self, text):
        """A line that stays."""
        print(("\r\033[K" if self.terminal else "") + text, file=sys.stderr, flush=True)

    def update(self, guests, waiting):
        now = time.monotonic()
        if now - self.shown < (0.5 if self.terminal else QUIET_S):
            return
        self.shown = now
        left = [guest.left_s() for guest in guests]
        text = "; ".join(guest.state() for guest in guests)
        if waiting:
            text += "; %d waiting" % waiting
        elif guests and None not in left:
            text += "; about %.0f s left" % max(left)
        if self.terminal:
            width = shutil.get_terminal_size().columns - 1
            print("\r\033[K" + text[:width], end="", file=sys.stderr, flush=True)
        else:
            say(text)

    def done(self):
        if self.terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


class Crew:
    """All guests of a run."""

    def __init__(self, job, schemes, directory, options):
        self.start = lambda scheme: Guest(scheme, job, directory, options)
        self.waiting = list(schemes)
        self.jobs, self.stall = options.jobs, options.stall
        self.guests = []
        self.selector = selectors.DefaultSelector()
        self.progress = Progress()

    def run(self):
        """Until all have ended, or one has failed, which is an exception. None is left running."""
        try:
            while self.waiting or self.guests:
                while self.waiting and len(self.guests) < self.jobs:
                    self.admit(self.start(self.waiting.pop(0)))
                self.listen()
                for guest in list(self.guests):
                    self.look_at(guest)
                self.progress.update(self.guests, len(self.waiting))
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

    def look_at(self, guest):
        """Has it ended, is it stuck?"""
        if time.monotonic() - guest.heard > self.stall:
            guest.end()
            while self.listening(guest):
                self.listen()
            raise Broken("%s: stuck: nothing heard of it for %d s; its console is above" % (guest.scheme, self.stall))
        if self.listening(guest):
            return
        status = guest.process.wait()
        self.guests.remove(guest)
        if status == 125:
            raise Broken("%s: the guest broke; its console is above" % guest.scheme)
        if status:
            raise Broken("%s: failed with status %d; the reason is above" % (guest.scheme, status))

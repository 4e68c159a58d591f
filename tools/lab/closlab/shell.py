# SPDX-License-Identifier: GPL-2.0-only
"""lab shell: a prompt in a guest. Virtual time stands still at the prompt; lines are edited on the host."""
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time

from closlab.runner import ENVIRONMENT, VM_RUN, say

START_US = 10**15       # the guest's clock at its start
WATCHDOG_S = 10         # of wall time without progress of virtual time, until a warning
PROMPT, TICK = "@prompt ", "@tick\n"


def children(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as f:
        return [int(word) for word in f.read().split()]


def name_of(pid):
    with open("/proc/%d/comm" % pid, encoding="ascii") as f:
        return f.read().strip()


class Watchdog:
    """Warns once per command if virtual time does not advance, because a program polls instead of sleeping."""

    def __init__(self, seconds=WATCHDOG_S):
        self.seconds = seconds
        self.command = None     # running command; None: at the prompt, or a warning was printed
        self.seen = 0           # wall time of the last progress
        threading.Thread(target=self.watch, daemon=True).start()

    def start(self, command):
        self.progress()
        self.command = command

    def progress(self):
        self.seen = time.monotonic()

    def stop(self):
        self.command = None

    def watch(self):
        while True:
            time.sleep(self.seconds / 20)
            command = self.command
            if command and time.monotonic() - self.seen > self.seconds:
                self.command = None
                say('"%s" has run for %g s without sleeping, so virtual time stands still. Programs that poll, like '
                    "iperf3, never end here. Ctrl-C ends the guest; build/lab/traffic generates traffic." % (
                        command, self.seconds))


class Shell:
    """A guest that runs one command after the other, from files in the directory INBOX."""

    def __init__(self, options, inbox):
        self.inbox, self.turn = inbox, 1
        self.watchdog = Watchdog()
        self.kernel = None      # process of the guest's kernel
        self.put("1", "")
        guest = "%s tools/lab/in-guest --build %d %s && exec tools/lab/shell-guest %s" % (
            ENVIRONMENT, options.seed, shlex.quote(options.topology), shlex.quote(inbox))
        command = [VM_RUN, "--kernel", options.kernel, "--virtual-time", str(options.seed),
                   "--timeout", str(options.timeout)]
        if options.memory:
            command += ["--memory", str(options.memory)]
        self.process = subprocess.Popen(command + ["--", guest], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        start_new_session=True)

    def put(self, name, text):
        """Write a file to the inbox atomically."""
        path = os.path.join(self.inbox, name)
        with open(path + ".new", "w", encoding="utf-8") as f:
            f.write(text)
        os.rename(path + ".new", path)

    def show(self):
        """Print the guest's output. Return: words of its next prompt, or None if the guest has ended."""
        for line in self.process.stdout:
            text = line.decode("utf-8", "replace")
            before, prompt, words = text.partition(PROMPT)
            if text.endswith(TICK):
                before, prompt = text[:-len(TICK)], ""
                self.watchdog.progress()
            elif not prompt:
                before = text
            sys.stdout.write(before)
            sys.stdout.flush()
            if prompt:
                self.watchdog.stop()
                self.hold()
                return words.split()
        return None

    def hold(self):
        """Stop the guest's kernel, and so its processes. Stopping these would look like a signal of the guest."""
        if not self.kernel:
            timeout = next(pid for pid in children(self.process.pid) if name_of(pid) == "timeout")
            self.kernel = children(timeout)[0]
        os.kill(self.kernel, signal.SIGSTOP)

    def do(self, command):
        """Let the guest run a command."""
        self.watchdog.start(command)
        self.put(str(self.turn + 1), "")
        self.put(str(self.turn), command + "\n")
        self.turn += 1
        os.kill(self.kernel, signal.SIGCONT)

    def end(self):
        if self.process.poll() is None:
            if self.kernel:
                os.kill(self.kernel, signal.SIGCONT)
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait()


def ask(words):
    """Return: the next command, or None at the end of the input."""
    status, now = int(words[0]), int(words[1]) - START_US
    prompt = "lab %.6f s%s> " % (now / 1e6, " (status %d)" % status if status else "")
    try:
        return input(prompt if sys.stdin.isatty() else "")
    except EOFError:
        return None


def run(options):
    """Run the prompt. Return: status of the last command."""
    if sys.stdin.isatty():
        import readline     # noqa: F401 (gives input() history and editing)
        print("bash in a guest in virtual time; `ip netns` lists the hosts, exit or Ctrl-D ends it")
    with tempfile.TemporaryDirectory(dir=os.environ["CLOSNET_CACHE"], prefix="lab-shell.") as inbox:
        os.chmod(inbox, 0o755)
        shell = Shell(options, inbox)
        try:
            while True:
                words = shell.show()
                if words is None:
                    return shell.process.wait()
                command = ask(words)
                shell.do("exit" if command is None else command or ":")
        finally:
            shell.end()

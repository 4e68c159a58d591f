# SPDX-License-Identifier: GPL-2.0-only
"""lab shell: a prompt in a guest. Virtual time stands still while it waits; lines are edited on the host."""
import os
import shlex
import signal
import subprocess
import sys
import tempfile

from closlab.runner import ENVIRONMENT, VM_RUN

START_US = 10**15       # what the guest's clock shows at its start


def children(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as f:
        return [int(word) for word in f.read().split()]


def name_of(pid):
    with open("/proc/%d/comm" % pid, encoding="ascii") as f:
        return f.read().strip()


class Shell:
    """A guest that runs commands one after the other; INBOX is where it looks for them."""

    def __init__(self, options, inbox):
        self.inbox, self.turn = inbox, 1
        self.kernel = None      # the process that is the guest's kernel
        self.put("1", "")
        guest = "%s tools/lab/in-guest --build %s && exec tools/lab/shell-guest %s" % (
            ENVIRONMENT, shlex.quote(options.topology), shlex.quote(inbox))
        command = [VM_RUN, "--kernel", options.kernel, "--virtual-time", str(options.seed),
                   "--timeout", str(options.timeout)]
        if options.memory:
            command += ["--memory", str(options.memory)]
        self.process = subprocess.Popen(command + ["--", guest], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        start_new_session=True)

    def put(self, name, text):
        """A file in the inbox, there at once with all that is in it."""
        path = os.path.join(self.inbox, name)
        with open(path + ".new", "w", encoding="utf-8") as f:
            f.write(text)
        os.rename(path + ".new", path)

    def show(self):
        """Shows what the guest prints. Returns the words of its next prompt, or None if it has ended."""
        for line in self.process.stdout:
            text = line.decode("utf-8", "replace")
            before, prompt, words = text.partition("@prompt ")
            sys.stdout.write(before if prompt else text)
            sys.stdout.flush()
            if prompt:
                self.hold()
                return words.split()
        return None

    def hold(self):
        """Stops the guest. Only its kernel: that traces its processes, and would take their stops for theirs."""
        if not self.kernel:
            timeout = next(pid for pid in children(self.process.pid) if name_of(pid) == "timeout")
            self.kernel = children(timeout)[0]
        os.kill(self.kernel, signal.SIGSTOP)

    def do(self, command):
        """Has the guest run it."""
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
    """The next command; None at the end of the input."""
    status, now = int(words[0]), int(words[1]) - START_US
    prompt = "lab %.6f s%s> " % (now / 1e6, " (status %d)" % status if status else "")
    try:
        return input(prompt if sys.stdin.isatty() else "")
    except EOFError:
        return None


def run(options):
    """Returns the last command's status."""
    if sys.stdin.isatty():
        import readline     # noqa: F401 (input() gets history and editing by it)
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

# SPDX-License-Identifier: GPL-2.0-only
"""Virtual time and random numbers in the guest."""
import ctypes
import os
import struct
import time

SEED = "/proc/sys/kernel/random/seed"   # of tools/lab/patches
START_NS = 10**9        # the set-up starts at a multiple of this on CLOCK_MONOTONIC
STEP_NS = 10**6         # and its commands at multiples of this
TFD_TIMER_ABSTIME = 1

# what seed() is called for
COMMAND, PROGRAMS, ORIGIN = 1, 2, 3

LIBC = ctypes.CDLL(None, use_errno=True)
run_seed = 1            # of the run
commands = 0            # commands of the set-up so far


def seed(purpose, number):
    """Let all later random numbers of the kernel follow from the run's seed, PURPOSE and NUMBER.

    No system call of this function fails, because that would take time.
    """
    fd = os.open(SEED, os.O_WRONLY)
    os.write(fd, b"%d %d %d" % (run_seed, purpose, number))
    os.close(fd)


def sleep_until(when):
    """Sleep until WHEN, ns on CLOCK_MONOTONIC. Unlike time.sleep(), it ends at exactly that time."""
    timer = LIBC.timerfd_create(time.CLOCK_MONOTONIC, 0)
    LIBC.timerfd_settime(timer, TFD_TIMER_ABSTIME, struct.pack("4q", 0, 0, *divmod(when, 10**9)), None)
    os.read(timer, 8)
    os.close(timer)


def sleep_until_multiple(of):
    """Sleep until the next multiple of OF, ns on CLOCK_MONOTONIC."""
    sleep_until((time.monotonic_ns() // of + 1) * of)


def start(of_run):
    """Start the set-up of a run with the seed OF_RUN, at a time that does not depend on the time of Python's start.

    Programs that wake at the same time run in that order, whatever they have done before, as with SCHED_FIFO.
    """
    global run_seed
    run_seed = of_run
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    sleep_until_multiple(START_NS)


def next_command():
    """Prepare for a command of the set-up.

    Its time and random numbers do not depend on the failing system calls and the random numbers of earlier ones.
    """
    global commands
    commands += 1
    sleep_until_multiple(STEP_NS)
    seed(COMMAND, commands)

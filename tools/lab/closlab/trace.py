# SPDX-License-Identifier: GPL-2.0-only
"""Record trace events of a measurement from the guest's tracefs into CSV files."""
import os
import re

TRACING = "/sys/kernel/tracing"
BUFFER_KB = 64 << 10    # for some hundred thousand events


def put(name, text):
    with open(os.path.join(TRACING, name), "w", encoding="ascii") as f:
        f.write(text)


def keys_of(description):
    """Return: keys of an event that prints "KEY=VALUE KEY=VALUE ...", from its file "format" in tracefs."""
    printed = re.search(r'^print fmt: ((?:"[^"]*"\s*)+)', description, re.MULTILINE)
    keys = re.findall(r"(\w+)=", printed[1])
    if not keys:
        raise RuntimeError("the event prints no KEY=VALUE: " + printed[1])
    return keys


class Table:
    """CSV file of an event: time_ns, and a column per key."""

    def __init__(self, path, keys):
        self.out = open(path, "w", encoding="ascii", newline="")
        self.out.write(",".join(["time_ns"] + keys) + "\n")
        self.words = re.compile(" ".join(key + "=([^ ,]*)" for key in keys))

    def add(self, time_ns, text):
        match = self.words.fullmatch(text)
        if not match:
            raise RuntimeError("unexpected output of an event, not KEY=VALUE: " + text)
        self.out.write("%d,%s\n" % (time_ns, ",".join(match.groups())))


def convert(lines, tables, origin):
    """Add the lines of the file "trace" to the TABLES, {event: Table}, with times relative to ORIGIN."""
    for line in lines:
        if line.startswith("#"):
            counts = re.search(r"entries-in-buffer/entries-written: (\d+)/(\d+)", line)
            if counts and counts[1] != counts[2]:
                raise RuntimeError("the trace buffer overflowed: %s of %s events are left" % (
                    counts[1], counts[2]))
            continue
        # "   <...>-17      [000]  1234.567890: tcp_probe: family=AF_INET src=..."
        head, event, text = line.rstrip("\n").split(": ", 2)
        time_ns = int(head.rpartition(" ")[2].replace(".", "")) * 1000
        tables[event].add(time_ns - origin, text)


class Tracer:
    """Record EVENTS, {"system:event": path of the CSV file}, from start() to stop()."""

    def __init__(self, events):
        self.events = {event.replace(":", "/"): path for event, path in events.items()}

    def start(self):
        put("trace_clock", "mono")
        put("buffer_size_kb", str(BUFFER_KB))
        put("options/record-cmd", "0")
        put("options/irq-info", "0")
        put("trace", "")
        for event in self.events:
            put("events/%s/enable" % event, "1")

    def stop(self, origin):
        """Write the files, with times relative to ORIGIN."""
        tables = {}
        for event, path in self.events.items():
            put("events/%s/enable" % event, "0")
            with open("%s/events/%s/format" % (TRACING, event), encoding="ascii") as f:
                tables[os.path.basename(event)] = Table(path, keys_of(f.read()))
        with open(os.path.join(TRACING, "trace"), encoding="ascii") as f:
            convert(f, tables, origin)
        for table in tables.values():
            table.out.close()

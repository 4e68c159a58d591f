# SPDX-License-Identifier: GPL-2.0-only
"""What an experiment's report() works with, on the host: the CSV files of all schemes, and how to show them."""
import csv
import json
import math
import os
import re

from closlab import experiment
from closlab.params import BadValue, Values

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#666666", "#f0e442")
STYLE = {"svg.hashsalt": "closnet", "font.size": 9, "axes.titlesize": 10, "axes.spines.top": False,
         "axes.spines.right": False, "legend.frameon": False}
BARS = {
    ">=": lambda value, bar: value >= bar,
    "<=": lambda value, bar: value <= bar,
    ">": lambda value, bar: value > bar,
    "<": lambda value, bar: value < bar,
    "==": lambda value, bar: value == bar,
}


class Columns(dict):
    """A CSV file: {column: list of values}; numbers are int or float."""

    def rows(self):
        """The lines, each as {column: value}."""
        return [dict(zip(self, values)) for values in zip(*self.values())]

    def where(self, **wanted):
        """The lines in which the columns named have these values."""
        keep = [all(row[k] == v for k, v in wanted.items()) for row in self.rows()]
        return Columns((name, [v for v, k in zip(values, keep) if k]) for name, values in self.items())


def value_of(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def read_csv(path):
    with open(path, encoding="utf-8", newline="") as f:
        lines = csv.reader(f)
        header = next(lines)
        values = [[value_of(text) for text in line] for line in lines]
    for number, line in enumerate(values, 2):
        if len(line) != len(header):
            raise ValueError("%s:%d: %d values, not %d" % (path, number, len(line), len(header)))
    columns = zip(*values) if values else ([] for _ in header)
    return Columns((name, list(column)) for name, column in zip(header, columns))


def mean(values):
    return sum(values) / len(values)


def quantile(values, q):
    """The smallest of the values that a share q of them does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(q * len(ordered)) - 1)]


def jain(values):
    """Jain's index of fairness: 1 if all are equal, 1/n if one has all."""
    squares = sum(v * v for v in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else 1.0


def holds(value, bar):
    """Whether VALUE is as BAR says: ">= 9.4", "< 2", "0.9..1.1"."""
    between = re.fullmatch(r"(-?[\d.e+-]+?)\.\.(-?[\d.e+-]+)", bar)
    if between:
        return float(between[1]) <= value <= float(between[2])
    sign, _, limit = bar.partition(" ")
    if sign not in BARS:
        raise ValueError("bar %r is not like '>= 9.4' or '0.9..1.1'" % bar)
    return BARS[sign](value, float(limit))


def layout(header, rows):
    """The lines of a table in plain text; numbers are right-aligned."""
    texts = [[cell if isinstance(cell, str) else "%.4g" % cell if isinstance(cell, float) else str(cell)
              for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [list(header)] + texts) for i in range(len(header))]
    left = [all(isinstance(row[i], str) for row in rows) for i in range(len(header))]
    for row in [list(header)] + texts:
        yield "  ".join(cell.ljust(width) if l else cell.rjust(width)
                        for cell, width, l in zip(row, widths, left)).rstrip()


class Results:
    """A finished run in its directory.

    params, seed, small   as in closlab.guest.Lab
    schemes               the names of the schemes that ran
    """

    def __init__(self, directory):
        self.directory = directory
        try:
            with open(self.path("params.json"), encoding="utf-8") as f:
                about = json.load(f)
        except FileNotFoundError:
            raise BadValue("%s is no directory of results: it has no params.json" % directory) from None
        self.module = experiment.load(about["experiment"])
        self.params = Values(self.module.PARAMS, about["params"])
        self.schemes, self.seed, self.small = about["schemes"], about["seed"], about["small"]
        self.claims, self.lines, self.figures = [], [], {}

    def path(self, *names):
        return os.path.join(self.directory, *names)

    def csv(self, scheme, name):
        return read_csv(self.path(scheme, name))

    def colour(self, scheme):
        return COLOURS[list(self.module.SCHEMES).index(scheme) % len(COLOURS)]

    def text(self, *lines):
        """Adds lines to table.txt."""
        self.lines.extend(lines)

    def table(self, header, rows):
        """Adds a table to table.txt."""
        self.text(*layout(header, rows), "")

    def claim(self, ident, text, value, bar):
        """Something that the experiment shall show: TEXT, the VALUE measured, the BAR that it has to pass."""
        value = float(value)
        self.claims.append({"id": ident, "text": text, "value": value, "bar": bar, "holds": holds(value, bar)})

    def figure(self, name, rows=1, columns=1, size=None):
        """(figure, axes) of matplotlib; it becomes NAME.svg."""
        import matplotlib
        matplotlib.use("Agg")
        matplotlib.rcParams.update(STYLE)
        import matplotlib.pyplot as plt
        figure, axes = plt.subplots(rows, columns, figsize=size or (4.2 * columns, 3.2 * rows))
        self.figures[name] = figure
        return figure, axes

    def report(self):
        """Has the experiment look at the results, and writes what it says. Returns whether all claims hold."""
        self.module.report(self)
        for claim in self.claims:
            self.text("%-7s %s: %.4g (%s): %s" % ("holds" if claim["holds"] else "FAILS", claim["id"], claim["value"],
                                                  claim["bar"], claim["text"]))
        with open(self.path("table.txt"), "w", encoding="utf-8") as f:
            f.writelines(line + "\n" for line in self.lines)
        with open(self.path("claims.json"), "w", encoding="utf-8") as f:
            json.dump(self.claims, f, indent=1)
            f.write("\n")
        for name, figure in self.figures.items():
            figure.tight_layout()
            figure.savefig(self.path(name + ".svg"), metadata={"Date": None})
        return all(claim["holds"] for claim in self.claims)

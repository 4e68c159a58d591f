# SPDX-License-Identifier: GPL-2.0-only
"""Interface of an experiment's report(), on the host: CSV files of all schemes, tables, claims, figures."""
import csv
import json
import math
import os
import re
import sys

from closlab import experiment
from closlab.params import BadValue, Values

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#666666", "#f0e442", "#000000")
# Colours of schemes that several experiments have. Schemes without an entry get colours that the entries of their
# experiment leave; no two schemes of an experiment may have the same entry.
BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, GREY, YELLOW, BLACK = COLOURS
SCHEME_COLOURS = {
    # transports and congestion controls
    "ndp": BLUE, "ndp-srpt": SKY, "dctcp": VERMILION, "dctcp-warm": ORANGE, "dctcp-bands": BLACK,
    "cubic": GREY, "bbr": PURPLE, "dcqcn": GREEN, "roce-dcqcn": BLACK, "pfc": ORANGE, "roce-pfc": ORANGE,
    "none": GREY, "pcrp": BLUE,
    "timely": SKY, "classic": SKY, "patched": BLACK, "swift": BLUE, "tcp": VERMILION,
    # switches
    "cp": VERMILION, "droptail": GREY, "fifo": GREY,
    # load balancing
    "ecmp": GREY, "wcmp": BLACK, "letflow": ORANGE, "flowlet-quality": YELLOW, "random": SKY, "rr": PURPLE,
    "drill": VERMILION, "quality": GREEN, "glb": BLUE, "reorder": SKY, "conweave": BLUE,
    # conditions
    "all": BLUE, "quiet": GREY,
    # rates
    "1gbit": PURPLE, "10gbit": BLUE, "25gbit": GREEN, "40gbit": ORANGE, "100gbit": VERMILION,
}
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
    """A CSV file: {column: list of values}. Numbers are int or float."""

    def rows(self):
        """Return: the rows, as {column: value}."""
        return [dict(zip(self, values)) for values in zip(*self.values())]

    def where(self, **values_by_column):
        """Return: Columns with the rows that have these values."""
        keep = [all(row[k] == v for k, v in values_by_column.items()) for row in self.rows()]
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
    """Return: the smallest value that a share Q of all values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(q * len(ordered)) - 1)]


class Histogram:
    """One-way delays of lab.delays(): the rows of a port, or of all ports.

    count   number of frames
    """

    def __init__(self, columns):
        self.buckets = sorted(zip(columns["from_ns"], columns["to_ns"], columns["frames"]))
        self.count = sum(columns["frames"])

    def quantile(self, q):
        """Return: delay that a share Q of the frames does not exceed, ns; too large by 1/16 at most. NaN: no frames"""
        left = max(1, math.ceil(q * self.count))
        for _, to_ns, frames in self.buckets:
            left -= frames
            if left <= 0:
                return to_ns
        return math.nan


def jain(values):
    """Return: Jain's fairness index: 1 if all values are equal, 1/n if one has everything."""
    squares = sum(v * v for v in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else 1.0


def holds(value, bar):
    """Return: True if VALUE satisfies BAR: ">= 9.4", "< 2", "0.9..1.1"."""
    between = re.fullmatch(r"(-?[\d.e+-]+?)\.\.(-?[\d.e+-]+)", bar)
    if between:
        return float(between[1]) <= value <= float(between[2])
    sign, _, limit = bar.partition(" ")
    if sign not in BARS:
        raise ValueError('invalid bar "%s", expected ">= 9.4" or "0.9..1.1"' % bar)
    return BARS[sign](value, float(limit))


def layout(header, rows):
    """Yield the lines of a table in plain text, with right-aligned numbers."""
    texts = [[cell if isinstance(cell, str) else "%.4g" % cell if isinstance(cell, float) else str(cell)
              for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [list(header)] + texts) for i in range(len(header))]
    left = [all(isinstance(row[i], str) for row in rows) for i in range(len(header))]
    for row in [list(header)] + texts:
        yield "  ".join(cell.ljust(width) if l else cell.rjust(width)
                        for cell, width, l in zip(row, widths, left)).rstrip()


def colours(schemes):
    """Return: {scheme: colour} of an experiment, different colours for up to len(COLOURS) schemes."""
    found = {scheme: SCHEME_COLOURS[scheme] for scheme in schemes if scheme in SCHEME_COLOURS}
    rest = [colour for colour in COLOURS if colour not in found.values()] or COLOURS
    others = [scheme for scheme in schemes if scheme not in found]
    found.update((scheme, rest[i % len(rest)]) for i, scheme in enumerate(others))
    return found


def log_axis(axis):
    """Give an axis of matplotlib (axes.xaxis or axes.yaxis) a logarithmic scale with plain numbers: 1, 2, 5, 10, ..."""
    from matplotlib import ticker
    axis.axes.set(**{axis.axis_name + "scale": "log"})
    axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_locator(ticker.NullLocator())


def legends_over_data(figure):
    """Return: number of axes of a figure of matplotlib whose legend lies over one of their lines or bars."""
    from matplotlib.transforms import Bbox
    figure.canvas.draw()
    covered = 0
    for axes in figure.axes:
        if axes.get_legend():
            box = axes.get_legend().get_window_extent()
            lines = any(line.get_transform().transform_path(line.get_path()).intersects_bbox(box, filled=False)
                        for line in axes.get_lines() if len(line.get_xdata()))
            shown = [Bbox.intersection(bar.get_window_extent(), axes.bbox)
                     for bars in axes.containers for bar in getattr(bars, "patches", ())]
            covered += lines or any(bar and bar.overlaps(box) for bar in shown)
    return covered


class Results:
    """Results of a run.

    params, seed, small   as in closlab.guest.Lab
    schemes               names of the schemes with results
    of_one_run            axes that show the course of a run: `lab sweep` draws them for its first seed, without a mean
    """

    def __init__(self, directory):
        self.directory = directory
        try:
            with open(self.path("params.json"), encoding="utf-8") as f:
                about = json.load(f)
        except FileNotFoundError:
            raise BadValue("%s is not a directory of results: missing params.json" % directory) from None
        self.module = experiment.load(about["experiment"])
        self.params = Values(self.module.PARAMS, about["params"])
        self.schemes, self.seed, self.small = about["schemes"], about["seed"], about["small"]
        self.claims, self.lines, self.figures, self.tables = [], [], {}, []
        self.of_one_run = []

    def path(self, *names):
        return os.path.join(self.directory, *names)

    def csv(self, scheme, name):
        return read_csv(self.path(scheme, name))

    def colour(self, scheme):
        return colours(self.module.SCHEMES)[scheme]

    def text(self, *lines):
        """Adds lines to table.txt."""
        self.lines.extend(lines)

    def table(self, header, rows):
        """Adds a table to table.txt."""
        self.tables.append((tuple(header), [tuple(row) for row in rows]))
        self.text(*layout(header, rows), "")

    def claim(self, ident, text, value, bar):
        """Check a claim of the experiment: TEXT, the measured VALUE, and the BAR that it must satisfy."""
        value = float(value)
        self.claims.append({"id": ident, "text": text, "value": value, "bar": bar, "holds": holds(value, bar)})

    def figure(self, name, rows=1, columns=1, size=None):
        """Return: figure and axes of matplotlib, to be saved as NAME.svg."""
        import matplotlib
        matplotlib.use("Agg")
        matplotlib.rcParams.update(STYLE)
        import matplotlib.pyplot as plt
        figure, axes = plt.subplots(rows, columns, figsize=size or (4.2 * columns, 3.2 * rows))
        self.figures[name] = figure
        return figure, axes

    def collect(self):
        """Run the experiment's report() without writing files."""
        self.module.report(self)

    def close(self):
        """Free the memory of the figures."""
        if self.figures:
            import matplotlib.pyplot as plt
            for figure in self.figures.values():
                plt.close(figure)

    def report(self):
        """Run the experiment's report() and write its output. Return: True if all claims hold."""
        self.collect()
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
            if covered := legends_over_data(figure):
                print("lab: %s.svg: %d legends over data" % (name, covered), file=sys.stderr)
            figure.savefig(self.path(name + ".svg"), metadata={"Date": None})
        self.close()
        return all(claim["holds"] for claim in self.claims)

# SPDX-License-Identifier: GPL-2.0-only
"""Sweeps on the host: an experiment with several seeds and parameters, and the summary over the seeds.

A point is a set of parameters. Its runs, one per seed, are directories of `lab run`: DIR/POINT/seed-N.
"""
import csv
import itertools
import json
import os
import random
import re
import shlex
import traceback

from closlab import cpu, experiment, inputs, pooled, runner
from closlab.params import BadValue, assignments, texts
from closlab.results import Results, layout, value_of
from closlab.statistics import half_interval, interval, mean, plus_minus, verdict

CLAIM_COLUMNS = ("point", "id", "bar", "mean", "low", "high", "verdict", "text", "seeds", "values")
HELD_OUT_SEEDS = (10**6, 2**32)     # seeds of --held-out; published numbers use seeds below
RESERVE = 0.1                       # share of the host's memory that guests leave free
GIB = 2**30
DEFAULT_GIB = {"uml": 1, "uml-debug": 2}


def parse_seeds(text):
    """Return: seeds of "1..20", "3" or "1..5,9"."""
    seeds = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d+)(?:\.\.(\d+))?", part)
        if not match:
            raise BadValue('"%s" is not a list of seeds, like 1..20 or 1,2,7' % text)
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first or last >= 2**64:
            raise BadValue('"%s" is not a range of seeds from 0 to 2^64 - 1' % part)
        seeds += range(first, last + 1)
    return sorted(set(seeds))


def grid(params, given):
    """Return: points, {name: text}, for all combinations of the values in GIVEN.

    "load=0.5,0.8" gives two values. The value of a parameter that is a list is one value; "+" separates several.
    """
    several = {param.name: param.several for param in params}
    names = list(given)
    values = [given[name].split("+" if several.get(name) else ",") for name in names]
    return [dict(zip(names, combination)) for combination in itertools.product(*values)]


def held_out(params, given, seeds, draw):
    """Return: points for --held-out: one, with all parameters that have a range and are not GIVEN drawn from it."""
    point = dict(given)
    for param in params:
        if param.held_out and param.name not in given:
            point[param.name] = param.draw(draw)
    return [point], sorted(draw.sample(range(*HELD_OUT_SEEDS), seeds))


def name_of(point):
    """Return: name of the point's directory."""
    return re.sub(r"[^\w.,=+-]", "_", " ".join("%s=%s" % item for item in sorted(point.items()))) or "default"


def guests_at_once(options):
    """Return: number of guests that CPUs and free memory allow; at least 1."""
    with open("/proc/meminfo", encoding="ascii") as f:
        free = next(int(line.split()[1]) << 10 for line in f if line.startswith("MemAvailable:"))
    fit = int(free * (1 - RESERVE) / GIB / (options.memory or DEFAULT_GIB[options.kernel]))
    return max(1, min(options.jobs, fit))


class Run:
    """A run of a sweep: a point with a seed. `waiting`: schemes without results"""

    def __init__(self, point, seed, job, schemes, directory):
        self.point, self.seed, self.job, self.schemes, self.directory = point, seed, job, schemes, directory
        self.waiting = [] if self.complete() else list(schemes)

    def complete(self):
        """Return: True if the directory has the results of this run."""
        try:
            with open(os.path.join(self.directory, "params.json"), encoding="utf-8") as f:
                about = json.load(f)
        except FileNotFoundError:
            return False
        return all(about.get(key) == value for key, value in self.job.items()) and \
            about.get("cpu") == self.job.get("cpu") and \
            set(self.schemes) <= set(about["schemes"]) and "failed" not in about and \
            os.path.exists(os.path.join(self.directory, "claims.json"))

    def renew(self, described):
        """Repeat this run if its results were made from other inputs than DESCRIBED, see closlab.inputs."""
        if not self.waiting and not inputs.same(self.directory, described):
            runner.say("%s, seed %d: made from other inputs, so it is repeated" % (name_of(self.point), self.seed))
            self.waiting = list(self.schemes)

    def command(self, options):
        """Return: the command that makes this run; 1 (a claim fails) is no failure here."""
        words = ["tools/lab/lab", "run", self.job["experiment"], "--seed", str(self.seed), "--kernel", options.kernel,
                 "--out", os.path.relpath(self.directory, experiment.TOP), "-j", "1",
                 "--scheme", ",".join(self.schemes)]
        if options.memory:
            words += ["--memory", str(options.memory)]
        if options.small:
            words.append("--small")
        if options.cpu:
            words += ["--cpu", options.cpu]
        words += ["--timeout", str(options.timeout), "--stall", str(options.stall)]
        if self.point:
            words += ["--set"] + ["%s=%s" % item for item in self.point.items()]
        return shlex.join(words) + " || [ $? -eq 1 ]"


def plan(module, name, schemes, directory, options):
    """Return: runs of the sweep."""
    given = assignments(options.set)
    if options.held_out:
        seed = random.SystemRandom().getrandbits(32) if options.draw is None else options.draw
        runner.say("held out: draw %d; --draw %d repeats it" % (seed, seed))
        points, seeds = held_out(module.PARAMS, given, options.held_out, random.Random(seed))
    else:
        points, seeds = grid(module.PARAMS, given), parse_seeds(options.seeds)
    runs = []
    for point in points:
        settings = dict(module.SMALL) if options.small else {}
        settings.update(point)
        for seed in seeds:
            job = {"experiment": name, "seed": seed, "small": options.small, "params": texts(module.PARAMS, settings),
                   **cpu.job(options.cpu)}
            runs.append(Run(point, seed, job, schemes, os.path.join(directory, name_of(point), "seed-%d" % seed)))
    return runs


class Sweep:
    """The runs of a sweep that are not complete. DESCRIBED: their inputs, see closlab.inputs."""

    def __init__(self, runs, options, write_params, described):
        self.runs, self.options, self.write_params, self.described = runs, options, write_params, described
        self.by_task, self.without_report = {}, {}

    def tasks(self):
        for run in self.runs:
            if run.waiting:
                runner.clear(run.directory)
            for scheme in run.waiting:
                task = runner.Task(scheme, run.job, run.directory, "%s %d %s" % (name_of(run.point), run.seed, scheme))
                self.by_task[task] = run
        return list(self.by_task)

    def done(self, task):
        """Report a run when its last scheme is done. Before, it has no params.json, so it counts as not complete."""
        run = self.by_task[task]
        run.waiting.remove(task.scheme)
        if not run.waiting:
            self.write_params(run.directory, dict(run.job, schemes=run.schemes, kernel=self.options.kernel))
            inputs.write(run.directory, self.described)
            inputs.write_digests(run.directory, run.schemes)
            try:
                Results(run.directory).report()
            except Exception:
                # without claims.json it counts as not complete; the other runs continue
                traceback.print_exc()
                self.without_report[task] = "its run cannot be reported; the reason is above"

    def run(self):
        """Return: {task: reason} of failed guests and reports."""
        self.options.jobs = guests_at_once(self.options)
        crew = runner.Crew(self.tasks(), self.options, self.done)
        crew.run()
        return {**crew.failed, **self.without_report}


# ---- summary

def cell(values):
    """Return: text of a table's cell from its VALUES, one per seed: mean and 95 % interval, if they are numbers."""
    if all(value == values[0] for value in values):
        return values[0]
    if not all(isinstance(value, (int, float)) for value in values):
        return "-"
    return plus_minus(mean(values), half_interval(values))


def merged(tables):
    """Return: header and rows of a table from those of all seeds; None if their shapes differ."""
    header, rows = tables[0]
    if any(other[0] != header or len(other[1]) != len(rows) for other in tables):
        return None
    return header, [[cell([other[1][r][c] for other in tables]) for c in range(len(header))] for r in range(len(rows))]


def spread(tables):
    """Return: header and rows of a table for a CSV file, from those of all seeds; None if their shapes differ.

    A column whose numbers differ between seeds is three: the mean, and its 95 % interval as "NAME low" and "NAME high".
    """
    header, rows = tables[0]
    if merged(tables) is None:
        return None
    columns = []
    for c, name in enumerate(header):
        cells = [[other[1][r][c] for other in tables] for r in range(len(rows))]
        if all(value == values[0] for values in cells for value in values):
            columns.append([name, *(values[0] for values in cells)])
            continue
        numbers = [all(isinstance(value, (int, float)) for value in values) for values in cells]
        parts = [(mean(values), *interval(values)) if number else (cell(values), "", "")
                 for values, number in zip(cells, numbers)]
        columns += [[name + end, *column] for end, column in zip(("", " low", " high"), zip(*parts))]
    first, *rest = zip(*columns)
    return first, rest


def write_tables(results, directory):
    """Write each table of RESULTS, one per seed, over the seeds to table-N.csv, unless its rows differ between seeds."""
    for number, tables in enumerate(zip(*(result.tables for result in results)), 1):
        table = spread(tables)
        if table:
            with open(os.path.join(directory, "table-%d.csv" % number), "w", encoding="utf-8", newline="") as f:
                out = csv.writer(f, lineterminator="\n")
                out.writerow(table[0])
                out.writerows(["%.6g" % value if isinstance(value, float) else value for value in row]
                              for row in table[1])


def readable(path, names):
    """Return: header and rows of a file of write_tables(), with "mean ± half interval" in one column.

    NAMES: columns to return, by default all. A name that several columns have stands for all of them.
    """
    with open(path, encoding="utf-8", newline="") as f:
        header, *rows = csv.reader(f)
    columns = []
    for i, name in enumerate(header):
        if header[i + 1:i + 3] == [name + " low", name + " high"]:
            columns.append((name, [text_of(*row[i:i + 3]) for row in rows]))
        elif not (columns and name in (columns[-1][0] + " low", columns[-1][0] + " high")):
            columns.append((name, [value_of(row[i]) for row in rows]))
    for name in names:
        if name not in dict(columns):
            raise BadValue('unknown column "%s" (%s)' % (name, ", ".join(dict(columns))))
    shown = [column for name in names for column in columns if column[0] == name] or columns
    return tuple(name for name, _ in shown), list(zip(*(cells for _, cells in shown)))


def text_of(middle, low, high):
    """Return: text of a cell of a file of write_tables(); LOW and HIGH are empty if it has no interval."""
    return plus_minus(float(middle), (float(high) - float(low)) / 2) if low else middle


def judged(results):
    """Return: per claim of any seed: id, text, bar, values, mean, low, high, verdict.

    A claim that a seed lacks is open.
    """
    found = []
    by_id = [{claim["id"]: claim["value"] for claim in other.claims} for other in results]
    for claim in {claim["id"]: claim for other in reversed(results) for claim in other.claims}.values():
        values = [other[claim["id"]] for other in by_id if claim["id"] in other]
        low, high = interval(values)
        found.append({"id": claim["id"], "text": claim["text"], "bar": claim["bar"], "values": values,
                      "mean": mean(values), "low": low, "high": high,
                      "verdict": verdict(values, claim["bar"]) if len(values) == len(results) else "open"})
    return found


def band(axes, lines):
    """Replace LINES, the same line of each seed, that of AXES first, by their mean with a band of its 95 % interval.

    If the seeds have other abscissas but the same ordinates, as distributions have, the band is horizontal. If both
    differ, the seeds' lines are drawn side by side.
    """
    first = lines[0]
    xs, ys = [[list(getattr(line, "get_%sdata" % axis)()) for line in lines] for axis in "xy"]
    if all(x == xs[0] for x in xs):
        across, along, fill, put = ys, xs[0], axes.fill_between, first.set_ydata
    elif all(y == ys[0] for y in ys):
        across, along, fill, put = xs, ys[0], axes.fill_betweenx, first.set_xdata
    else:
        for x, y in zip(xs[1:], ys[1:]):
            axes.plot(x, y, color=first.get_color(), alpha=0.3, linewidth=0.6)
        return
    columns = list(zip(*across))
    bounds = [interval(list(column)) for column in columns]
    put([mean(column) for column in columns])
    fill(along, [low for low, _ in bounds], [high for _, high in bounds], color=first.get_color(), alpha=0.2, linewidth=0)


def error_bars(axes, bars):
    """Give BARS, the same bars of each seed, those of AXES first, their mean length and its 95 % interval.

    Stacked bars begin at the mean of their seeds. Return: the upper ends of the intervals, (x, y)
    """
    flat = bars[0].orientation == "horizontal"
    ends = []
    for rectangles in zip(*bars):
        lengths = [rectangle.get_width() if flat else rectangle.get_height() for rectangle in rectangles]
        begin = mean([rectangle.get_x() if flat else rectangle.get_y() for rectangle in rectangles])
        middle, half = mean(lengths), half_interval(lengths)
        first, style = rectangles[0], {"fmt": "none", "ecolor": "black", "elinewidth": 0.8, "capsize": 2}
        if flat:
            across = first.get_y() + first.get_height() / 2
            first.set(x=begin, width=middle)
            axes.errorbar(begin + middle, across, xerr=half, **style)
        else:
            across = first.get_x() + first.get_width() / 2
            first.set(y=begin, height=middle)
            axes.errorbar(across, begin + middle, yerr=half, **style)
        end = begin + middle + half
        ends.append((end, across) if flat else (across, end))
    return ends


def draw_intervals(axes, others):
    """Draw the lines of AXES, and its bars without error bars, as means over AXES and OTHERS with 95 % intervals."""
    for lines in list(zip(list(axes.lines), *(other.lines for other in others))):
        band(axes, lines)
    ends = []
    for bars in list(zip(list(axes.containers), *(other.containers for other in others))):
        if hasattr(bars[0], "patches") and bars[0].errorbar is None:
            ends += error_bars(axes, bars)
    axes.relim()
    if ends:
        # relim() ignores error bars
        axes.update_datalim(ends)
    axes.autoscale_view()


def draw_bands(results, directory):
    """Write the figures of the first of RESULTS, with the lines and bars of all of them as means with intervals."""
    for name, figure in results[0].figures.items():
        others = [result.figures[name] for result in results[1:] if name in result.figures]
        for number, axes in enumerate(figure.axes):
            same = [other.axes[number] for other in others if number < len(other.axes)]
            if same and axes not in results[0].of_one_run:
                draw_intervals(axes, same)
        figure.tight_layout()
        figure.savefig(os.path.join(directory, name + ".svg"), metadata={"Date": None})


def claim_row(point, seeds, claim):
    """Return: the CLAIM of judged() with CLAIM_COLUMNS; without values if one of the SEEDS lacks it."""
    values = claim["values"] if len(claim["values"]) == len(seeds) else ()
    return (point, claim["id"], claim["bar"], claim["mean"], claim["low"], claim["high"], claim["verdict"],
            claim["text"], " ".join(map(str, seeds)), " ".join(map(repr, values)))


def summarize(runs, directory):
    """Write the summary of each point from its complete runs, and print it. Return: True if no claim fails."""
    good = True
    lines = []
    with open(os.path.join(directory, "claims.csv"), "w", encoding="utf-8", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(CLAIM_COLUMNS)
        for point in dict.fromkeys(name_of(run.point) for run in runs):
            complete = [run for run in runs if name_of(run.point) == point and run.complete()]
            lines += ["== %s: %d seeds" % (point, len(complete)), ""]
            if not complete:
                continue
            results = [Results(run.directory) for run in complete]
            for result in results:
                result.collect()
            for tables in zip(*(result.tables for result in results)):
                table = merged(tables)
                lines += [*layout(*table), ""] if table else ["(a table whose rows differ between seeds)", ""]
            write_tables(results, os.path.join(directory, point))
            lines += pooled.write([run.directory for run in complete], complete[0].schemes,
                                  os.path.join(directory, point, "pooled.csv"))
            claims = judged(results)
            for claim in claims:
                good = good and claim["verdict"] != "fails"
                lines.append("%-5s %s: %s (%s): %s" % (
                    claim["verdict"], claim["id"], plus_minus(claim["mean"], half_interval(claim["values"])),
                    claim["bar"], claim["text"]))
                out.writerow(claim_row(point, [run.seed for run in complete], claim))
            lines.append("")
            with open(os.path.join(directory, point, "claims.json"), "w", encoding="utf-8") as claims_file:
                json.dump(claims, claims_file, indent=1)
                claims_file.write("\n")
            draw_bands(results, os.path.join(directory, point))
            for result in results:
                result.close()
    with open(os.path.join(directory, "table.txt"), "w", encoding="utf-8") as f:
        f.writelines(line + "\n" for line in lines)
    print("\n".join(lines))
    return good

# SPDX-License-Identifier: GPL-2.0-only
"""Poisson flows of all seeds of a sweep together, on the host: tails, offered load, and where the steady state begins."""
import csv
import glob
import os

from closlab.results import layout, read_csv
from closlab.statistics import pooled_tail, realized_load, steady_from

CLASSES = (("all", 0, 1 << 60), ("<= 1 KB", 0, 1000), ("<= 10 KB", 1000, 10_000), ("<= 100 KB", 10_000, 100_000),
           ("<= 1 MB", 100_000, 1_000_000), ("> 1 MB", 1_000_000, 1 << 60))
COLUMNS = ("scheme", "case", "class", "flows", "p99 slowdown", "low", "high", "steady from %", "offered Gbit/s")


def samples(directory, scheme):
    """Return: {case: Columns of its flows}, for the cases of SCHEME in DIRECTORY, a run's, whose flows are Poisson."""
    found = {}
    for path in sorted(glob.glob(os.path.join(directory, scheme, "flows-*.csv"))):
        flows = read_csv(path)
        if set(flows.get("name", ())) == {"poisson"} and "slowdown" in flows:
            found[os.path.basename(path)[len("flows-"):-len(".csv")]] = flows
    return found


def done(flows):
    """Return: [(start_ns, bytes, slowdown)] of the flows that ended, in the order of their start."""
    return sorted(row[1:] for row in zip(flows["state"], flows["start_ns"], flows["bytes"], flows["slowdown"])
                  if row[0] == "done")


def steady(seeds):
    """Return: text of the share of the flows, in %, before the steady state of the seed that reaches it last.

    SEEDS: lists of done(). "never": a seed does not reach it in the first half of its flows. "-": a seed has too few.
    """
    latest = 0
    for flows in seeds:
        slowdowns = [slowdown for _, _, slowdown in flows]
        try:
            latest = max(latest, steady_from(slowdowns) / len(slowdowns))
        except ValueError as error:
            return "-" if "too few" in str(error) else "never"
    return "%.0f" % (100 * latest)


def offered_gbps(flows):
    """Return: Gbit/s that the flows offered from the first start to the last one."""
    starts = [at for at in flows["start_ns"] if at != ""]
    return realized_load(flows, 1e9, min(starts), max(starts)) if len(starts) > 1 else 0


def rows_of(scheme, case, seeds):
    """Yield: rows with COLUMNS of a case; SEEDS: its flows in each seed."""
    ended = [done(flows) for flows in seeds]
    common = (steady(ended), "%.4g" % (sum(map(offered_gbps, seeds)) / len(seeds)))
    for name, low, high in CLASSES:
        slowdowns = [[slowdown for _, size, slowdown in flows if low < size <= high] for flows in ended]
        count = sum(map(len, slowdowns))
        try:
            tail, bounds = pooled_tail(slowdowns)
            yield (scheme, case, name, count, *("%.4g" % value for value in (tail, *bounds)), *common)
        except ValueError:
            if count:
                yield (scheme, case, name, count, "-", "-", "-", *common)


def write(directories, schemes, path):
    """Write the pooled flows of DIRECTORIES, a run's per seed, to the CSV file PATH. Return: lines of their table."""
    rows = []
    for scheme in schemes:
        by_seed = [samples(directory, scheme) for directory in directories]
        for case in by_seed[0]:
            rows += rows_of(scheme, case, [seed[case] for seed in by_seed if case in seed])
    if not rows:
        return []
    with open(path, "w", encoding="utf-8", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(COLUMNS)
        out.writerows(rows)
    return [*layout(COLUMNS, rows), ""]

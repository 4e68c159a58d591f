#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Run a sample of the published lab results again, and compare.

Usage: published.py [--sample N] [--draw N] [NAME...]
    NAME        a file NAME-claims.csv in Documentation/experiments; default: all that can be sampled
    --sample N  number of runs, default 2
    --draw N    number that determines the sample; default: today's date

Claims of `lab sweep` can be sampled: NAME-claims.csv has each seed's values, and the page that links to it has the
command of the sweep. A run is one of its points with one of its seeds. Its values have the same digits unless the
experiment, the lab or a module has changed since. Then a value must still fulfil its claim's bar, or miss it, as the
published one does, unless the claim is open. Exit status 1: one does not, or a run has failed.
"""
import argparse
import csv
import datetime
import glob
import json
import os
import random
import re
import shlex
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGES = os.path.join(TOP, "Documentation", "experiments")
LAB = os.path.join("tools", "lab", "lab")
sys.path.insert(0, os.path.join(TOP, "tools", "lab"))
from closlab import experiment  # noqa: E402
from closlab.params import assignments  # noqa: E402
from closlab.results import holds  # noqa: E402
from closlab.sweep import grid, name_of  # noqa: E402

# a sweep in the text of a page: in a literal, or in a literal block
SWEEP = re.compile(r"``%s sweep ([^`]*)``|^ +%s sweep ((?:.*\\\n)*.*)" % (LAB, LAB), re.MULTILINE)
LEFT_OUT = ("--seeds", "--set", "--out")    # options of a sweep that its runs do not have


def commands_of_sweep(text):
    """Return: {name: words of `lab run`, without the seed} of the points of `lab sweep TEXT`.

    Names are those of closlab.sweep.name_of(). A single point also has the name of the sweep's directory.
    """
    option, parts = "", {}
    for word in shlex.split(text.replace("\\\n", " ")):
        option = word if word.startswith("--") else option
        parts.setdefault(option, []).append(word)
    words = [word for option, part in parts.items() if option not in LEFT_OUT for word in part]
    points = grid(experiment.load(words[0]).PARAMS, assignments(parts.get("--set", ())[1:]))
    found = {name_of(point): words + (["--set"] + ["%s=%s" % item for item in point.items()] if point else [])
             for point in points}
    if "--out" in parts and len(points) == 1:
        found[os.path.basename(parts["--out"][1])] = found[name_of(points[0])]
    return found


def commands_of(page):
    """Return: {point: words of `lab run`} of all sweeps in the text of a page."""
    found = {}
    for inline, block in SWEEP.findall(page):
        found = {**commands_of_sweep(inline or block), **found}
    return found


def page_of(name):
    """Return: text of the page that links to NAME-claims.csv; "" if none does."""
    for path in sorted(glob.glob(os.path.join(PAGES, "*.rst"))):
        with open(path, encoding="utf-8") as f:
            page = f.read()
        if ":download:`%s-claims.csv`" % name in page:
            return page
    return ""


def load(name):
    """Return: (commands of the page, rows of the claims), or None if the claims lack the values of each seed."""
    try:
        with open(os.path.join(PAGES, name + "-claims.csv"), encoding="utf-8", newline="") as f:
            rows = [row for row in csv.DictReader(f) if row.get("values")]
    except FileNotFoundError:
        return None
    return (commands_of(page_of(name)), rows) if rows else None


def point_of(row):
    """Return: name of a row's point; in a file of several sweeps, of the sweep's directory."""
    return row.get("point") or row["run"]


def expected(rows, point, seed):
    """Return: {claim: (value, bar, verdict)} of a point and seed."""
    found = {}
    for row in rows:
        values = dict(zip(row["seeds"].split(), row["values"].split()))
        if point_of(row) == point and seed in values:
            found[row["id"]] = float(values[seed]), row["bar"], row["verdict"]
    return found


def compare(claims, found):
    """Return: (number of values with the same digits, texts about claims that are not as expected).

    CLAIMS: {claim: (value, bar, verdict)}. FOUND: {claim: value}
    """
    same, wrong = 0, []
    for name, (value, bar, verdict) in claims.items():
        now = found.get(name)
        same += now == value
        if now is None:
            wrong.append("%s: missing, was %.4g" % (name, value))
        elif verdict != "open" and holds(now, bar) != holds(value, bar):
            wrong.append("%s: %.4g, was %.4g (%s)" % (name, now, value, bar))
    return same, wrong


def run(name, command, point, seed):
    """Return: {claim: value}, or None if the run has failed."""
    out = os.path.join(TOP, "out", "published", "%s-%s-%s" % (name, point, seed))
    words = [LAB, "run", *command, "--seed", seed, "--out", out]
    print("published: " + shlex.join(words), flush=True)
    # 1: not all claims hold
    if subprocess.run(words, cwd=TOP, stdout=subprocess.DEVNULL, check=False).returncode not in (0, 1):
        return None
    with open(os.path.join(out, "claims.json"), encoding="utf-8") as f:
        return {claim["id"]: claim["value"] for claim in json.load(f)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", metavar="NAME", nargs="*")
    parser.add_argument("--sample", type=int, default=2)
    parser.add_argument("--draw", type=int, default=datetime.date.today().toordinal())
    options = parser.parse_args()
    names = options.pages or sorted(name[:-len("-claims.csv")] for name in os.listdir(PAGES)
                                    if name.endswith("-claims.csv"))
    pages = {name: page for name in names if (page := load(name))}
    unknown = [name for name in options.pages if name not in pages]
    if unknown:
        sys.exit('published: "%s" has no claims with the values of each seed' % unknown[0])
    runs = sorted({(name, point_of(row), seed) for name, page in pages.items() for row in page[1]
                   for seed in row["seeds"].split()})
    unknown = [(name, point) for name, point, _ in runs if point not in pages[name][0]]
    if unknown:
        sys.exit("published: no page has the command of %s, %s" % unknown[0])
    if options.sample < 1 or not runs:
        sys.exit("published: nothing to run")
    failed = False
    for name, point, seed in random.Random(options.draw).sample(runs, min(options.sample, len(runs))):
        commands, rows = pages[name]
        claims = expected(rows, point, seed)
        found = run(name, commands[point], point, seed)
        same, wrong = compare(claims, found) if found is not None else (0, ["the run has failed"])
        print("%s %s, %s, seed %s: %d of %d values have the same digits" % (
            "not ok" if wrong else "ok", name, point, seed, same, len(claims)))
        for text in wrong:
            print("  " + text)
        failed = failed or bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Run a sample of the published lab results again, and compare.

Usage: published.py [--sample N] [--draw N] [PAGE...]
    PAGE        a page of Documentation/experiments; default: all that can be sampled
    --sample N  number of runs, default 2
    --draw N    number that determines the sample; default: today's date

A page can be sampled if it has the claims of `lab sweep` (PAGE-claims.csv, which has each seed's values) and the command
of the sweep. A run is one of its points with one of its seeds. Its values have the same digits unless the experiment, the
lab or a module has changed since. Then a value must still fulfil its claim's bar, or miss it, as the published one does,
unless the claim is open. Exit status 1: one does not, or a run has failed.
"""
import argparse
import csv
import datetime
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
from closlab.results import holds  # noqa: E402


def command_of(page):
    """Return: words of the page's `lab sweep`, without `--seeds` and `--set`; None if it has none."""
    match = re.search(r":Command: ``%s sweep ([^`]*)``" % LAB, page)
    if not match:
        return None
    words, found = shlex.split(match[1]), []
    skip = False
    for word in words:
        if word.startswith("--"):
            skip = word in ("--seeds", "--set")
        if not skip:
            found.append(word)
    return found


def point_words(point):
    """Return: words of `--set` for a point's name of closlab.sweep.name_of(). Values have no underscore."""
    return ["%s=%s" % item for item in re.findall(r"([a-z][a-z0-9_]*)=([^_]+)(?:_|$)", point)]


def load(name):
    """Return: (command, rows of the claims), or None if the page cannot be sampled."""
    try:
        with open(os.path.join(PAGES, name + ".rst"), encoding="utf-8") as f:
            command = command_of(f.read())
        with open(os.path.join(PAGES, name + "-claims.csv"), encoding="utf-8", newline="") as f:
            rows = [row for row in csv.DictReader(f) if row.get("values")]
    except FileNotFoundError:
        return None
    return (command, rows) if command and rows else None


def expected(rows, point, seed):
    """Return: {claim: (value, bar, verdict)} of a point and seed."""
    found = {}
    for row in rows:
        values = dict(zip(row["seeds"].split(), row["values"].split()))
        if row["point"] == point and seed in values:
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
    if point_words(point):
        words += ["--set", *point_words(point)]
    print("published: " + shlex.join(words), flush=True)
    # 1: not all claims hold
    if subprocess.run(words, cwd=TOP, stdout=subprocess.DEVNULL, check=False).returncode not in (0, 1):
        return None
    with open(os.path.join(out, "claims.json"), encoding="utf-8") as f:
        return {claim["id"]: claim["value"] for claim in json.load(f)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", metavar="PAGE", nargs="*")
    parser.add_argument("--sample", type=int, default=2)
    parser.add_argument("--draw", type=int, default=datetime.date.today().toordinal())
    options = parser.parse_args()
    names = options.pages or sorted(name[:-len("-claims.csv")] for name in os.listdir(PAGES)
                                    if name.endswith("-claims.csv"))
    pages = {name: load(name) for name in names}
    unknown = [name for name in options.pages if not pages[name]]
    if unknown:
        sys.exit('published: page "%s" has no sweep with the values of each seed' % unknown[0])
    runs = sorted({(name, row["point"], seed) for name, page in pages.items() if page for row in page[1]
                   for seed in row["seeds"].split()})
    if options.sample < 1 or not runs:
        sys.exit("published: nothing to run")
    failed = False
    for name, point, seed in random.Random(options.draw).sample(runs, min(options.sample, len(runs))):
        command, rows = pages[name]
        claims = expected(rows, point, seed)
        found = run(name, command, point, seed)
        same, wrong = compare(claims, found) if found is not None else (0, ["the run has failed"])
        print("%s %s, %s, seed %s: %d of %d values have the same digits" % (
            "not ok" if wrong else "ok", name, point, seed, same, len(claims)))
        for text in wrong:
            print("  " + text)
        failed = failed or bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

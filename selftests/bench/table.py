#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Turns the output of selftests/bench/PART.sh into tables.

Usage: table.py PART csv RAW
       table.py PART text RAW [NOTE...]
       table.py PART replace RAW PAGE.rst [NOTE...]   replace the tables between PART's markers in the page,
                                                      and write each table to PAGE-NAME.csv
PART: qdiscs, acks, sockets, forward or tunnel. NOTE: a line about the machine. Exit status 1: a goal is missed (text only).

A part is a module with these functions:
  read(path, lines)  parse the lines of RAW, each split at tabs, into results
  tables(results)    yield tables as (name, title, number of text columns at the left, head, rows)
  goals(results)     yield goals as (text, met)
  aims(results)      optional: yield goals that may be missed
  records(results)   yield the rows of the CSV file, the head first
"""
import csv
import importlib
import os
import sys
import textwrap

END = ".. end\n"
LONG = 15       # rows; the page shows tables of at most so many, and links the CSV files of longer ones


def read(part, path):
    """Return the part's results and the remarks, lines that begin with #"""
    with open(path, encoding="ascii") as f:
        lines = f.read().splitlines()
    remarks = [line[1:].strip() for line in lines if line.startswith("#")]
    return part.read(path, [line.split("\t") for line in lines if not line.startswith("#")]), remarks


def as_text(names, head, rows):
    table = [[str(cell) for cell in row] for row in [head, *rows]]
    widths = [max(len(cell) for cell in column) for column in zip(*table)]
    for row in table:
        yield "  ".join(cell.ljust(w) if i < names else cell.rjust(w)
                        for i, (cell, w) in enumerate(zip(row, widths))) + "\n"


def as_rst(title, rows, file):
    """The lines by which the page shows a table's CSV file, or links it if it is long"""
    if len(rows) > LONG:
        return f"- {title}: :download:`{file}` ({len(rows)} rows)\n"
    return f".. csv-table:: {title}\n   :file: {file}\n   :header-rows: 1\n   :widths: auto\n"


def goals(part, results):
    aims = part.aims(results) if hasattr(part, "aims") else ()
    return "".join(f"- {text}: {'met' if met else 'missed'}\n" for text, met in (*part.goals(results), *aims))


def text(part, results, remarks):
    out = "; ".join(remarks) + "\n\n"
    for _, title, names, head, rows in part.tables(results):
        out += title + "\n\n" + "".join(as_text(names, head, rows)) + "\n"
    return out + goals(part, results)


def page_tables(part, results, remarks, page):
    """The text between the markers of PAGE. Writes the CSV files beside it."""
    out = "\n" + textwrap.fill("Machine: " + "; ".join(remarks) + ".", 100) + "\n\n"
    for name, title, _, head, rows in part.tables(results):
        path = f"{page.removesuffix('.rst')}-{name}.csv"
        with open(path, "w", encoding="utf-8", newline="") as f:
            csv.writer(f, lineterminator="\n").writerows([head, *rows])
        out += as_rst(title, rows, os.path.basename(path)) + "\n"
    return out + "Goals:\n\n" + goals(part, results) + "\n"


def replace(page, name, new):
    """Put NEW between the markers of the part NAME in PAGE."""
    begin = f".. begin: selftests/bench/run --write {name}\n"
    with open(page, encoding="utf-8") as f:
        before, rest = f.read().split(begin)
    after = rest.split(END, 1)[1]
    with open(page, "w", encoding="utf-8") as f:
        f.write(before + begin + new + END + after)


def main(name, how, raw, *more):
    part = importlib.import_module(name)
    results, remarks = read(part, raw)
    if how == "csv":
        csv.writer(sys.stdout, lineterminator="\n").writerows(part.records(results))
    elif how == "replace":
        replace(more[0], name, page_tables(part, results, [*remarks, *more[1:]], more[0]))
    else:
        print(text(part, results, [*remarks, *more]), end="")
        return 0 if all(met for _, met in part.goals(results)) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Turns the output of selftests/bench/PART.sh into tables.

Usage: table.py PART csv RAW
       table.py PART text RAW [NOTE...]
       table.py PART replace RAW FILE [NOTE...]   replace the tables between PART's markers in FILE
PART: qdiscs, acks or sockets. NOTE: a line about the machine. Exit status 1: a goal is missed (text only).

A part is a module with these functions:
  read(path, lines)  parse the lines of RAW, each split at tabs, into results
  tables(results)    yield tables as (number of text columns at the left, head, rows)
  goals(results)     yield goals as (text, met)
  aims(results)      optional: yield goals that may be missed
  records(results)   yield the rows of the CSV file, the head first
"""
import csv
import importlib
import sys

END = "<!-- end -->\n"


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


def as_markdown(names, head, rows):
    rule = ["---" if i < names else "---:" for i in range(len(head))]
    for row in [head, rule, *rows]:
        yield "| " + " | ".join(str(cell) for cell in row) + " |\n"


def report(part, results, remarks, table):
    out = "; ".join(remarks) + "\n\n"
    for names, head, rows in part.tables(results):
        out += "".join(table(names, head, rows)) + "\n"
    aims = part.aims(results) if hasattr(part, "aims") else ()
    return out + "".join(f"- {text}: {'met' if met else 'missed'}\n"
                         for text, met in (*part.goals(results), *aims))


def replace(path, name, text):
    begin = f"<!-- begin: selftests/bench/run --write {name} -->\n"
    with open(path, encoding="utf-8") as f:
        before, rest = f.read().split(begin)
    after = rest.split(END, 1)[1]
    with open(path, "w", encoding="utf-8") as f:
        f.write(before + begin + text + END + after)


def main(name, how, raw, *more):
    part = importlib.import_module(name)
    results, remarks = read(part, raw)
    if how == "csv":
        csv.writer(sys.stdout, lineterminator="\n").writerows(part.records(results))
    elif how == "replace":
        replace(more[0], name, report(part, results, [*remarks, *more[1:]], as_markdown))
    else:
        print(report(part, results, [*remarks, *more], as_text), end="")
        return 0 if all(met for _, met in part.goals(results)) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Runs the commands of a page's blocks ".. code-block:: session", and compares what they print with the page.

Usage: tutorials.py [--show] DIRECTORY PAGE...
  --show     print the page's blocks with the output of this run instead, to copy into the page
DIRECTORY is the home directory of the commands.

Lines after "$ " run on the host, in the checkout's top directory; lines after "lab> " run in the `lab shell` that the
"$ " line before them has started. All other lines are output. It is compared without its numbers, since other compilers
give other numbers; of equal lines that follow each other only one counts. A line "..." stands for any lines, "..." at
the end of a line or between words for any words. Blocks of another language with a caption are files, which are written
before the first command.

Each command is a test. Output is TAP without header and plan; selftests/docs/tutorials.sh adds them.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^\.\. code-block:: (\w+)\n((?:   :.*\n)*)\n((?:   .*\n|\n)+)", re.M)
PROMPT = re.compile(r"(\$|lab>) (.*)")
MARK = "@@ end of command"


class Command:
    """A command of a page: where is "$" or "lab>", output the lines that the page shows"""

    def __init__(self, where, text):
        self.where, self.text, self.output = where, text, []


def blocks(page):
    """[(language, caption, text)]"""
    for found in BLOCK.finditer(page.read_text(encoding="utf-8")):
        caption = re.search(r":caption: (.*)", found[2])
        lines = [line[3:] for line in found[3].rstrip("\n").split("\n")]
        yield found[1], caption[1] if caption else None, "\n".join(lines) + "\n"


def commands(page):
    """The commands of a page, in order"""
    found = []
    for language, _, text in blocks(page):
        if language != "session":
            continue
        for line in text.rstrip("\n").split("\n"):
            prompt = PROMPT.match(line)
            if prompt:
                found.append(Command(prompt[1], prompt[2]))
            else:
                found[-1].output.append(line)
    return found


def write_files(page, home):
    for _, caption, text in blocks(page):
        if caption:
            path = home / caption.replace("~/", "")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def shape(lines):
    """Without numbers and widths, one of equal lines"""
    out = []
    for line in lines:
        line = re.sub(r"\s+", " ", re.sub(r"\d+(\.\d+)?(e[+-]\d+)?", "N", line)).strip()
        if line and (not out or out[-1] != line or line == "..."):
            out.append(line)
    return out


def fits(got, wanted):
    """Whether the output is what the page shows"""
    pattern = "".join(r"(?:.*\n)*" if line == "..." else
                      ".*".join(re.escape(part) for part in line.split("...")) + r"\n" for line in shape(wanted))
    return re.fullmatch(pattern, "".join(line + "\n" for line in shape(got))) is not None


def run_host(command, home):
    """(lines, failure) of a command on the host"""
    environment = dict(os.environ, HOME=str(home))
    done = subprocess.run(["bash", "-c", command.text], cwd=TOP, env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=900)
    return done.stdout.split("\n"), done.stderr if done.returncode else ""


def run_lab(start, inside, home):
    """[lines] of the commands of a session, and why it failed"""
    text = "".join("%s\necho '%s'\n" % (command.text, MARK) for command in inside)
    done = subprocess.run(["bash", "-c", start.text], cwd=TOP, env=dict(os.environ, HOME=str(home)), input=text,
                          capture_output=True, text=True, timeout=900)
    parts = [part.strip("\n").split("\n") for part in done.stdout.split(MARK + "\n")]
    return parts, done.stderr if done.returncode else ""


def run_page(page, home):
    """[(command, lines, failure)]"""
    write_files(page, home)
    todo = commands(page)
    while todo:
        command = todo.pop(0)
        inside = []
        while todo and todo[0].where == "lab>":
            inside.append(todo.pop(0))
        if not inside:
            yield (command, *run_host(command, home))
            continue
        parts, failure = run_lab(command, inside, home)
        yield command, [], failure
        for number, each in enumerate(inside):
            lost = number >= len(parts)
            yield each, [] if lost else parts[number], "the session ended before it" if lost else ""


def main():
    arguments = sys.argv[1:]
    show = arguments[0] == "--show"
    home, *pages = arguments[show:]
    number = 0
    for name in pages:
        page = Path(name)
        for command, lines, failure in run_page(page, Path(home)):
            if show:
                print("   %s %s" % (command.where, command.text))
                print("\n".join("   " + line for line in lines if line) + failure)
                continue
            number += 1
            good = not failure and fits(lines, command.output)
            print("%s %d - %s: as the page shows: %s" % ("ok" if good else "not ok", number, page.stem,
                                                         command.text.replace("#", "")))
            if not good:
                for title, text in (("got", lines), ("page", command.output), ("error", failure.split("\n"))):
                    print("\n".join("# %-5s %s" % (title, line) for line in text if line))
            sys.stdout.flush()


if __name__ == "__main__":
    main()

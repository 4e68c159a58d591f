#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks of the documentation: prints what is wrong, and ends with status 1 if something is.

Usage: site.py links|lists|events|netlink SITE     SITE: directory of the built site
       site.py markdown|recipes|modules|targets|experiments|files|claims
"""
import re
import sys
from pathlib import Path
from urllib.parse import unquote, urldefrag

import bs4
import yaml

TOP = Path(__file__).resolve().parents[2]
DOCS = TOP / "Documentation"
sys.dont_write_bytecode = True
sys.path.insert(0, str(DOCS / "sphinx"))
import generate  # noqa: E402

FOLDERS = "tools|selftests|Documentation|include|compat|net|sch|tcp_cc|debian"


def texts():
    """(file, text) of the README and of all pages that are written by hand"""
    for path in [TOP / "README.md", TOP / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.rst")), *sorted(DOCS.rglob("*.md"))]:
        if path.exists():
            yield path.relative_to(TOP), path.read_text(encoding="utf-8")


def pages(site):
    for path in sorted(site.rglob("*.html")):
        if "_static" not in path.parts:
            yield path, bs4.BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def links(site):
    """Links within the site, with fragment, and pictures"""
    places, found = {}, []
    for path, page in pages(site):
        places[path] = {node["id"] for node in page.find_all(id=True)}
        for node in page.find_all(("a", "img")):
            found.append((path, node.get("href") or node.get("src") or ""))
    for path, target in found:
        address, place = urldefrag(target)
        if not target or re.match(r"\w+:", target):
            continue
        to = (path.parent / unquote(address)).resolve() if address else path
        if not to.exists():
            yield "%s: no such file: %s" % (path.relative_to(site), target)
        elif place and to in places and unquote(place) not in places[to] and place not in places[to]:
            yield "%s: no such place: %s" % (path.relative_to(site), target)


def markdown():
    """Links within the repository of the files at its top"""
    for path in sorted(TOP.glob("*.md")):
        text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S)
        targets_of = re.findall(r"\]\(([^)#\s]+)\)", text) + re.findall(r"^\[[^\]]+\]: (\S+)$", text, re.M)
        for target in targets_of:
            if ":" not in target and not (TOP / target).exists():
                yield "%s: no such file: %s" % (path.name, target)


def lists(site):
    """ "M. Alizadeh" at the beginning of a paragraph is an item of a list in reStructuredText"""
    for path, page in pages(site):
        for node in page.find_all("ol"):
            if {"upperalpha", "loweralpha", "upperroman", "lowerroman"} & set(node.get("class", ())):
                yield "%s: %s" % (path.relative_to(site), " ".join(node.get_text().split())[:60])


def all_events():
    """{"system:event": names of the fields}"""
    found = {}
    for path in generate.TRACE_HEADERS:
        system, events, _ = generate.trace_header(path)
        for event in events:
            found["%s:%s" % (system, event.name)] = {name for _, name in event.fields}
    return found


def events(site):
    text = bs4.BeautifulSoup((site / "reference/trace.html").read_text(encoding="utf-8"), "html.parser").get_text()
    known = all_events()
    if not known:
        yield "no events found in the headers"
    for path in generate.TRACE_HEADERS:
        text_of = path.read_text(encoding="utf-8")
        for name in re.findall(r"^(?:TRACE_EVENT|DEFINE_EVENT)\((?:\w+, )?(\w+),", text_of, re.M):
            if not any(key.endswith(":" + name) for key in known):
                yield "%s is not understood" % name
    for name, fields in known.items():
        for word in {name, *fields}:
            if word not in text:
                yield "%s: no %s" % (name, word)


def recipes():
    """tracepoint:SYSTEM:EVENT /.../ { ... args->FIELD ... }"""
    known, count = all_events(), 0
    for path, text in texts():
        for recipe in re.findall(r"bpftrace -e '([^']*)'", text):
            for name, body in re.findall(r"tracepoint:(\w+:\w+)(.*?)(?=tracepoint:|interval:|$)", recipe, re.S):
                count += 1
                if name not in known:
                    yield "%s: no event %s" % (path, name)
                    continue
                for field in re.findall(r"args->(\w+)", body):
                    if field not in known[name]:
                        yield "%s: %s has no field %s" % (path, name, field)
    if not count:
        yield "no recipe found"


def netlink(site):
    for path in generate.SPECS:
        text = (site / "reference/netlink" / (path.stem + ".html")).read_text(encoding="utf-8")
        for group in yaml.safe_load(path.read_text(encoding="utf-8")).get("attribute-sets", ()):
            for attribute in group["attributes"]:
                if attribute["type"] not in ("pad", "unused") and ">%s<" % attribute["name"] not in text:
                    yield "%s: no %s" % (path.name, attribute["name"])


def makefile():
    return (TOP / "Makefile").read_text(encoding="utf-8")


def modules():
    names = re.findall(r"(\w+)\.ko\b", makefile())
    for name in ("README.md", "Documentation/howto/install.rst"):
        text = (TOP / name).read_text(encoding="utf-8")
        for module in sorted(set(names)):
            if not re.search(r"`%s`" % module, text):
                yield "%s does not name %s" % (name, module)


def targets():
    known = set(re.findall(r"^([a-z-]+):", makefile(), re.M))
    for path, text in texts():
        for target in re.findall(r"(?:`|^ *(?:\$ )?(?:sudo )?)make ([a-z][a-z-]*)(?=[`\s])", text, re.M):
            if target not in known:
                yield "%s: no target %s" % (path, target)


def experiments():
    sys.path.insert(0, str(TOP / "tools/lab"))
    from closlab import experiment
    known = set(experiment.names())
    for path, text in texts():
        for name in re.findall(r"lab (?:run|list) ([a-z][a-z0-9-]+)(?=[\s`])", text):
            if name not in known:
                yield "%s: no experiment %s" % (path, name)


def files():
    """Files and directories of the tree, and documents by their path"""
    for path, text in texts():
        for name in re.findall(r"`((?:%s)/[\w./-]+)" % FOLDERS, text):
            name = name.rstrip("./-")
            if "." in name.rsplit("/", 1)[-1] and not (TOP / name).exists() and not list(TOP.glob(name + "*")):
                yield "%s: no file %s" % (path, name)


def claims():
    """Each table of claims is in the page of all claims, where its verdicts are counted, and in another page"""
    folder = DOCS / "experiments"
    pages_of = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.rst")}
    counted = re.search(r"^\.\. claims::\n\n((?: +.*\n)+)", pages_of["claims"], re.M)[1].split()
    for table in sorted(folder.glob("claims-*.csv")):
        users = [name for name, text in pages_of.items() if ":file: %s\n" % table.name in text]
        if "claims" not in users or len(users) < 2 or table.stem.removeprefix("claims-") not in counted:
            yield "%s: in %s" % (table.name, ", ".join(users) or "no page")


def main():
    problems = list(globals()[sys.argv[1]](*(Path(argument).resolve() for argument in sys.argv[2:])))
    if problems:
        print("\n".join(problems[:50]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Writes the reference pages that are made of other files:

man/          a page for each manual page, rendered by mandoc
netlink/      a page for each YNL specification
options.rst   all options and sysctls, from the manual pages
counters.rst  all counters, from the manual pages
trace.rst     all trace events, from the headers that define them

Usage: generate.py DIRECTORY
"""
import html
import re
import subprocess
import sys
from pathlib import Path

import bs4
import yaml

TOP = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(TOP / "tools/build"))
from optionlib.spec import Spec  # noqa: E402 pylint: disable=wrong-import-position

MAN = sorted((TOP / "Documentation/man").glob("*.[1-9]"))
SPECS = sorted((TOP / "Documentation/netlink").glob("*.yaml"))
TRACE_HEADERS = [path for folder in ("tcp_cc", "net", "sch") for path in sorted((TOP / folder).rglob("*trace.h"))
                 if "define TRACE_SYSTEM" in path.read_text(encoding="utf-8")]
LICENCE = ".. SPDX-License-Identifier: GPL-2.0-only\n"

# Sections of manual pages
OPTION_SECTIONS = ("OPTIONS", "PARAMETERS", "SYSCTLS", "SOCKET OPTIONS", "MODULE PARAMETERS")
COUNTER_SECTIONS = ("STATISTICS", "OUTPUT", "COUNTERS", "PACKETS FOR THE STACK")
# Terms in these sections that are no counters, and pages about calculations
NO_COUNTERS = re.compile(r"^(-|/)")
NO_COUNTER_PAGES = ("closnet",)


# ---- reStructuredText

def heading(text, mark="="):
    """A heading, or, with the mark "#", a title"""
    text = " ".join(text.split())
    if mark == "#":
        return "\n%s\n%s\n%s\n\n" % ("=" * len(text), text, "=" * len(text))
    return "\n%s\n%s\n\n" % (text, mark * len(text))


def directive(name, text, *options):
    """A directive with TEXT as its content"""
    lines = [".. " + name] + ["   " + option for option in options] + [""]
    lines += ["   " + line if line.strip() else "" for line in text.split("\n")]
    return "\n".join(lines) + "\n\n"


def escape(text):
    """TEXT without meaning in reStructuredText"""
    return re.sub(r"([\\*`|_<>])", r"\\\1", " ".join(str(text).split()))


def literal(text):
    """TEXT in a fixed font; nothing if it is empty"""
    return "``%s``" % text if text else ""


def table(header, rows, widths):
    """A table whose cells are reStructuredText"""
    lines = []
    for row in [header, *rows]:
        for i, cell in enumerate(row):
            lines.append(("* - " if i == 0 else "  - ") + cell)
    return directive("list-table::", "\n".join(lines), ":header-rows: 1", ":widths: " + " ".join(map(str, widths)))


# ---- manual pages

def name_of(path):
    """tc-ndp(8)"""
    return "%s(%s)" % (path.stem, path.suffix[1:])


def rendered(path):
    """The manual page as HTML"""
    text = subprocess.run(["mandoc", "-Thtml", "-O", "fragment", path], check=True, capture_output=True,
                          text=True).stdout
    for other in MAN:
        target = '<a href="%s.html">' % other.name
        text = re.sub(r"<b>%s</b>\(%s\)" % (re.escape(other.stem), other.suffix[1:]),
                      lambda found, target=target: target + found[0] + "</a>", text)
    # files of this documentation that the page names
    return re.sub(r"\bDocumentation/((?:\w+/)+[\w-]+)\.(?:rst|md)\b", file_link, text)


def file_link(found):
    """The link to a page of this site, if there is one"""
    page = TOP / "Documentation" / (found[1] + ".rst")
    return '<a href="../../%s.html">%s</a>' % (found[1], found[0]) if page.exists() else found[0]


def man_page(path):
    """A page of the site: the sections are Sphinx's, what is in them is mandoc's"""
    text = rendered(path)
    body = re.search(r'<div class="manual-text">\n(.*)</div>\n<table class="foot">', text, re.S)[1]
    body = re.sub(r"</?section[^>]*>\n", "", body)
    out = LICENCE + heading(name_of(path), "#")
    about = re.search(r"<h1[^>]*>.*?NAME.*?</h1>\n<p[^>]*>(.*?)</p>", body, re.S)
    if about:
        out += directive("meta::", ":description: " + plain(about[1]))
    for part in re.split(r"(<h[12] class=\"S[hs]\".*?</h[12]>\n)", body, flags=re.S):
        title = re.match(r"<h([12])", part)
        if title:
            out += heading(escape(plain(part)), "=" if title[1] == "1" else "-")
        elif part.strip():
            out += directive("raw:: html", '<div class="manual-text">\n' + part + "</div>")
    return out


def plain(markup):
    """HTML without tags"""
    return html.unescape(" ".join(re.sub(r"<[^>]+>", "", markup).split()))


def terms(path, sections):
    """[(term, definition)] of the lists in these sections, as HTML nodes; lists within lists are left out"""
    page = bs4.BeautifulSoup(rendered(path), "html.parser")
    for section in page.find_all("section", class_="Sh"):
        if " ".join(section.h1.get_text().split()) not in sections:
            continue
        for term in section.find_all("dt"):
            if not term.find_parent("dd"):
                yield term, term.find_next_sibling("dd")


def words(node):
    return " ".join(node.get_text().split())


def sentences(text):
    """The first sentence, and the default if there is one"""
    first = re.match(r".*?[.:](?= [A-Z]|$)", text)
    default = re.search(r"[Dd]efault:? ((?:[^.:(,]|[.,](?=\d))+)", text)
    return (first[0].rstrip(":") + ("." if first[0].endswith(":") else "") if first else text,
            default[1].strip() if default else "")


def man_tables(sections, columns):
    """A section and a table for each manual page that has such sections"""
    out = ""
    for path in MAN:
        rows = []
        for term, meaning in terms(path, sections):
            row = columns(path, term, meaning)
            if row:
                rows.append(row)
        if rows:
            out += heading(name_of(path)) + table(*zip_header(columns.header, rows))
    return out


def zip_header(header, rows):
    names, widths = zip(*header)
    return names, rows, widths


def option_row(path, term, meaning):
    """The term links to its place in the manual page."""
    first, default = sentences(words(meaning))
    return link(path, term), escape(first), escape(default)


option_row.header = (("option", 30), ("sets", 52), ("default", 18))


def counter_row(path, term, meaning):
    if path.stem in NO_COUNTER_PAGES or NO_COUNTERS.match(words(term)) or not re.match(r"\w", words(term)):
        return None
    return link(path, term), escape(sentences(words(meaning))[0])


counter_row.header = (("counter", 35), ("counts", 65))


def link(path, term):
    """The term as a link to its place in the manual page"""
    text, where = words(term), term.get("id")
    if not where:
        return literal(text)
    return '`%s <man/%s.html#%s>`__' % (escape(text), path.name, where)


def options_page():
    return (LICENCE + heading("Options and sysctls", "#") +
            "This page is an index of the manual pages, which have the ranges and the reasons. An option in the table\n"
            "links to its place there.\n" + man_tables(OPTION_SECTIONS, option_row))


def counters_page():
    return (LICENCE + heading("Counters", "#") +
            "All counters have 64 bits and count from the creation of the qdisc, device or network namespace.\n"
            "Names in brackets are keys in JSON. The manual pages say how to print them;\n"
            ":doc:`/howto/statistics` shows how to read them.\n" + man_tables(COUNTER_SECTIONS, counter_row))


# ---- netlink

def attribute_row(attribute, option):
    """name, type, range, default, meaning; option: what optionlib knows of it, or None"""
    checks = attribute.get("checks", {})
    kind = attribute["type"]
    for key in ("nested-attributes", "enum"):
        if key in attribute:
            kind += " " + attribute[key]
    if attribute.get("multi-attr"):
        kind += ", several"
    limits = ", ".join("%s %s" % (key, checks[key]) for key in checks)
    default = ""
    if option:
        limits = option.range_text() if option.range and not option.enum else ""
        default = "" if option.type in ("nest", "string") else option.default_text()
    doc = attribute.get("doc", "")
    return literal(attribute["name"]), literal(kind), escape(limits), escape(default), escape(doc)


def attribute_sets(spec, options):
    out = ""
    for group in spec.get("attribute-sets", ()):
        out += heading("Attributes: " + group["name"])
        out += escape(group.get("doc", "")) + "\n\n"
        rows = [attribute_row(a, options.get((group["name"], a["name"])))
                for a in group["attributes"] if a["type"] not in ("pad", "unused")]
        # columns that no attribute of the set has
        keep = [i for i in range(5) if i in (0, 1, 4) or any(row[i] for row in rows)]
        header = ("attribute", "type", "range", "default", "meaning")
        widths = (25, 20, 15, 10, 45)
        out += table([header[i] for i in keep], [[row[i] for i in keep] for row in rows], [widths[i] for i in keep])
    return out


def definitions(spec):
    out = ""
    for entry in spec.get("definitions", ()):
        values = entry.get("entries")
        text = literal(str(entry["value"])) if "value" in entry else ""
        if values:
            text = ", ".join(literal(v["name"] if isinstance(v, dict) else v) for v in values)
        out += "%s (%s)\n   %s %s\n\n" % (literal(entry["name"]), entry["type"], text, escape(entry.get("doc", "")))
    return heading("Constants") + out if out else ""


def operations(spec):
    rows = []
    for operation in spec.get("operations", {}).get("list", ()):
        for kind in ("do", "dump"):
            if kind in operation:
                sides = [", ".join(literal(a) for a in operation[kind].get(side, {}).get("attributes", ()))
                         for side in ("request", "reply")]
                rights = ". Needs CAP_NET_ADMIN" if "admin-perm" in operation.get("flags", ()) else ""
                rows.append((literal(operation["name"]), kind, *sides, escape(operation.get("doc", "") + rights)))
    if not rows:
        return ""
    return heading("Commands") + table(("command", "kind", "request", "reply", "meaning"), rows, (12, 8, 20, 30, 30))


def netlink_page(path):
    text = path.read_text(encoding="utf-8")
    spec = yaml.safe_load(text)
    name = spec.get("name", path.stem)
    out = LICENCE + heading("Netlink: " + name, "#")
    if "doc" in spec:
        out += escape(spec["doc"]) + ".\n\n"
    kind = spec.get("protocol")
    if kind:
        out += "A family of %s; constants are in ``%s``.\n\n" % (kind, spec.get("uapi-header", ""))
    else:
        out += "Attributes of rtnetlink; they extend the kernel's specification of the same family.\n\n"
    out += "Source: ``%s``\n" % path.relative_to(TOP)
    options = {(g.set["name"], o.name): o for g in Spec(path).groups for o in g.options}
    return out + operations(spec) + attribute_sets(spec, options) + definitions(spec)


# ---- trace events

TYPE = {"__u8": "u8", "__u16": "u16", "__u32": "u32", "__u64": "u64", "__s32": "s32", "__s64": "s64"}


def call(text, start):
    """The arguments of the macro call whose parenthesis opens at START, and where it ends"""
    depth = 0
    for at in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return text[start + 1:at], at
    raise ValueError("no closing parenthesis")


def comment_above(text, at):
    """The comment that ends right above, as one paragraph"""
    found = re.search(r"/\*((?:(?!\*/).)*)\*/\s*$", text[:at], re.S)
    return " ".join(re.sub(r"^\s*\*+", "", line).strip() for line in found[1].split("\n")).strip() if found else ""


def enum_values():
    """{constant: number} of all enums of the modules; constants with an expression are left out"""
    values = {}
    for folder in ("include", "net", "sch", "tcp_cc"):
        for path in (TOP / folder).rglob("*.h"):
            text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
            for body in re.findall(r"\benum \w* ?\{([^}]*)\}", text):
                number = -1
                for constant, given in re.findall(r"(\w+)\s*(?:=\s*([^,]+?))?\s*(?:,|$)", body.strip()):
                    if given and not given.isdigit():
                        break
                    number = int(given) if given else number + 1
                    values[constant] = number
    return values


def type_of(kind, size):
    """The type of a field; SIZE is empty for one that is no array"""
    whole = re.fullmatch(r"sizeof\((struct \w+)\)", size)
    return whole[1] if whole else TYPE.get(kind, kind) + ("[%s]" % size if size else "")


class Event:
    """A trace event, or a class of them: fields is [(type, name)], form the format of its line."""

    def __init__(self, name, about, body):
        self.name, self.about = name, about
        entry = body.find("TP_STRUCT__entry")
        if entry < 0:
            self.fields, self.form, self.words = None, None, []
            return
        entries = call(body, body.index("(", entry))[0]
        members = re.findall(r"__(?:field|array)\(\s*([\w ]+?),\s*(\w+)(?:,\s*([^\n]+))?\)", entries)
        self.fields = [(type_of(kind, size.strip()), field) for kind, field, size in members]
        printk = call(body, body.index("(", body.index("TP_printk")))[0]
        self.form = re.search(r'"([^"]*)"', printk)[1]
        self.words = re.findall(r"(\w+)\(__entry->(\w+)\)", printk)


def trace_header(path):
    """(system, [Event], {function: words}) of a header; the events of a class have its fields"""
    text = path.read_text(encoding="utf-8")
    system = re.search(r"#define TRACE_SYSTEM (\w+)", text)[1]
    classes, events = {}, []
    for found in re.finditer(r"^(TRACE_EVENT|DECLARE_EVENT_CLASS|DEFINE_EVENT)\(", text, re.M):
        body = call(text, found.end() - 1)[0]
        names = re.match(r"\s*(\w+)(?:,\s*(\w+))?", body)
        about = comment_above(text, found.start())
        if found[1] == "DEFINE_EVENT":
            event = Event(names[2], about, "")
            event.fields, event.form, event.words = (classes[names[1]].fields, classes[names[1]].form,
                                                     classes[names[1]].words)
            event.about = "\n\n".join(filter(None, (about, classes[names[1]].about)))
            events.append(event)
        else:
            event = Event(names[1], about, body)
            if found[1] == "TRACE_EVENT":
                events.append(event)
            else:
                classes[event.name] = event
    symbols, values = {}, enum_values()
    for found in re.finditer(r"#define (\w+_show_\w+)\(\w+\)", text):
        body = call(text, text.index("(", text.index("__print_symbolic", found.end())))[0]
        symbols[found[1]] = ["%s %s" % (values.get(constant, ""), literal(word))
                             for constant, word in re.findall(r'(\w+), "(\w+)" \}', body)]
    return system, events, symbols


def trace_page():
    out = (LICENCE + heading("Trace events", "#") +
           "The events are in ``/sys/kernel/tracing/events/SYSTEM/EVENT``, also for ``perf`` and ``bpftrace``.\n"
           "Their fields are stable. *Field* is the name in the record, which ``bpftrace`` uses (``args->rtt_ns``);\n"
           "*Line* is the form in ``/sys/kernel/tracing/trace``, which has words for some numbers.\n"
           ":doc:`/howto/bpftrace` has recipes.\n")
    for path in TRACE_HEADERS:
        system, events, symbols = trace_header(path)
        out += heading("System " + system) + "Source: ``%s``\n\n" % path.relative_to(TOP)
        for event in events:
            out += heading("%s:%s" % (system, event.name), "-")
            out += "".join(escape(paragraph) + "\n\n" for paragraph in event.about.split("\n\n"))
            shown = {field: symbols.get(function, []) for function, field in event.words}
            rows = [(literal(name), literal(kind), ", ".join(shown.get(name, ())))
                    for kind, name in event.fields]
            keep = 3 if any(row[2] for row in rows) else 2
            header = ("field", "type", "numbers and words")
            out += table(header[:keep], [row[:keep] for row in rows], (25, 35, 40)[:keep])
            out += "Line::\n\n   " + event.form + "\n\n"
    return out


def main():
    directory = Path(sys.argv[1])
    pages = {"man/%s.rst" % path.name: man_page(path) for path in MAN}
    pages.update({"netlink/%s.rst" % path.stem: netlink_page(path) for path in SPECS})
    pages["options.rst"] = options_page()
    pages["counters.rst"] = counters_page()
    pages["trace.rst"] = trace_page()
    for name, text in pages.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: GPL-2.0-only
"""Write tests of the ranges: cases of tdc, and the tables of the fuzzers."""
import json
import re

from .spec import lower
from .text import constant


class Cases:
    """The cases of a qdisc or an action, with ids in their order."""

    def __init__(self, spec):
        self.spec = spec
        self.list = []
        if spec.action:
            self.verbs = ("add", "replace")
            self.command = f"$TC actions {{}} action {spec.kind} index 7"
            self.show = f"$TC actions get action {spec.kind} index 7"
            self.delete = f"$TC actions del action {spec.kind} index 7"
        else:
            self.verbs = ("add", "change")
            self.command = f"$TC qdisc {{}} dev $DUMMY handle 1: root {spec.kind}"
            self.show = "$TC qdisc show dev $DUMMY"
            self.delete = "$TC qdisc del dev $DUMMY handle 1: root"

    def add(self, name, setup, command, status, pattern, count, verify=None):
        """Append a case."""
        category = "actions" if self.spec.action else "qdisc"
        self.list.append({
            "id": f"{self.spec.own['tdc-id']}{len(self.list):02x}", "name": f"{self.spec.kind}: {name}",
            "category": [category, self.spec.kind], "plugins": {"requires": "nsPlugin"}, "setup": setup,
            "cmdUnderTest": command, "expExitCode": str(status), "verifyCmd": verify or self.show,
            "matchPattern": pattern, "matchCount": str(count), "teardown": [self.delete]})

    def commands(self, nest=""):
        """The commands that add and change."""
        return (self.command.format(verb) + nest for verb in self.verbs)

    def defaults(self):
        """Without options, all defaults are shown."""
        group, what = self.spec.groups[0], "action" if self.spec.action else "qdisc"
        shown = " ".join(filter(None, (o.printed() for o in group.options if o.word)))
        add, _ = self.commands()
        self.add(f"new {what} has the defaults", [], add, 0, re.escape(shown).replace(r"\ ", " "), 1)
        for group in self.spec.groups[1:]:
            shown = " ".join(filter(None, (o.printed() for o in group.options if o.word)))
            self.add(f"new {group.nest} has the defaults", [], f"{add} {group.nest} sw1", 0,
                     f" {group.nest} sw1 " + re.escape(shown).replace(r"\ ", " "), 1)

    def accepted(self, option, values, nest):
        """Each value is accepted and printed; the command under test sets the first one."""
        add, change = self.commands(nest)
        setup = f"{add} {option.setup}".strip()
        show, texts = self.show, [t for t, _ in values]
        # an action is replaced as a whole: each command has the other options
        extra = f" {option.setup}" if self.spec.action and option.setup else ""
        first, *others = (typed(option, v) + extra for v in texts)
        again = f"{self.delete}; " + add if option.fixed else change
        commands = "; ".join([show] + [f"{again} {other}; {show}" for other in others])
        shown = "|".join(re.escape(s).replace(r"\ ", " ") for _, s in values)
        self.add(f"{option.word} accepts {listed(texts)}", [] if option.fixed else [setup],
                 f"{add if option.fixed else change} {first}", 0, f" ({shown}) ", len(values), f"bash -c '{commands}'")

    def refused(self, option, values, nest):
        """Each value is refused with the message, and the option keeps its default."""
        add, change = self.commands(nest)
        commands = "; ".join(f"{change} {option.word} {v}" for v in values)
        shown = option.printed()
        pattern, count = re.escape(option.message).replace(r"\ ", " "), len(values)
        if shown:
            pattern, count = f"({pattern}| {re.escape(shown)} )".replace(r"\ ", " "), count + 1
        self.add(f"{option.word} refuses {listed(values)}", [add], f"{change} {option.word} {values[0]}",
                 255 if self.spec.action else 2, pattern, count,
                 f"bash -c 'exec 2>&1; {commands}; {self.show}; true'")

    def option(self, option):
        """The cases of an option."""
        nest = f" {option.group.nest} sw1" if option.group.nest else ""
        self.accepted(option, good(option), nest)
        if bad(option):
            self.refused(option, bad(option), nest)


def listed(values):
    """`a, b and c`"""
    return " and ".join([", ".join(values[:-1]), values[-1]] if len(values) > 1 else values)


def typed(option, value):
    """What the user types for a value."""
    return value if option.kind == "flag" else f"{option.word} {value}"


def text(option, value):
    """A value as the user types it."""
    return option.spelled(value) if option.kind in ("rate", "us", "ns") else str(value)


def good(option):
    """Values that are accepted, as typed and as printed: both ends, the word for 0."""
    if option.kind == "flag":
        return [(w, w) for w in (option.word, "no" + option.word)]
    if option.kind == "name":
        return [(n, f"{option.word} {n}") for n in option.names()]
    if option.kind == "percent":
        return [("0%", f"{option.word} 0%"), ("100%", f"{option.word} 100%")]
    out = [(text(option, v), option.printed(v)) for v in option.range]
    if option.zero not in (None, "0"):
        out.append((option.zero, option.printed(0)))
    elif option.zero == "0" and option.kind != "rate":
        out.append(("0", option.printed(0)))
    return out


def bad(option):
    """The values beside the ends, if the plug-in sends them."""
    if option.kind not in ("number", "bytes", "rate", "us", "ns"):
        return []
    low, high = option.range
    values = [v for v in (low - 1, high + 1) if (v > 0 or (v == 0 and option.zero is None)) and v < 2 ** option.bits]
    return [text(option, v) for v in values]


def testable(option):
    """Do both ends work without other options?"""
    return option.word and not option.tc and not option.requires


def tdc(spec):
    """The cases as JSON."""
    cases = Cases(spec)
    cases.defaults()
    for option in (o for g in spec.groups for o in g.options if testable(o)):
        cases.option(option)
    return json.dumps(cases.list, indent=4) + "\n"


def number(value, bits, signed):
    """A number in a table of C."""
    if signed:
        return {-(2 ** 63): "INT64_MIN", 2 ** 63 - 1: "INT64_MAX"}.get(value, str(value))
    if value == 2 ** bits - 1:
        return f"UINT{bits}_MAX"
    return constant(value, bits).strip("()")


def fuzz(group):
    """Table of a group's ranges for the fuzzer."""
    link = group.spec.link
    out = [f"static const struct range {group.table}_ranges[{group.prefix}MAX + 1] = {{"]
    for option in (o for o in group.plain if o.type not in ("nest", "string")):
        bits = option.bits - (1 if option.signed else 0)
        low, high = option.range or [-(2 ** bits) if option.signed else 0, 2 ** bits - 1]
        row = [f'"{lower(option.name)}"', number(low, option.bits, option.signed), number(high, option.bits, option.signed)]
        if not link:
            row.append(number(option.number(), option.bits, option.signed))
        row.append(str(option.bits // 8))
        if not link:
            row += ["true" if option.gap() or (option.zero is not None and low) else "false",
                    "true" if group.nest else "false"]
        line = f"\t[{option.attr}] = {{ {', '.join(row)} }},"
        if len(line.expandtabs(8)) > 100:
            line = f"\t[{option.attr}] = {{\n\t\t{', '.join(row)},\n\t}},"
        out.append(line)
    return "\n".join(out + ["};"]) + "\n"


def regions(spec):
    """Generated parts of the fuzzer, by name."""
    return {f"{group.nest} ranges".strip(): fuzz(group) for group in spec.groups}

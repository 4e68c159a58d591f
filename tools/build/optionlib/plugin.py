# SPDX-License-Identifier: GPL-2.0-only
"""Write the options of a plug-in of tc(8) or ip(8): names of values, tables, help; and the words for completion."""
import re

from .spec import MARK, words

FUNCTIONS = {
    "number": ("parse_u32", "print_uint"), "dscp": ("parse_dscp", "print_uint"), "rate": ("parse_rate", "print_rate"),
    "bytes": ("parse_bytes", "print_uint"), "percent": ("parse_percent", "print_percent"),
    "name": ("parse_name", "print_name"), "us": ("parse_us", "print_us"), "ns": ("parse_ns32", "print_ns"),
    "flag": ("parse_yes", "print_flag"),
}


def functions(option):
    """Functions that read and print an option."""
    if option.tc:
        return f"parse_{option.stem}", FUNCTIONS[option.kind][1] if option.tc == "parse" else f"print_{option.stem}"
    if option.zero not in (None, "0"):
        return {("bytes", "auto"): ("parse_auto_bytes", "print_auto_bytes"),
                ("us", "auto"): ("parse_auto_us", "print_auto_us"),
                ("us", "off"): ("parse_us_or_off", "print_us_or_off")}[option.kind, option.zero]
    if option.kind == "ns" and option.bits == 64:
        return "parse_ns64", "print_ns"
    return FUNCTIONS[option.kind]


def literals(option):
    """Words in the syntax of an option."""
    return re.findall(r"`([^`]+)`", option.syntax)


def has_values(option):
    """Does the user type the names of an option's values?"""
    return option.kind == "name" and set(option.names()) <= set(literals(option))


def names(spec):
    """Names of values."""
    out = []
    for option in (o for g in spec.groups for o in g.options if o.kind == "name"):
        out += [f"static const char * const {option.word}_names[] = {{"]
        out += [f'\t[{spec.entry(option.enum, i)}] = "{n}",' for i, n in enumerate(option.names())]
        out += ["};", ""]
        if has_values(option):
            out += [f"static const struct value_names {option.word}_values = {{",
                    f'\tARRAY_SIZE({option.word}_names), {option.word}_names, "{words(option.names())}"', "};", ""]
    return "\n".join(out).rstrip("\n") + "\n" if out else None


def table(group):
    """The table of a group's options."""
    out = [f"static const struct plugin_opt {group.table}_opts[] = {{"]
    for option in (o for o in group.options if o.word):
        parse, show = functions(option)
        values = f"&{option.word}_values" if has_values(option) else "NULL"
        row = f'\t{{ "{option.word}", {option.attr}, {parse}, {show}, {values} }},'
        if len(row.expandtabs(8)) > 100:
            row = row.replace(f", {show}", f",\n\t  {show}")
        out.append(row)
        if option.kind == "flag":
            out.append(f'\t{{ "no{option.word}", {option.attr}, parse_no, NULL, NULL }},')
    return "\n".join(out + ["};"]) + "\n"


def plain(markup):
    """Light markup without its marks."""
    return re.sub(r"[`*]", "", markup)


def aligned(head, items):
    """Lines of the help text, aligned behind their head."""
    out, line = [], head
    for item in items:
        if len(line) + len(item) + 1 > 80:
            out.append(line)
            line = " " * len(head)
        line += " " + item
    return out + [line]


def explain(spec):
    """The function that prints the help text."""
    lines = []
    for i, group in enumerate(spec.groups):
        items = [f"[ {o.usage or plain(o.syntax)} ]" for o in group.options if o.word]
        if i:
            lines += aligned(f"{group.nest.upper()} :=", [f"{group.nest} NAME"] + items)
        elif spec.link:
            lines += ["Usage: " + spec.own["usage"][0]] + ["       " + u for u in spec.own["usage"][1:]]
            lines += aligned(f"{spec.own['operand']} :=", items)
        else:
            lines += aligned(f"Usage: ... {'action ' * spec.action}{spec.kind}", items)
    lines += spec.own.get("usage-notes", [])
    text = "\n".join(f'\t      "{line}\\n"' for line in lines)
    return "static void explain(FILE *f)\n{\n\tfputs(" + text.lstrip() + ", f);\n}\n"


def regions(spec):
    """Generated parts of the plug-in, by name."""
    out = {"names": names(spec)}
    for i, group in enumerate(spec.groups):
        out[f"{group.nest} options".strip()] = (explain(spec) + "\n" if not i else "") + table(group)
    return {k: v for k, v in out.items() if v}


def completion(specs):
    """Words for the shell's completion of tc and ip."""
    out = ["# SPDX-License-Identifier: GPL-2.0-only", "# shellcheck shell=bash disable=SC2034",
           f"# {MARK.capitalize()} from Documentation/netlink", "# for each kind: its options, and the words after an option"]
    for spec in specs:
        options = [o for g in spec.groups for o in g.options if o.word]
        found = [o.word for o in options] + ["no" + o.word for o in options if o.kind == "flag"]
        out += ["", f"_closnet_{spec.kind}_options='{' '.join(sorted(found))}'",
                f"declare -A _closnet_{spec.kind}_values=("]
        for option in (o for o in options if o.kind != "flag"):
            values = [v for v in literals(option)[1:] if ".." not in v]
            out.append(f"\t[{option.word}]='{' '.join(values)}'")
            out += [f"\t[{word}]=''" for word in re.findall(r"`(\w+)` \*", option.syntax) if word != option.word]
        out += [")"]
    return "\n".join(out) + "\n"

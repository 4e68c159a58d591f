# SPDX-License-Identifier: GPL-2.0-only
"""Write the options of a manual page: synopsis and descriptions."""
import re
import textwrap

from .plugin import plain
from .spec import Error

WIDTH = 80
MARKUP = re.compile(r"([^\s`*]*)(`[^`]+`|\*[^*]+\*)([^\s`*]*)")


def escaped(text):
    """Text of a literal or argument in roff."""
    return text.replace("\\", "\\e").replace("-", "\\-")


def inline(markup):
    """Light markup with roff's escapes for fonts."""
    markup = re.sub(r"`([^`]+)`", lambda m: rf"\fB{escaped(m[1])}\fR", markup)
    return re.sub(r"\*([^*]+)\*", r"\\fI\1\\fR", markup)


def quoted(text):
    """An argument of a macro."""
    return f'"{text}"' if " " in text else text


def macro(before, marked, after):
    """A word in a font of its own as a line, with what is attached to it."""
    font, text = {"`": "B", "*": "I"}[marked[0]], escaped(marked[1:-1])
    page = re.fullmatch(r"(.*)(\(\d\))", marked[1:-1])
    if page:
        text, after = page[1], page[2] + after
    if before:
        return f".R{font} {before} {quoted(text)}" + (f" {quoted(after)}" if after else "")
    return f".{font}R {quoted(text)} {quoted(after)}" if after else f".{font} {text}"


def normal(text):
    """Text in the normal font: minus signs and the micro sign."""
    return re.sub(r"(^|[\s(])-(?=\d)", r"\1\\-", text).replace("µ", r"\(mc")


def sentence(text):
    """Lines of roff for a sentence."""
    out, position = [], 0
    for match in MARKUP.finditer(text):
        out += textwrap.wrap(normal(text[position:match.start()].strip()), WIDTH, break_on_hyphens=False)
        out.append(macro(*match.groups()))
        position = match.end()
    return out + textwrap.wrap(normal(text[position:].strip()), WIDTH, break_on_hyphens=False)


def sentences(text):
    """A help text as a sentence a line."""
    lines = []
    for line in text.strip().split("\n"):
        if lines and not re.search(r"[.:]\)?$", lines[-1]):
            lines[-1] += " " + line.strip()
        else:
            lines.append(line.strip())
    return lines


def filled(option, text):
    """A help text with its placeholders replaced."""
    def value(match):
        name, key = match.groups()
        other = option.group.find(name[:-1]) if name else option
        if key == "range":
            if other.type == "nest":
                return f"{other.range[0]} to 2^{other.range[1].bit_length() - 1} {other.unit}"
            return other.range_text()
        if key == "numbers":
            return other.numbers()
        if key == "max":
            return other.spelled(other.range[1])
        default = other.default_text()
        return f"`{default}`" if re.fullmatch(r"[a-z_]+", default) else default
    try:
        return re.sub(r"\{([a-z-]+:)?(range|numbers|max|default)\}", value, text)
    except TypeError as error:
        raise Error(f"{option.name}: {error}") from error


def heading(markup):
    """First line of an option."""
    single = re.fullmatch(r"`([^`]+)`", markup)
    if single:
        return f".B {single[1]}"
    pair = re.fullmatch(r"`([^`]+)` \*([^*]+)\*", markup)
    if pair:
        return f'.BI {quoted(pair[1])} " {pair[2]}"'
    flag = re.fullmatch(r"`([^`]+)` \| `([^`]+)`", markup)
    if flag:
        return f'.BR {flag[1]} " | " {flag[2]}'
    return inline(markup)


def description(option):
    """An option with its text."""
    entries = option.help if isinstance(option.help, list) else [{"title": option.syntax, "text": option.help}]
    out = []
    for entry in entries:
        out += [".TP", heading(entry["title"])]
        for line in sentences(filled(option, entry["text"])):
            out += sentence(line)
    if option.note:
        out.append(".P")
        for line in sentences(option.note):
            out += sentence(line)
    return out


def descriptions(spec):
    """All options, by section."""
    options = [o for g in spec.groups for o in g.options if o.word]
    for option in options:
        if not option.help:
            raise Error(f"{spec.source}: {option.name} has no help")
    out = []
    for section in spec.own.get("sections", [""]):
        out += [f".SS {section}"] if section else []
        for option in (o for o in options if o.section == section):
            out += description(option)
    if len([o for o in options if o.section not in spec.own.get("sections", [""])]):
        raise Error(f"{spec.source}: an option is in a section that the list of sections lacks")
    return "\n".join(out) + "\n"


def synopsis(group):
    """The options of a group as lines of the synopsis."""
    out, column = [], 0
    for option in (o for o in group.options if o.word):
        text = f"*{option.usage}*" if option.usage else option.syntax
        width = len(plain(text)) + 5
        if column and column + width > 66:
            out.append(".br")
            column = 0
        column += width
        out.append(f"[ {inline(text)} ]")
    return "\n".join(out) + "\n"


def regions(spec):
    """Generated parts of the page, by name."""
    out = {f"{group.nest} synopsis".strip(): synopsis(group) for group in spec.groups}
    return out | {"options": descriptions(spec)}
